// The wire format of Protocol Buffers, as far as ONNX files need it: fields are added one after the other.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace mfga {

class ProtobufMessage {
 public:
  void add_number(int field, std::int64_t value) {
    add_key(field, 0);
    add_varint(static_cast<std::uint64_t>(value));
  }
  void add_text(int field, std::string_view text) {
    add_key(field, 2);
    add_varint(text.size());
    bytes_ += text;
  }
  void add_message(int field, const ProtobufMessage& message) { add_text(field, message.bytes_); }
  // Numbers of fixed size, one after the other, the low byte first.
  template <class T>
  void add_raw(int field, std::span<const T> values) {
    static_assert(std::endian::native == std::endian::little);
    add_text(field, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void add_key(int field, unsigned type) { add_varint(static_cast<std::uint64_t>(field) << 3U | type); }
  void add_varint(std::uint64_t value) {
    constexpr std::uint64_t kLow = 0x7f;
    for (; value > kLow; value >>= 7U) bytes_ += static_cast<char>((value & kLow) | 0x80U);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace mfga
