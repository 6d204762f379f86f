// The report page, as text and as a browser lays it out.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "repro/chart_axis.hpp"
#include "repro/page_text.hpp"
#include "repro/sample_results.hpp"

namespace mfga::repro {
namespace {

std::size_t count(std::string_view text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size()))
    ++found;
  return found;
}

TEST(ReproPage, NeedsNothingFromOutside) {
  const std::string html = results_to_html(sample_results());
  for (const std::string_view word :
       {"<script", "<link", "<img", "src=x onerror=alert(1)>", "http:", "https:", "@import", "url("})
    EXPECT_EQ(count(html, word), 0U) << word;
  EXPECT_NE(html.find("News &lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;more&#39;"),
            std::string::npos);
}

TEST(ReproPage, SaysWhatTheNumbersSay) {
  Results results = sample_results();
  results.datasets[1].title = "News";
  const std::string html = results_to_html(results);
  // In the sample EERF is better on epileptic, and a constant beats all on news and three methods on year.
  EXPECT_NE(html.find("<strong>3 of 4</strong> <span>data sets on which MFGA has a lower error"),
            std::string::npos);
  EXPECT_NE(html.find("Not on Epileptic (EERF has"), std::string::npos);
  EXPECT_NE(html.find("<strong>4 of 4</strong> <span>data sets on which MFGA with this tool&#39;s defaults"),
            std::string::npos);
  EXPECT_NE(html.find("News (all 6 methods here; 6 of 6 as published)"), std::string::npos);
  EXPECT_NE(html.find("Year (RKS, LKRF and EERF here; 3 of 6 as published)"), std::string::npos);
  EXPECT_EQ(count(html, "Quick run."), 0U);
  EXPECT_EQ(count(html, "of the published ones."), 1U);
  results.quick = true;
  const std::string quick = results_to_html(results);
  EXPECT_EQ(count(quick, "Quick run."), 1U);
  EXPECT_EQ(count(quick, "of the published ones."), 0U);
  EXPECT_EQ(count(quick, "as published"), 0U);
}

TEST(ReproPage, StandsWithLittleOrNothingToShow) {
  EXPECT_EQ(count(results_to_html(Results{}), "<table"), 0U);
  Results results;
  results.datasets.resize(2);
  results.datasets[0].rows.resize(1);
  results.datasets[1].figure = {{.method = "MFGA", .points = {{.terms = 5, .error = 0}}},
                                {.method = "RKS", .points = {}}};
  const std::string html = results_to_html(results);
  EXPECT_EQ(count(html, "<table"), 2U);
  EXPECT_EQ(count(html, "<svg"), 1U);
  EXPECT_EQ(count(html, "nan"), 0U);
  EXPECT_EQ(count(html, "inf"), 0U);
}

TEST(ReproChart, AxesHaveRoundTicks) {
  EXPECT_EQ(Axis::linear(0, 400, true).ticks(), (std::vector<double>{0, 100, 200, 300, 400}));
  const Axis axis = Axis::logarithmic(0.068, 4.6);
  std::string ticks;
  for (const double tick : axis.ticks()) ticks += tick_text(tick) + ' ';
  EXPECT_EQ(ticks, "0.1 0.2 0.5 1 2 5 ");
}

TEST(ReproChart, LabelsAreMovedApartAndNoFurther) {
  EXPECT_EQ(spread({50, 10, 90}, 10, 0, 100), (std::vector<double>{50, 10, 90}));
  EXPECT_EQ(spread({52, 50}, 10, 0, 100), (std::vector<double>{56, 46}));
  EXPECT_EQ(spread({99, 98}, 10, 0, 100), (std::vector<double>{100, 90}));
  EXPECT_EQ(spread({1, 2, 3}, 100, 0, 100), (std::vector<double>{0, 50, 100}));
}

TEST(ReproText, NumbersAreRoundedAndAligned) {
  EXPECT_EQ(short_number(0.0123), "0.012");
  EXPECT_EQ(short_number(9.996), "10.0");
  EXPECT_EQ(short_number(139.52), "140");
  EXPECT_EQ(with_thousands(46371), "46,371");
  EXPECT_EQ(with_thousands(-100), "-100");
  EXPECT_EQ(pad_decimals("5.7", 2), "5.7\u2007");
  EXPECT_EQ(pad_decimals("24", 1), "24\u2008\u2007");
}

