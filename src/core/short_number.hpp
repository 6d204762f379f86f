// Numbers with few digits, so that what is written of them is short.
#pragma once

#include <cmath>

namespace mfga {

// The nearest multiple of a power of ten, the largest for which it is no further from the value than this.
[[nodiscard]] inline double short_number(double value, double error) {
  constexpr double kMostDigits = 15;
  if (!(error > 0) || !std::isfinite(value)) return value;
  const double exponent = std::floor(std::log10(2 * error));
  if (std::abs(exponent) > 300 || std::abs(value) > error * std::pow(10, kMostDigits)) return value;
  // Powers of ten up to 22 are exact, so that a quotient or product is the double next to the decimal.
  const double power = std::pow(10, std::abs(exponent));
  return exponent < 0 ? std::nearbyint(value * power) / power : std::nearbyint(value / power) * power;
}

}  // namespace mfga
