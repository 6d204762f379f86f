// A text is taken apart into a date, a time and a zone, from its begin on. Whether there is such a day in the
// calendar is not asked.
#include "data/date_text.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "data/number_text.hpp"

namespace mfga {
namespace {

constexpr bool is_letter(char c) { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z'); }

template <typename Accepts>
std::string_view take_while(std::string_view& text, Accepts accepts) {
  const auto end = std::ranges::find_if_not(text, accepts);
  const std::string_view taken(text.data(), static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(taken.size());
  return taken;
}

bool is_month(std::string_view word) {
  constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                        "jul", "aug", "sep", "oct", "nov", "dec"};
  constexpr std::size_t kShortest = 3;
  constexpr std::size_t kLongest = 9;
  if (word.size() < kShortest || word.size() > kLongest) return false;
  std::string lower;
  for (const char c : word.substr(0, kShortest))
    lower += static_cast<char>(static_cast<unsigned char>(c) | 0x20U);
  return std::ranges::find(kMonths, lower) != kMonths.end();
}

// Three parts with the same separator, one of them a year of four digits, or the last one of two.
bool take_date(std::string_view& text) {
  std::array<std::string_view, 3> parts;
  char separator = '\0';
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) {
      if (text.empty()) return false;
      const char c = text.front();
      if (i == 1 ? std::string_view("-/. ").find(c) == std::string_view::npos : c != separator) return false;
      separator = c;
      text.remove_prefix(1);
    }
    const bool is_word = !text.empty() && is_letter(text.front());
    parts[i] = is_word ? take_while(text, is_letter) : take_while(text, is_digit);
    if (is_word && !is_month(parts[i])) return false;
    if (i == 1 && separator == ' ' && !is_word) return false;  // "31 Jan 2024", but not "3 1 24"
  }
  const auto is_short = [](std::string_view part) {
    return !part.empty() && (part.size() <= 2 || is_letter(part.front()));
  };
  constexpr std::size_t kYear = 4;
  const bool year_first = parts[0].size() == kYear && is_digit(parts[0].front()) && is_short(parts[2]);
  const bool year_last =
      is_short(parts[0]) && (parts[2].size() == kYear || parts[2].size() == 2) && is_digit(parts[2].front());
  return is_short(parts[1]) && (year_first || year_last);
}

// 12:30, 12:30:05, 12:30:05.25, 1:30 PM; with Z, +02:00 or -0800 behind it.
bool take_time(std::string_view& text) {
  constexpr std::size_t kMostParts = 3;
  std::size_t parts = 0;
  for (; parts < kMostParts; ++parts) {
    if (parts > 0) {
      if (!text.starts_with(':')) break;
      text.remove_prefix(1);
    }
    const std::string_view part = take_while(text, is_digit);
    if (part.empty() || part.size() > 2) return false;
  }
  if (parts < 2) return false;
  if (text.starts_with('.') || text.starts_with(',')) {
    text.remove_prefix(1);
    if (take_while(text, is_digit).empty()) return false;
  }
  text = trim(text);
  if (text == "AM" || text == "PM" || text == "am" || text == "pm" || text == "Z" || text == "UTC") text = {};
  if (text.starts_with('+') || text.starts_with('-')) {
    text.remove_prefix(1);
    return take_while(text, [](char c) { return is_digit(c) || c == ':'; }).size() >= 2;
  }
  return true;
}

}  // namespace

bool looks_like_date(std::string_view text) {
  text = trim(text);
  std::string_view rest = text;
  if (take_date(rest)) {
    if (rest.empty()) return true;
    const bool has_time = rest.front() == 'T' || rest.front() == ' ';
    rest.remove_prefix(1);
    return has_time && take_time(rest) && rest.empty();
  }
  return take_time(text) && text.empty();
}

}  // namespace mfga
