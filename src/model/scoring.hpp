// What models share inside the library.
#pragma once

#include "mfga/model.hpp"

namespace mfga {

// Throws Error(kNumerical) if a number of the model is not finite.
void check_finite(const Model& model);

// Of a score of two classes: the score itself, but for losses with another one.
[[nodiscard]] double log_odds(const Model& model, double score);

// The value of the column that the terms see as this one; where the scale is flat, the lowest.
[[nodiscard]] double in_units(double seen, const ModelInput& input);

}  // namespace mfga
