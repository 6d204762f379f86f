// What the tool chooses where nothing was said, by rules on the number of rows and columns and their kinds;
// docs/defaults.md explains them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/row_blocks.hpp"

namespace mfga {

// The dictionary for these rows.
[[nodiscard]] std::string automatic_features(const BlockedRows& rows, Workers& workers);

// That and parts of it, from the simplest on: functions of single inputs; products of two inputs besides, or
// of two hinges; all; and, as tuned terms of one kind need no help of others, landmarks alone.
struct AutomaticDictionaries {
  std::vector<std::string> list;
  std::size_t whole = 0;  // the place of automatic_features
};
[[nodiscard]] AutomaticDictionaries automatic_dictionaries(const BlockedRows& rows, Workers& workers);

// One whose products with one another are summed, for each row: lines, hinges, and products of two inputs
// where there is room for them among some 1,000 candidates.
[[nodiscard]] std::string summed_features(const BlockedRows& rows, Workers& workers);

// Of each input, standardised in the rows: quantile for those with heavy tails, else standard.
[[nodiscard]] std::vector<ScaleKind> automatic_scales(const BlockedRows& standardised, Workers& workers);

// How many of `most` rows are enough to choose by held-out rows, where a search looks at so many candidates
// in so many steps: wide tables and large models are tried on fewer.
[[nodiscard]] Index affordable_rows(Index most, Index candidates, Index steps);

}  // namespace mfga
