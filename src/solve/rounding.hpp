// When a descent may end because numbers are rounded.
#pragma once

#include <cmath>

namespace mfga {

// Whether a decrease of the objective that its gradient promises is too small to be seen in its values. A
// step of which no length decreases the objective is the end of a descent then, and a failure else.
[[nodiscard]] inline bool is_hidden_by_rounding(double promised_decrease, double objective) {
  constexpr double kVisible = 1e-9;
  return std::abs(promised_decrease) <= kVisible * std::abs(objective);
}

}  // namespace mfga
