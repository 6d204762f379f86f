// What the tool chooses where nothing was said, by rules on the number of rows and columns and their kinds;
// docs/defaults.md explains them.
#pragma once

#include <string>
#include <vector>

#include "core/row_blocks.hpp"

namespace mfga {

// The dictionary for these rows.
[[nodiscard]] std::string automatic_features(const BlockedRows& rows);

// Parts of it that may do better alone, since tuned terms of one kind need no help of others: functions of
// single inputs, and of all of them at once.
[[nodiscard]] std::vector<std::string> automatic_parts(const BlockedRows& rows);

// Of each input, standardised in the rows: quantile for those with heavy tails, else standard.
[[nodiscard]] std::vector<ScaleKind> automatic_scales(const BlockedRows& standardised, Workers& workers);

}  // namespace mfga
