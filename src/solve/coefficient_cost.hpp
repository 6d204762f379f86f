// What a coefficient costs, per unit of the ridge.
#pragma once

#include <cmath>
#include <numbers>

namespace mfga {

// theta^2; or with a bend, 2 bend^2 log cosh(theta / bend): the same near 0, and 2 bend |theta| beyond the
// bend, as a penalty on the sum of absolute values, yet smooth.
struct CoefficientCost {
  double bend = 0;  // 0: none

  [[nodiscard]] bool is_square() const { return bend == 0; }
  [[nodiscard]] double value(double theta) const {
    if (is_square()) return theta * theta;
    const double size = std::abs(theta) / bend;
    if (size < 0.5) {  // without cancellation
      const double sine = std::sinh(size);
      return bend * bend * std::log1p(sine * sine);
    }
    return 2 * bend * bend * (size + std::log1p(std::exp(-2 * size)) - std::numbers::ln2);
  }
  [[nodiscard]] double slope(double theta) const {
    return 2 * (is_square() ? theta : bend * std::tanh(theta / bend));
  }
  [[nodiscard]] double curvature(double theta) const {
    if (is_square()) return 2;
    const double part = std::tanh(theta / bend);
    return 2 * (1 - part * part);
  }
};

}  // namespace mfga
