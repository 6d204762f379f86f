// What models share inside the library.
#pragma once

#include <span>
#include <vector>

#include "core/row_blocks.hpp"
#include "mfga/model.hpp"

namespace mfga {

// Throws Error(kNumerical) if a number of the model is not finite.
void check_finite(const Model& model);

// Targets of the rows of x as evaluate_scores takes them, from those that evaluate takes.
[[nodiscard]] std::vector<double> targets_of(const Model& model, const TableView& x,
                                             std::span<const double> y);

// Of each input: its column in the table of the training.
[[nodiscard]] std::vector<Index> columns_of_training(const Model& model);
// How the inputs are made from a table in which input i is column columns[i]. A model that mixes its inputs
// does so after that.
[[nodiscard]] std::vector<InputColumn> input_columns(const Model& model, std::span<const Index> columns);

// Of a score of two classes: the score itself, but for losses with another one.
[[nodiscard]] double log_odds(const Model& model, double score);

// Of several classes: scores whose softmax is their probabilities, [rows x classes].
[[nodiscard]] std::vector<double> softmax_scores(const Model& model, std::span<const double> scores);

// The value of the column that the terms see as this one; where the scale is flat, the lowest.
[[nodiscard]] double in_units(double seen, const ModelInput& input);

}  // namespace mfga
