#include "core/sealed_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>

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
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::is_regular_file(status)) {
    throw Error(ErrorKind::kIo,
                std::filesystem::exists(status)
                    ? fmt::format("{}: is not a regular file; expected a {}", path, format.what)
                    : fmt::format("{}: there is no such {}", path, format.what));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorKind::kIo, fmt::format("{}: cannot be opened", path));
  std::string bytes(format.name.size(), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (bytes != format.name) refuse(format, path);
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size < bytes.size()) throw Error(ErrorKind::kIo, fmt::format("{}: cannot be read", path));
  bytes.resize(size);
  file.read(bytes.data() + format.name.size(), static_cast<std::streamsize>(size - format.name.size()));
  if (!file) throw Error(ErrorKind::kIo, fmt::format("{}: cannot be read", path));
  return bytes;
}

}  // namespace mfga
