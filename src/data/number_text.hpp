// Numbers written as text, and texts as they are shown in messages. Everything that reads a number from text
// does it here, so that all formats agree on what a number is.
#pragma once

#include <fast_float/fast_float.h>

#include <string>
#include <string_view>
#include <system_error>

namespace mfga {

// Reads the number that begins at `begin`; returns where it ends, or nullptr where there is none. The number
// may be NaN or infinite: that is for the caller to judge.
inline const char* scan_number(const char* begin, const char* end, double& value) {
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

[[nodiscard]] std::string_view trim(std::string_view text);

// Whether the bytes are UTF-8. Names and labels must be, for they go into models and reports as JSON.
[[nodiscard]] bool is_utf8(std::string_view text);

// The text in quotes, cut to 40 characters, without control characters.
[[nodiscard]] std::string quoted_for_message(std::string_view text);

}  // namespace mfga
