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

// Which candidates are excluded, or have a larger |gradient| within six places of them in the list.
// Neighbours are often alike, such as hinges at the knots of one input: of these, only the peaks are left. Of
// values that are the same to about a thousandth, the first counts as larger, whatever single precision says.
// Of a list in no order few of the largest are lost.
[[nodiscard]] std::vector<bool> beside_larger(std::span<const double> gradient,
                                              const std::vector<bool>& excluded);

inline constexpr double kTieTolerance = 1e-11;

}  // namespace mfga
