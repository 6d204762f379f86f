#pragma once

#include <algorithm>
#include <span>

namespace mfga {

// What one row is worth where rows have weights: 1, or less where weights are smaller. So whole weights count
// as copies, and weights of any size give the same quantiles and standard errors.
[[nodiscard]] inline double weight_unit(std::span<const double> weights) {
  double unit = 1;
  for (const double weight : weights) {
    if (weight > 0) unit = std::min(unit, weight);
  }
  return unit;
}

}  // namespace mfga
