#pragma once

#include <cstdint>

#include "features/family.hpp"
#include "features/projected.hpp"

namespace mfga {

[[nodiscard]] const FeatureFamily& fourier_family();

// Frequencies and phases; feature i is a function of (seed, i) alone, so a shorter list is the front of a
// longer.
[[nodiscard]] Directions draw_fourier_directions(Index count, Index n_inputs, double sigma,
                                                 std::uint64_t seed);

}  // namespace mfga
