// Files of this program for itself: a name and a version of the format in front, a checksum at the end.
//
//   8 bytes   the name
//   8         the version
//   content
//   8         CRC-32 of all before
//
// Numbers are little-endian.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mfga {

struct SealedFormat {
  std::string_view name;  // 8 bytes
  std::uint64_t version = 1;
  std::string_view what;  // in messages, as in "a file of statistics"
};

[[nodiscard]] std::string sealed(const SealedFormat& format, std::string content);
// The content. Throws Error(kBadData), with the source, for bytes that are of another format, damaged or cut.
[[nodiscard]] std::string_view unsealed(const SealedFormat& format, std::string_view bytes,
                                        std::string_view source);
// All bytes of a file. One of another format is not read as a whole.
[[nodiscard]] std::string read_sealed(const SealedFormat& format, const std::string& path);

[[nodiscard]] std::uint64_t checksum(std::string_view bytes, std::uint64_t before = 0);
[[nodiscard]] std::string bytes_of(std::uint64_t number);
[[nodiscard]] std::uint64_t number_at(std::string_view bytes, std::size_t place);

}  // namespace mfga
