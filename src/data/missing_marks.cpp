#include "data/missing_marks.hpp"

#include <algorithm>
#include <cmath>

#include "data/number_text.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

// Whether the text is this word, in whatever case.
bool is_word(std::string_view text, std::string_view lower_case) {
  return std::ranges::equal(text, lower_case, [](char c, char lower) {
    return (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) == lower;
  });
}

}  // namespace

MissingMarks::MissingMarks(std::string_view option) : are_allowed_(option != "error") {
  if (option == "auto" || option == "error") return;
  while (true) {
    const std::size_t comma = std::min(option.find(','), option.size());
    const std::string_view text = trim(option.substr(0, comma));
    if (text.empty()) {
      throw Error(
          ErrorKind::kInvalidArgument,
          "`missing` has an empty text in its list; expected auto, error, or texts between commas (an "
          "empty field is missing in any case)");
    }
    named_.emplace_back(text);
    double number = 0;
    if (classify_field(text, number) == FieldContent::kFinite) numbers_.push_back(number);
    if (comma == option.size()) return;
    option.remove_prefix(comma + 1);
  }
}

bool MissingMarks::has(std::string_view field) const {
  if (!are_allowed_) return false;
  field = trim(field);
  return field.empty() || field == "?" || is_word(field, "na") || is_word(field, "nan") ||
         std::ranges::find(named_, field) != named_.end();
}

bool MissingMarks::has_number(double value) const {
  return are_allowed_ && (std::isnan(value) || std::ranges::find(numbers_, value) != numbers_.end());
}

}  // namespace mfga
