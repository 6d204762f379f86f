// Values as bytes, exactly, to be read again by the same program. One function says what belongs to a type,
// for both ways:
//
//   void archive(Archive& bytes, Point& point) { bytes(point.x, point.y); }
//
// The bytes may come from anybody. What is read is of its type, and no more memory is taken than there are
// bytes for; that numbers are places in a list, or lists as long as others, is for its owner to `require`.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "mfga/dictionary.hpp"
#include "mfga/views.hpp"

namespace mfga {

class Archive {
 public:
  // To be written to.
  Archive() = default;
  // To be read from; the bytes must live as long. What they cannot be is thrown as Error(kBadData).
  explicit Archive(std::string_view bytes) : is_loading_(true), rest_(bytes) {}

  [[nodiscard]] bool is_loading() const { return is_loading_; }
  [[nodiscard]] const std::string& bytes() const { return written_; }
  // Whether all has been read.
  [[nodiscard]] bool is_at_end() const { return rest_.empty(); }

  // For what is read and cannot be.
  [[noreturn]] static void fail();
  static void require(bool is_possible) {
    if (!is_possible) fail();
  }

  // Writes the values, or sets them.
  template <class... Values>
  void operator()(Values&... values) {
    (value(values), ...);
  }

 private:
  template <class Value>
  static constexpr bool kIsPlain = std::is_arithmetic_v<Value> || std::is_enum_v<Value>;

  template <class Value>
  void value(Value& value) {
    if constexpr (std::is_same_v<Value, bool>) {
      // A byte of a file may be neither of the two that a truth value can be.
      auto byte = static_cast<unsigned char>(value);
      raw(&byte, sizeof byte);
      if (byte > 1) fail();
      value = byte == 1;
    } else if constexpr (kIsPlain<Value>) {
      raw(&value, sizeof value);
    } else {
      archive(*this, value);
    }
  }
  template <class Value, class Allocator>
  void value(std::vector<Value, Allocator>& list) {
    auto count = static_cast<std::uint64_t>(list.size());
    value(count);
    if constexpr (std::is_same_v<Value, bool>) {
      resize(list, count, 1);
      for (std::size_t i = 0; i < list.size(); ++i) {
        bool entry = list[i];
        value(entry);
        list[i] = entry;
      }
    } else if constexpr (kIsPlain<Value>) {
      resize(list, count, sizeof(Value));
      raw(list.data(), list.size() * sizeof(Value));
    } else if (is_loading_) {
      // One by one, for each may be much larger than its bytes.
      list.clear();
      for (std::uint64_t i = 0; i < count; ++i) value(list.emplace_back());
    } else {
      for (Value& entry : list) value(entry);
    }
  }
  template <class Value>
  void value(std::optional<Value>& optional) {
    bool is_there = optional.has_value();
    value(is_there);
    if (is_loading_) {
      optional.reset();
      if (is_there) optional.emplace();
    }
    if (optional) value(*optional);
  }
  template <class First, class Second>
  void value(std::pair<First, Second>& pair) {
    (*this)(pair.first, pair.second);
  }
  // What is pointed to, for each pointer by itself.
  template <class Value>
  void value(std::shared_ptr<const Value>& pointer) {
    Value content;
    if (!is_loading_) content = *pointer;
    value(content);
    if (is_loading_) pointer = std::make_shared<const Value>(std::move(content));
  }
  void value(std::string& text);
  void value(Matrix& matrix);
  // Lists that atoms have in common stand once.
  void value(SharedNumbers& numbers);

  template <class List>
  void resize(List& list, std::uint64_t count, std::size_t bytes_of_each) {
    if (!is_loading_) return;
    if (count > rest_.size() / bytes_of_each) fail();
    list.resize(count);
  }
  void raw(void* place, std::size_t count) {
    if (!is_loading_) {
      written_.append(static_cast<const char*>(place), count);
      return;
    }
    if (count > rest_.size()) fail();
    if (count > 0) std::memcpy(place, rest_.data(), count);
    rest_.remove_prefix(count);
  }
  bool is_loading_ = false;
  std::string written_;
  std::string_view rest_;
  std::vector<SharedNumbers> shared_;
};

void archive(Archive& bytes, Atom& atom);

}  // namespace mfga
