#include "browser.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "charts/text.hpp"

namespace mfga {
namespace {

// Calls measure for every frame and leaves the answers in the document.
constexpr std::string_view kCaller = R"(<script>
addEventListener('load', () => {
  const all = [...document.querySelectorAll('iframe')].map(measure);
  // In two pieces, so that the mark is found in the answer and not here.
  document.body.textContent = 'MEA' + 'SURED' + btoa(unescape(encodeURIComponent(JSON.stringify(all)))) + 'END';
});
</script>)";

std::string decode_base64(std::string_view text) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int available = 0;
  for (const char letter : text) {
    const std::size_t value = kLetters.find(letter);
    if (value == std::string_view::npos) break;
    bits = (bits << 6U | static_cast<unsigned>(value)) & 0xffffU;
    available += 6;
    if (available < 8) continue;
    available -= 8;
    bytes += static_cast<char>(bits >> static_cast<unsigned>(available) & 0xffU);
  }
  return bytes;
}

// A folder that is gone at the end.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mfga_page_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

std::string find_browser() {
  const char* path = std::getenv("PATH");
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    std::string_view rest = path == nullptr ? "" : path;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      const std::filesystem::path file = std::filesystem::path(rest.substr(0, end)) / name;
      std::error_code ignored;
      if (std::filesystem::is_regular_file(file, ignored)) return file.string();
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return {};
}

BrowserResult measure_page(const std::string& browser, const std::string& html,
                           const std::vector<int>& widths, std::string_view script) {
  const Folder folder;
  std::string page =
      fmt::format("<!DOCTYPE html><meta charset=\"utf-8\"><script>{}</script>{}<body>", script, kCaller);
  for (const int width : widths) {
    page += fmt::format("<iframe style=\"width:{}px;height:900px;border:0\" srcdoc=\"{}\"></iframe>", width,
                        charts::escape_html(html));
  }
  std::ofstream(folder.path() / "page.html") << page;
  // A profile of its own, so that tests may run side by side.
  const std::string command = fmt::format(
      "timeout 120 '{0}' --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run "
      "--enable-logging=stderr --user-data-dir='{1}/profile' --window-size=1400,1000 --dump-dom "
      "'file://{1}/page.html' 2>'{1}/log'",
      browser, folder.path().string());
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start " + browser);
  std::string dom;
  std::array<char, 4096> piece{};
  while (const std::size_t size = std::fread(piece.data(), 1, piece.size(), pipe))
    dom.append(piece.data(), size);
  const int status = ::pclose(pipe);
  std::ifstream log(folder.path() / "log");
  const std::string text(std::istreambuf_iterator<char>(log), {});
  const std::size_t start = dom.find("MEASURED");
  const std::size_t end = dom.find("END", start);
  if (status != 0 || start == std::string::npos || end == std::string::npos)
    throw std::runtime_error(fmt::format("{} ended with {}: {}", browser, status, text));
  constexpr std::size_t kMark = std::string_view("MEASURED").size();
  BrowserResult result;
  result.measured = nlohmann::json::parse(decode_base64(dom.substr(start + kMark, end - start - kMark)));
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t stop = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, stop - begin);
    if (line.find(":CONSOLE") != std::string::npos) result.messages.push_back(line);
    begin = stop + 1;
  }
  return result;
}

}  // namespace mfga
