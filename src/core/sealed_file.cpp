#include "core/sealed_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/input_file.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);
constexpr std::size_t kPreambleBytes = 2 * kNumberBytes;

[[noreturn]] void fail(const SealedFormat& format, std::string_view source, std::string_view problem) {
  throw Error(ErrorKind::kBadData, fmt::format("{}: not a valid {}: {}", source, format.what, problem));
}

[[noreturn]] void refuse(const SealedFormat& format, std::string_view source) {
  throw Error(ErrorKind::kBadData, fmt::format("{}: not a {}", source, format.what));
}

}  // namespace

std::uint64_t checksum(std::string_view bytes, std::uint64_t before) {
  return crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());  // NOLINT
}

std::string bytes_of(std::uint64_t number) {
  std::string bytes(kNumberBytes, '\0');
  std::memcpy(bytes.data(), &number, kNumberBytes);
  return bytes;
}

std::uint64_t number_at(std::string_view bytes, std::size_t place) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + place, kNumberBytes);
  return number;
}

std::string sealed(const SealedFormat& format, std::string content) {
  content.insert(0, std::string(format.name) + bytes_of(format.version));
  content += bytes_of(checksum(content));
  return content;
}

std::string_view unsealed(const SealedFormat& format, std::string_view bytes, std::string_view source) {
  if (!bytes.starts_with(format.name.substr(0, bytes.size())) || bytes.empty()) refuse(format, source);
  if (bytes.size() < kPreambleBytes + kNumberBytes) fail(format, source, "it ends too early");
  if (const std::uint64_t version = number_at(bytes, kNumberBytes); version != format.version)
    fail(format, source, fmt::format("its version is {}; expected {}", version, format.version));
  const std::string_view content = bytes.substr(0, bytes.size() - kNumberBytes);
  if (checksum(content) != number_at(bytes, content.size()))
    fail(format, source, "it is damaged or incomplete: its checksum does not match");
  return content.substr(kPreambleBytes);
}

std::string read_sealed(const SealedFormat& format, const std::string& path) {
  InputFile file(path, format.what);
  std::string bytes = file.read(format.name.size());
  if (bytes != format.name) refuse(format, path);
  // One more than there was to be, so that a file that grows is damaged.
  bytes += file.read(std::max(file.size(), bytes.size()) - bytes.size() + 1);
  return bytes;
}

}  // namespace mfga
