// Line 2 of Algorithm 1: the candidates whose entries of the gradient are largest in absolute value.
#pragma once

#include <span>
#include <vector>

#include "solve/engine.hpp"

namespace mfga {

// The `count` candidates with the largest |gradient| that are not excluded, largest first. Values that
// differ by no more than rounding (kTieTolerance of the largest) are ties, and ties go to the lowest index.
[[nodiscard]] std::vector<Index> largest_gradients(std::span<const double> gradient,
                                                   const std::vector<bool>& excluded, Index count);

// Every candidate that may be among the `count` largest, or tie with the last of them, as far as values with
// these errors tell (see Gradient); in ascending order.
[[nodiscard]] std::vector<Index> possibly_largest(const Gradient& gradient, const std::vector<bool>& excluded,
                                                  Index count);

// Which candidates are excluded, have no gradient, or stand within six places of one with a larger
// |gradient|. Neighbours in the list are often alike, such as hinges at the knots of one input: of these,
// only the peaks are left. Sizes are compared to about a thousandth, and of the same ones the first counts as
// larger, so that rounding hardly ever decides. In a list in no order most of the largest are peaks.
[[nodiscard]] std::vector<bool> beside_larger(std::span<const double> gradient,
                                              const std::vector<bool>& excluded);

inline constexpr double kTieTolerance = 1e-11;

}  // namespace mfga
