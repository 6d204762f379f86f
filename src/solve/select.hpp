// Line 2 of Algorithm 1: the candidates whose entries of the gradient are largest in absolute value.
#pragma once

#include <span>
#include <vector>

#include "mfga/views.hpp"

namespace mfga {

// The `count` candidates with the largest |gradient| that are not excluded, largest first. Values that
// differ by no more than rounding (kTieTolerance of the largest) are ties, and ties go to the lowest index.
[[nodiscard]] std::vector<Index> largest_gradients(std::span<const double> gradient,
                                                   const std::vector<bool>& excluded, Index count);

inline constexpr double kTieTolerance = 1e-11;

}  // namespace mfga
