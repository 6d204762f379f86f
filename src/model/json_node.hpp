// A part of a model file.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "mfga/error.hpp"
#include "mfga/views.hpp"

namespace mfga {

using Json = nlohmann::ordered_json;

// A JSON value with the path to it, for messages such as `model.json: terms[3].sigma: ...`.
class Node {
 public:
  Node(const Json& value, std::string path, std::string_view source)
      : value_(value), path_(std::move(path)), source_(source) {}

  [[noreturn]] void fail(std::string_view problem) const {
    throw Error(ErrorKind::kBadData, fmt::format("{}: not a valid model: {}{}{}", source_, path_,
                                                 path_.empty() ? "" : ": ", problem));
  }
  [[nodiscard]] Node member(std::string_view key) const {
    if (!value_.is_object()) fail("expected an object");
    const auto found = value_.find(std::string(key));
    if (found == value_.end()) fail(fmt::format("the field \"{}\" is missing", key));
    return {*found, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key), source_};
  }
  [[nodiscard]] bool has_member(std::string_view key) const { return value_.contains(std::string(key)); }
  [[nodiscard]] std::vector<Node> elements() const {
    if (!value_.is_array()) fail("expected a list");
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < value_.size(); ++i)
      nodes.emplace_back(value_[i], fmt::format("{}[{}]", path_, i), source_);
    return nodes;
  }
  [[nodiscard]] double number() const {
    if (!value_.is_number()) fail("expected a number");
    const auto number = value_.get<double>();
    if (!std::isfinite(number)) fail("expected a finite number");
    return number;
  }
  [[nodiscard]] double positive_number() const {
    const double value = number();
    if (!(value > 0)) fail(fmt::format("expected a positive number, found {}", value));
    return value;
  }
  [[nodiscard]] Index whole_number(Index lowest, Index highest) const {
    if (!value_.is_number_integer()) fail("expected a whole number");
    const double number = value_.get<double>();
    if (!(number >= static_cast<double>(lowest) && number <= static_cast<double>(highest))) {
      fail(fmt::format("expected a whole number from {} to {}", lowest, highest));
    }
    return value_.get<Index>();
  }
  [[nodiscard]] bool truth() const {
    if (!value_.is_boolean()) fail("expected true or false");
    return value_.get<bool>();
  }
  [[nodiscard]] std::string text() const {
    if (!value_.is_string()) fail("expected a text");
    return value_.get<std::string>();
  }

 private:
  const Json& value_;
  std::string path_;
  std::string_view source_;
};

}  // namespace mfga
