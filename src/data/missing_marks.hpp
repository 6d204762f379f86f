// What stands for a missing value in a file: an empty field, NA, NaN and ?, and what the caller names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mfga {

class MissingMarks {
 public:
  // Nothing is missing: such values are errors.
  MissingMarks() = default;
  // As ReadOptions::missing says: auto, error, or texts between commas.
  explicit MissingMarks(std::string_view option);

  // Whether values may be missing.
  [[nodiscard]] bool are_allowed() const { return are_allowed_; }
  // Whether a field without quotes, spaces around it aside, stands for a missing value.
  [[nodiscard]] bool has(std::string_view field) const;
  // The same of a number, which is NaN or one of those that were named.
  [[nodiscard]] bool has_number(double value) const;
  [[nodiscard]] bool has_numbers() const { return !numbers_.empty(); }
  // The texts that were named.
  [[nodiscard]] const std::vector<std::string>& named() const { return named_; }

 private:
  bool are_allowed_ = false;
  std::vector<std::string> named_;
  std::vector<double> numbers_;  // of these
};

}  // namespace mfga
