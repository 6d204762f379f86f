// What ranks say to one another: numbers as bytes, and what is said where some may have failed.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfga/communicator.hpp"

namespace mfga {

// What every rank says within the body of `agreed` (core/ranks.hpp). Where one has failed before it came
// here, the others throw its error.
[[nodiscard]] std::vector<std::string> said_within_agreed(Communicator& ranks, std::string_view own);

// Of a list of numbers, or a part of one, that lives as long.
template <class List>
[[nodiscard]] std::string_view bytes_of(const List& numbers) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(numbers));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};  // NOLINT
}

template <class Number>
[[nodiscard]] std::vector<Number> numbers_of(std::string_view bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
  return numbers;
}

// Those of all ranks, one list after the other.
template <class Number>
[[nodiscard]] std::vector<Number> joined_numbers(std::span<const std::string> all) {
  std::vector<Number> numbers;
  for (const std::string& bytes : all) {
    const std::vector<Number> theirs = numbers_of<Number>(bytes);
    numbers.insert(numbers.end(), theirs.begin(), theirs.end());
  }
  return numbers;
}

}  // namespace mfga