// Measures the page in frames as wide as a phone and as a desk screen; the page itself runs no script.
constexpr std::string_view kProbe = R"(<script>
function measure(frame) {
  const page = frame.contentDocument;
  const count = (root, selector) => root.querySelectorAll(selector).length;
  const panels = [...page.querySelectorAll('svg')].map(svg => {
    const frame = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll('text.label')].map(label => label.getBoundingClientRect());
    // Boxes of text are higher than its letters.
    const slack = 3;
    const overlaps = boxes.filter((a, i) => boxes.some((b, j) => j > i && a.left < b.right && b.left < a.right &&
        a.top + slack < b.bottom - slack && b.top + slack < a.bottom - slack)).length;
    const cut = boxes.filter(box => box.right > frame.right + 1 || box.bottom > frame.bottom + 1).length;
    return {curves: count(svg, '.curve'), levels: count(svg, '.level'), labels: boxes.length, overlaps, cut,
            bars: count(svg, '.bar'), width: frame.width};
  });
  return {
    tables: [...page.querySelectorAll('table')].map(table => ({
      rows: [...table.tBodies].map(body => count(body, 'tr:not(.group)')),
      cells: [...table.querySelectorAll('tbody tr:not(.group)')].map(row => row.cells.length),
      best: count(table, '.best')})),
    panels, scripts: count(page, 'script, img'), headings: [...page.querySelectorAll('h2')].map(h => h.textContent),
    remarks: count(page, '.remarks li'), overflow: page.documentElement.scrollWidth - frame.clientWidth};
}
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

class ReproPageInBrowser : public ::testing::Test {
 protected:
  ReproPageInBrowser() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mfga_page_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    folder_ = pattern;
  }
  ~ReproPageInBrowser() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  // One set of measurements per width.
  nlohmann::json measure(const std::string& browser, const Results& results) {
    std::string page = fmt::format("<!DOCTYPE html><meta charset=\"utf-8\">{}<body>", kProbe);
    for (const int width : {390, 1280}) {
      page += fmt::format("<iframe style=\"width:{}px;height:900px;border:0\" srcdoc=\"{}\"></iframe>", width,
                          escape_html(results_to_html(results)));
    }
    std::ofstream(folder_ / "page.html") << page;
    // A profile of its own, so that tests may run side by side.
    const std::string command = fmt::format(
        "timeout 120 '{0}' --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run "
        "--user-data-dir='{1}/profile' --window-size=1400,1000 --dump-dom 'file://{1}/page.html' "
        "2>'{1}/log'",
        browser, folder_.string());
    FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot start " + browser);
    std::string dom;
    std::array<char, 4096> piece{};
    while (const std::size_t size = std::fread(piece.data(), 1, piece.size(), pipe))
      dom.append(piece.data(), size);
    const int status = ::pclose(pipe);
    const std::size_t start = dom.find("MEASURED");
    const std::size_t end = dom.find("END", start);
    if (status != 0 || start == std::string::npos || end == std::string::npos) {
      std::ifstream log(folder_ / "log");
      throw std::runtime_error(fmt::format("{} ended with {}: {}", browser, status,
                                           std::string(std::istreambuf_iterator<char>(log), {})));
    }
    constexpr std::size_t kMark = std::string_view("MEASURED").size();
    return nlohmann::json::parse(decode_base64(dom.substr(start + kMark, end - start - kMark)));
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(ReproPageInBrowser, ShowsAllTablesAndPanels) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the browser sees the same page in every build; the release build looks at it";
#endif
  const std::string browser = find_browser();
  if (browser.empty()) GTEST_SKIP() << "no chromium, chromium-browser or google-chrome in PATH";
  const Results results = sample_results();
  const nlohmann::json widths = measure(browser, results);
  ASSERT_EQ(widths.size(), 2U);
  for (const nlohmann::json& page : widths) {
    SCOPED_TRACE(page.dump());
    ASSERT_EQ(page["tables"].size(), 4U);
    for (const auto& table : page["tables"]) {
      EXPECT_EQ(table["rows"], (nlohmann::json{6, 2, 1}));
      for (const auto& cells : table["cells"]) EXPECT_EQ(cells, 11);
      EXPECT_GE(table["best"], 3);
    }
    ASSERT_EQ(page["panels"].size(), 4U);
    for (const auto& panel : page["panels"]) {
      EXPECT_EQ(panel["curves"], 5);  // MFGA twice, three methods with random features
      EXPECT_EQ(panel["levels"], 3);  // two kernels and the constant
      EXPECT_EQ(panel["labels"], 8);
      EXPECT_EQ(panel["bars"], 15);
      EXPECT_EQ(panel["overlaps"], 0);
      EXPECT_EQ(panel["cut"], 0);
    }
    EXPECT_EQ(page["scripts"], 0);
    EXPECT_EQ(page["headings"][3], results.datasets[1].title);
    EXPECT_EQ(page["remarks"], 5);
    EXPECT_LE(page["overflow"], 0) << "the page is wider than the screen";
  }
  // One column on a phone, two on a desk screen.
  EXPECT_GT(widths[0]["panels"][0]["width"], 300);
  EXPECT_LT(widths[1]["panels"][0]["width"], 640);
}

}  // namespace
}  // namespace mfga::repro
