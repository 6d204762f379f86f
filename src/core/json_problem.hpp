// What the JSON library says of a text that it cannot read, without the names of its own classes.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace mfga {

// "[json.exception.parse_error.101] parse error at line 1, ..." from the bracket's end on.
[[nodiscard]] inline std::string json_problem(const std::exception& error) {
  std::string_view text = error.what();
  const std::size_t end = text.find("] ");
  if (text.starts_with("[json.exception") && end != std::string_view::npos) text.remove_prefix(end + 2);
  return std::string(text);
}

}  // namespace mfga
