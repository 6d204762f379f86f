// The multiplier of the constraint |theta|_2 <= C, by the Illinois variant of regula falsi on
// 1/|theta(multiplier)| - 1/C, which is nearly linear in the multiplier.
#include <cmath>

#include "solve/refit.hpp"

namespace mfga {

double meet_norm_bound(double bound, double relative_tolerance, double first_guess,
                       const std::function<double(double)>& norm_at) {
  double last = 0;  // of which norm_at was asked
  const auto residual_at = [&](double multiplier) {
    last = multiplier;
    return 1 / norm_at(multiplier) - 1 / bound;
  };
  const double tolerance = relative_tolerance / bound;
  // From the guess outwards to where the bound is met. Zero comes last: where classes can be told apart
  // without error, the norm at zero is infinite, and long before that the bound has been passed.
  constexpr double kFactor = 10;
  constexpr double kNegligible = 1e-8;
  double high = first_guess;
  double high_residual = residual_at(high);
  double low = high;
  double low_residual = high_residual;
  while (high_residual < 0) {
    low = high;
    low_residual = high_residual;
    high *= kFactor;
    high_residual = residual_at(high);
  }
  while (low_residual >= -tolerance) {
    if (low == 0) return low;
    high = low;
    high_residual = low_residual;
    low = low > kNegligible * first_guess ? low / (kFactor * kFactor) : 0;
    low_residual = residual_at(low);
  }
  double multiplier = high;
  double residual = high_residual;
  int last_side = 0;
  for (int i = 0; i < 200 && std::abs(residual) > tolerance; ++i) {
    // Every third step halves the bracket, whatever the shape of the curve.
    double next = (low * high_residual - high * low_residual) / (high_residual - low_residual);
    if (i % 3 == 2 || !(low < next && next < high)) next = 0.5 * (low + high);
    if (!(low < next && next < high)) break;  // the bracket is down to rounding
    multiplier = next;
    residual = residual_at(multiplier);
    const int side = residual < 0 ? -1 : 1;
    (side < 0 ? low : high) = multiplier;
    (side < 0 ? low_residual : high_residual) = residual;
    if (side == last_side) (side < 0 ? high_residual : low_residual) /= 2;
    last_side = side;
  }
  // The solution that stays with the caller is the last one.
  if (last != multiplier) static_cast<void>(norm_at(multiplier));
  return multiplier;
}

}  // namespace mfga
