// Text among numbers: a column of text in a file becomes several columns of 0 and 1 in the table, so that
// everything after the reader sees numbers alone. What became of it goes with the table (Table::text_columns)
// through training (TrainingData::text_columns) into the model (Model::text_columns).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfga/views.hpp"

namespace mfga {

// The level of fields without a text, and of texts that stand for a missing value.
inline constexpr std::string_view kMissingLevel = "missing";
// The level of texts that few rows have, where there are such; and then of texts that no row had.
inline constexpr std::string_view kOtherLevel = "other";

// Column first + i of the table is 1 where the text is levels[i], else 0; its name is "NAME=LEVEL". Where a
// text is missing and that is no level, all are NaN.
struct TextColumn {
  std::string name;
  Index first = 0;
  std::vector<std::string> levels;  // the distinct texts, sorted
  std::vector<std::string> rare =
      {};  // the texts of the level `other`, sorted; none: it is a text of its own

  [[nodiscard]] Index count() const { return static_cast<Index>(levels.size()); }
  friend bool operator==(const TextColumn&, const TextColumn&) = default;
};

// What a column of a table is in its file: one of the predictors, by position; and where that is text, the
// text column and the level for which the column is 1.
struct ColumnOrigin {
  Index predictor = 0;
  const TextColumn* text = nullptr;
  std::string level = {};
};
[[nodiscard]] ColumnOrigin origin_of(Index column, std::span<const TextColumn> text_columns);

// The number of predictors in the file of a table with this many columns.
[[nodiscard]] Index predictor_count(Index columns, std::span<const TextColumn> text_columns);

[[nodiscard]] std::string level_name(const std::string& column, const std::string& level);

}  // namespace mfga
