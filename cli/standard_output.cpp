#include "cli/standard_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/system_error.hpp"
#include "data/number_text.hpp"

namespace mfga::cli {
namespace {

using Json = nlohmann::ordered_json;

// Beside the control characters of ASCII those of Unicode, U+0080 to U+009F, which some terminals obey.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20U || first == 0x7FU;
  return first == 0xC2U && static_cast<unsigned char>(character[1]) < 0xA0U;
}

std::string escaped_character(std::string_view bytes) {
  if (bytes == "\n") return "\\n";
  if (bytes == "\t") return "\\t";
  if (bytes == "\r") return "\\r";
  std::string text;
  for (const char c : bytes) text += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
  return text;
}

// What `escape` makes of characters that cannot be shown; `kept` is one that can.
template <class Escape>
std::string replace_unprintable(std::string_view text, std::string_view kept, const Escape& escape) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0 || (is_control(character) && character != kept)) {
      result += escape(character);
    } else {
      result += character;
    }
    text.remove_prefix(character.size());
  }
  return result;
}

// Texts that are not UTF-8 cannot be JSON.
void escape_bytes(Json& json) {
  if (json.is_string()) {
    auto& text = json.get_ref<std::string&>();
    if (!is_utf8(text)) text = escaped(text);
  }
  if (json.is_structured()) {
    for (Json& element : json) escape_bytes(element);
  }
}

}  // namespace

std::string escaped(std::string_view text) { return replace_unprintable(text, "", escaped_character); }

void print_text(std::string_view text) {
  const std::string shown = replace_unprintable(text, "\n", escaped_character);
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size())
    throw system_error("standard output: writing failed", errno);
}

void print_json(const Json& json) {
  Json valid = json;
  escape_bytes(valid);
  // JSON escapes the control characters of ASCII itself, but for the last.
  print_text(replace_unprintable(
      valid.dump(2, ' ', false, Json::error_handler_t::replace) + "\n", "\n", [](std::string_view character) {
        return fmt::format("\\u{:04x}", static_cast<unsigned char>(character.back()));
      }));
}

void print_message(std::string_view message) {
  // Where nobody can be told, that is no error of its own.
  std::fputs(fmt::format("mfga: {}\n", escaped(message)).c_str(), stderr);
}

void occupy_closed_streams() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    // Opened the wrong way round: to use it stays the error that it was.
    static_cast<void>(::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

void finish_standard_output() {
  const bool had_failed = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0 && !had_failed) return;
  // What failed earlier may have been a while ago; whether anything can be written there is known now.
  if (errno == 0 && ::write(STDOUT_FILENO, "", 0) == 0) errno = EIO;
  throw system_error("standard output: writing failed", errno);
}

}  // namespace mfga::cli
