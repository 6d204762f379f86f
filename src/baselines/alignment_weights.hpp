// Weights of random features that maximise kernel alignment (Sinha and Duchi, NIPS 2016): maximise sum_m q_m
// s_m over the simplex, within a chi-square ball around the uniform weights,
//
//   q >= 0,   sum_m q_m = 1,   n |q|^2 - 1 <= radius        (n = number of features).
#pragma once

#include <span>
#include <vector>

#include "mfga/views.hpp"

namespace mfga {

// `scores` are s_m >= 0. The divergence of the result is the radius to a relative 1e-10, or the weights lie
// on the features with the largest score where even that is within the radius.
[[nodiscard]] std::vector<double> alignment_weights(std::span<const double> scores, double radius);

}  // namespace mfga
