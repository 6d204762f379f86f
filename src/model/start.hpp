// Going on from a model: its inputs with their scales, and its terms, are taken over.
#pragma once

#include <vector>

#include "core/row_blocks.hpp"
#include "mfga/fit.hpp"
#include "model/target.hpp"
#include "solve/greedy.hpp"

namespace mfga {

// The columns of the table that are the model's inputs, scaled as they were.
[[nodiscard]] std::vector<InputColumn> inputs_of_start(const Model& start, const TrainingData& data);
// The terms. Throws Error if the model is not one of such a target.
[[nodiscard]] ActiveSet terms_of_start(const Model& start, const PreparedTarget& target);

}  // namespace mfga
