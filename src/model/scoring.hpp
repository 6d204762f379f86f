// Whether a model can be used.
#pragma once

#include "mfga/model.hpp"

namespace mfga {

// Throws Error(kNumerical) if a number of the model is not finite.
void check_finite(const Model& model);

}  // namespace mfga
