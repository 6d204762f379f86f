// What is fuzzed: functions of any bytes. A target reads the bytes as its format does, and looks whether what
// it got holds together. To refuse them with an Error is right; another exception, a failed `require`, a
// fault seen by a sanitizer, an endless loop and much memory are findings.
//
// A new target: a file of its own, a line in targets.cpp, seeds in corpus/NAME/.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "mfga/error.hpp"

namespace mfga::fuzz {

// Bytes that are changed in a way that knows the format, to at most so many.
using Mutator = std::string (*)(std::string_view bytes, std::size_t longest, std::mt19937& random);

struct Target {
  std::string_view name;
  std::size_t longest;  // an input that is tried
  void (*run)(std::string_view bytes);
  Mutator mutate = nullptr;  // one in two inputs goes through it
};

[[nodiscard]] std::span<const Target* const> targets();

// A promise that was broken.
class Finding : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};
inline void require(bool holds, const char* promise) {
  if (!holds) throw Finding(promise);
}
inline void require_same(std::string_view a, std::string_view b, const char* promise) {
  if (a != b) throw Finding(std::string(promise) + ":\n" + std::string(a) + "\n" + std::string(b));
}

// What comes of reading: what an Error says, or nothing.
template <class Read>
[[nodiscard]] std::string refusal_of(const Read& read) {
  try {
    read();
    return {};
  } catch (const Error& error) {
    require(error.what()[0] != '\0', "an error says what is wrong");
    return error.what();
  }
}

// Numbers with the same bits, so that NaN is itself.
inline bool are_same(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

// Takes bytes off the front, to choose by; 0 where there are none left.
inline unsigned take_byte(std::string_view& bytes) {
  if (bytes.empty()) return 0;
  const auto byte = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  return byte;
}

}  // namespace mfga::fuzz
