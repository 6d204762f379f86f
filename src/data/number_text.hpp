// Numbers written as text, and texts as they are shown in messages. Everything that reads a number from text
// does it here, so that all formats agree on what a number is.
#pragma once

#include <fast_float/fast_float.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

namespace mfga {

constexpr bool is_digit(char c) { return '0' <= c && c <= '9'; }

// Eight characters as one number, the first in the lowest byte.
inline std::uint64_t eight_characters(const char* text) {
  std::uint64_t word = 0;
  std::memcpy(&word, text, sizeof(word));
  return word;
}

// How many of the eight characters are digits before the first that is none.
inline int leading_digits(std::uint64_t word) {
  // The highest bit of a byte is set if it is no digit; carries reach only bytes after the first such one.
  const std::uint64_t marks =
      ((word + 0x4646464646464646U) | (word - 0x3030303030303030U)) & 0x8080808080808080U;
  return std::countr_zero(marks) / 8;
}

// The number that the first `count` characters are, all digits, 1 to 8 of them.
inline std::uint64_t digits_to_number(std::uint64_t word, int count) {
  word = (word - 0x3030303030303030U) << (64 - 8 * count);  // zeros come before the digits
  // Neighbours are put together: to four numbers of two digits, then to one of eight.
  word = word * 10 + (word >> 8U);
  return (((word & 0x000000FF000000FFU) * 0x000F424000000064U) +
          (((word >> 16U) & 0x000000FF000000FFU) * 0x0000271000000001U)) >>
         32U;
}

// A number of up to seven digits before and after its point and no exponent, as most numbers in tables are;
// nullptr for all others. At least kPlainNumberReach characters must be readable from `begin` on.
inline constexpr std::ptrdiff_t kPlainNumberReach = 24;
inline const char* scan_plain_number(const char* begin, double& value) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::array<std::uint32_t, 8> kPowers = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
  const bool is_negative = *begin == '-';
  const char* p = begin + (is_negative ? 1 : 0);
  std::uint64_t word = eight_characters(p);
  int count = leading_digits(word);
  if (count == 0 || count == 8) return nullptr;
  std::uint64_t digits = digits_to_number(word, count);
  std::uint32_t power = 1;
  p += count;
  if (*p == '.') {
    ++p;
    word = eight_characters(p);
    count = leading_digits(word);
    if (count == 0 || count == 8) return nullptr;
    power = kPowers[static_cast<std::size_t>(count)];
    digits = digits * power + digits_to_number(word, count);
    p += count;
  }
  if (*p == 'e' || *p == 'E') return nullptr;
  // Both are whole numbers below 2^53 and thus exact: the quotient is rounded once, as it should be.
  const double magnitude = static_cast<double>(digits) / power;
  value = is_negative ? -magnitude : magnitude;
  return p;
}

// Reads the number that begins at `begin`; returns where it ends, or nullptr where there is none. It is the
// double nearest to what is written. It may be NaN or infinite: that is for the caller to judge.
inline const char* scan_number(const char* begin, const char* end, double& value) {
  if (end - begin >= kPlainNumberReach) {
    if (const char* const stop = scan_plain_number(begin, value)) return stop;
  }
  if (begin != end && *begin == '+') {  // which fast_float leaves to its callers
    ++begin;
    if (begin != end && *begin == '-') return nullptr;
  }
  const auto [stop, code] = fast_float::from_chars(begin, end, value);
  return code == std::errc::invalid_argument ? nullptr : stop;
}

enum class FieldContent { kFinite, kNotFinite, kEmpty, kText };

// What a field holds, spaces around it aside; a number is stored in `value`.
[[nodiscard]] FieldContent classify_field(std::string_view text, double& value);

// How the numbers of a column are written.
struct NumberStyle {
  char decimal = '.';        // or ','
  bool has_groups = false;   // thousands may be separated, by the other of these, a space or an apostrophe
  bool has_percent = false;  // all end in %, which is left out: 5% is 5

  [[nodiscard]] bool is_plain() const { return decimal == '.' && !has_groups && !has_percent; }
};
[[nodiscard]] FieldContent classify_field(std::string_view text, const NumberStyle& style, double& value);

[[nodiscard]] std::string_view trim(std::string_view text);

// The bytes of the text's first character; 0 where it does not begin with one of UTF-8.
[[nodiscard]] std::size_t utf8_length(std::string_view text);
// Whether the bytes are UTF-8. Names and labels must be, for they go into models and reports as JSON.
[[nodiscard]] bool is_utf8(std::string_view text);

// The text in quotes, cut to 40 characters, without control characters; bytes that are not UTF-8 as \xNN.
[[nodiscard]] std::string quoted_for_message(std::string_view text);

}  // namespace mfga
