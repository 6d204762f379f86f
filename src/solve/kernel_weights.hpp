// Weights nu of the dictionary's kernels from the data.
#pragma once

#include <cstdint>
#include <vector>

#include "solve/problem.hpp"

namespace mfga {

// What to multiply the weights by so that all kernels have the same mean K(x, x) on the rows.
[[nodiscard]] std::vector<double> norm_weights(const Problem& problem, const Candidates& candidates);

// The same, times each kernel's alignment with the target, <K, y y^T> / (|K|_F |y|^2) with both centred
// (Cortes, Mohri and Rostamizadeh 2012). |K|_F is estimated with random vectors, since K would be rows x
// rows.
[[nodiscard]] std::vector<double> alignment_weights_of_kernels(const Problem& problem,
                                                               const Candidates& candidates,
                                                               std::uint64_t seed);

}  // namespace mfga
