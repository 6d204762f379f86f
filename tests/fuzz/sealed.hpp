// Files with a checksum: what is fuzzed is their content, which a mutation of the whole file would never
// reach.
#pragma once

#include <string>
#include <string_view>

#include "core/sealed_file.hpp"
#include "fuzz/target.hpp"

namespace mfga::fuzz {

// By the first byte: the rest as it is, or as the content of a file.
inline std::string sealed_or_not(const SealedFormat& format, std::string_view bytes) {
  const bool is_whole_file = take_byte(bytes) % 8 == 7;
  return is_whole_file ? std::string(bytes) : sealed(format, std::string(bytes));
}

}  // namespace mfga::fuzz
