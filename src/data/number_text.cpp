// Text is judged as a whole field here; the tight loops of the readers call scan_number themselves.
// Messages are cut by UTF-8 characters, not bytes, so that no half character is shown.
#include "data/number_text.hpp"

#include <cmath>

namespace mfga {

std::string_view trim(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const std::size_t first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

FieldContent classify_field(std::string_view text, double& value) {
  text = trim(text);
  if (text.empty()) return FieldContent::kEmpty;
  const char* const end = text.data() + text.size();
  if (scan_number(text.data(), end, value) != end) return FieldContent::kText;
  return std::isfinite(value) ? FieldContent::kFinite : FieldContent::kNotFinite;
}

std::string quoted_for_message(std::string_view text) {
  constexpr std::size_t longest = 40;
  const auto continues_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  std::string result = "\"";
  std::size_t characters = 0;
  for (const char c : text) {
    if (!continues_character(c) && ++characters > longest) {
      result += "...";
      break;
    }
    const auto code = static_cast<unsigned char>(c);
    result += code < 0x20U || code == 0x7FU ? '?' : c;
  }
  return result + '"';
}

}  // namespace mfga
