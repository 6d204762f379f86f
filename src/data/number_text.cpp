// Text is judged as a whole field here; the tight loops of the readers call scan_number themselves.
// Messages are cut by UTF-8 characters, not bytes, so that no half character is shown.
#include "data/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mfga {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

FieldContent classify_field(std::string_view text, double& value) {
  text = trim(text);
  if (text.empty()) return FieldContent::kEmpty;
  const char* const end = text.data() + text.size();
  if (scan_number(text.data(), end, value) != end) return FieldContent::kText;
  return std::isfinite(value) ? FieldContent::kFinite : FieldContent::kNotFinite;
}

namespace {

// Appends the digits of a whole number without its separators: one to three digits, then groups of three. An
// empty text, as before a decimal sign, has no digits.
bool append_ungrouped(std::string_view text, char other_separator, std::string& digits) {
  constexpr std::size_t kGroup = 3;
  const auto is_separator = [&](char c) { return c == other_separator || c == ' ' || c == '\''; };
  const auto found = std::ranges::find_if(text, is_separator);
  if (found == text.end()) {
    digits += text;
    return std::ranges::all_of(text, is_digit);
  }
  std::size_t in_group = 0;
  bool is_first = true;
  for (const char c : text) {
    if (is_digit(c)) {
      if (++in_group > kGroup) return false;
      digits += c;
    } else {
      // All separators are the same, and no group before one is 0.
      const bool is_whole_group = is_first ? in_group > 0 && text.front() != '0' : in_group == kGroup;
      if (c != *found || !is_whole_group) return false;
      is_first = false;
      in_group = 0;
    }
  }
  return in_group == kGroup;
}

}  // namespace

FieldContent classify_field(std::string_view text, const NumberStyle& style, double& value) {
  if (style.is_plain()) return classify_field(text, value);
  text = trim(text);
  if (text.empty()) return FieldContent::kEmpty;
  if (style.has_percent) {
    if (!text.ends_with('%')) return FieldContent::kText;
    text = trim(text.substr(0, text.size() - 1));
    if (text.empty()) return FieldContent::kText;
  }
  std::string plain;
  if (text.starts_with('-') || text.starts_with('+')) {
    plain += text.front();
    text.remove_prefix(1);
  }
  if (text.empty() || !(is_digit(text.front()) || text.front() == style.decimal)) {
    // Words such as nan, and nothing else, are left.
    return text.find_first_of("0123456789") == std::string_view::npos
               ? classify_field(plain.append(text), value)
               : FieldContent::kText;
  }
  const std::size_t whole_end =
      std::min(text.find_first_of(std::string{style.decimal, 'e', 'E'}), text.size());
  if (!append_ungrouped(text.substr(0, whole_end), style.decimal == ',' ? '.' : ',', plain))
    return FieldContent::kText;
  std::string_view rest = text.substr(whole_end);
  if (rest.starts_with(style.decimal)) {
    plain += '.';
    rest.remove_prefix(1);
    if (rest.find('.') != std::string_view::npos) return FieldContent::kText;
  }
  return classify_field(plain.append(rest), value);
}

std::size_t utf8_length(std::string_view text) {
  const auto byte_at = [&](std::size_t position) { return static_cast<unsigned char>(text[position]); };
  if (text.empty()) return 0;
  const unsigned first = byte_at(0);
  if (first < 0x80U) return 1;
  const std::size_t length = first >= 0xF0U ? 4 : first >= 0xE0U ? 3 : 2;
  if (first < 0xC2U || first > 0xF4U || length > text.size()) return 0;
  // The second byte is restricted where shorter forms, surrogates or too large numbers would begin.
  const unsigned second = byte_at(1);
  const unsigned lowest = first == 0xE0U ? 0xA0U : first == 0xF0U ? 0x90U : 0x80U;
  const unsigned highest = first == 0xEDU ? 0x9FU : first == 0xF4U ? 0x8FU : 0xBFU;
  if (second < lowest || second > highest) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte_at(i) & 0xC0U) != 0x80U) return 0;
  }
  return length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string quoted_for_message(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string result = "\"";
  for (std::size_t characters = 0; !text.empty(); ++characters) {
    if (characters == kLongest) {
      result += "...";
      break;
    }
    const std::size_t length = std::max<std::size_t>(utf8_length(text), 1);
    const auto code = static_cast<unsigned char>(text.front());
    if (utf8_length(text) == 0) {
      result += fmt::format("\\x{:02X}", code);  // as in what the tool prints
    } else if (code < 0x20U || code == 0x7FU) {
      result += '?';
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return result + '"';
}

}  // namespace mfga
