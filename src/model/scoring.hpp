// Scores of rows that have names of their own in messages.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "mfga/model.hpp"

namespace mfga {

// What an error calls a row of x, such as `houses.csv:17`.
using RowName = std::function<std::string(Index row)>;

// Model::scores, for the command line.
[[nodiscard]] std::vector<double> scores_of_rows(const Model& model, ConstMatrixView x,
                                                 std::span<const Index> columns, int threads,
                                                 const RowName& row_name);

// Throws Error(kNumerical) if a number of the model is not finite.
void check_finite(const Model& model);

}  // namespace mfga
