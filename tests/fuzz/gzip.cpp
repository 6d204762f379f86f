// Compressed files. The first byte says whether the rest is such a file, or the content of one that is made
// here, with the right checksums and then with damage or without.
#define ZLIB_CONST
#include <zlib.h>

#include <optional>

#include "data/file_content.hpp"
#include "fuzz/targets.hpp"

namespace mfga::fuzz {
namespace {

void append_number(std::string& bytes, std::uint64_t number, int count) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(number >> (8U * static_cast<unsigned>(i)));
}

// One member with one block that is not compressed.
std::string stored(std::string_view content) {
  std::string member("\x1f\x8b\x08\0\0\0\0\0\0\xff\x01", 11);
  append_number(member, content.size(), 2);
  append_number(member, ~content.size(), 2);
  member += content;
  append_number(member, crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()),
                4);  // NOLINT
  append_number(member, content.size(), 4);
  return member;
}

// What zlib says, a few bytes at a time: all members, if nothing is wrong with any.
std::optional<std::string> inflated(std::string_view bytes) {
  std::string content;
  while (!bytes.empty()) {
    if (!bytes.starts_with("\x1f\x8b")) return std::nullopt;
    z_stream stream{};
    inflateInit2(&stream, MAX_WBITS + 16);
    stream.next_in = reinterpret_cast<const Bytef*>(bytes.data());  // NOLINT
    stream.avail_in = static_cast<uInt>(bytes.size());
    int status = Z_OK;
    while (status == Z_OK) {
      char part[1021];
      stream.next_out = reinterpret_cast<Bytef*>(part);  // NOLINT
      stream.avail_out = sizeof part;
      status = inflate(&stream, Z_NO_FLUSH);
      content.append(part, sizeof part - stream.avail_out);
    }
    bytes.remove_prefix(bytes.size() - stream.avail_in);
    inflateEnd(&stream);
    if (status != Z_STREAM_END) return std::nullopt;
    bytes.remove_prefix(std::min(bytes.find_first_not_of('\0'), bytes.size()));
  }
  return content;
}

void check(std::string_view bytes) {
  if (!bytes.starts_with("\x1f\x8b")) return;
  std::optional<std::string> read;
  const std::string refusal = refusal_of([&] { read = std::string(FileContent(bytes, "t").bytes()); });
  const std::optional<std::string> expected = inflated(bytes);
  require(read.has_value() == expected.has_value(), "what is whole is read, what is damaged is refused");
  require(read == expected, "what is read is what was compressed");
}

void run(std::string_view bytes) {
  const unsigned how = take_byte(bytes);
  if (how % 4 == 0) {
    check(bytes);
    return;
  }
  const std::size_t place = take_byte(bytes);
  const unsigned change = take_byte(bytes);
  const std::string_view first = bytes.substr(0, std::min(place, bytes.size()));
  std::string file = stored(first);
  if (how % 4 >= 2) file += std::string(how / 4 % 8, '\0') + stored(bytes.substr(first.size()));
  if (how % 4 == 3) file[(how / 4 + place) % file.size()] ^= static_cast<char>(change);
  check(file);
}

}  // namespace

constexpr Target kGzip = {"gzip", 1024, run};

}  // namespace mfga::fuzz
