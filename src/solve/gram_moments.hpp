// Products of candidates by way of moments. A product of two monomials times envelopes depends on its inputs
// in any order: the pairs of second-order atoms of d inputs, about d^4 / 8, have only d^4 / 24 different sums
// over rows. So the moments
//
//   sum over rows of exp(-rate |x|^2) x_i x_j x_k x_l,   i <= j <= k <= l,
//
// are accumulated, each once, and the Gram matrix is gathered from them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "solve/gram_sums.hpp"

namespace mfga {

// Moments are used if there are at most this many per entry of the Gram matrix; half of its entries are
// different, and each takes somewhat less time than a moment.
inline constexpr double kMomentsPerProduct = 0.25;

// Sets the sums of the atoms over groups of consecutive rows. Returns false, and does nothing, if there is an
// atom that is no monomial, or if too few products coincide for this to be the faster way.
[[nodiscard]] bool sum_by_moments(const Problem& problem, std::span<const Atom> atoms,
                                  std::span<const Index> group_ends,
                                  std::span<const std::shared_ptr<GramSums>> groups,
                                  const std::function<void(double)>& on_part);

}  // namespace mfga
