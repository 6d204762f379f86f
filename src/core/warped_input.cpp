// The interval of a value is found by bisection, one step for a tile of values at a time, so that the steps
// are loops over values without branches.
#include "core/warped_input.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/vectorise.hpp"

namespace mfga {
namespace {

constexpr Index kWarpTile = 64;

// A value that is not finite times 0 is NaN.
MFGA_VECTORISED void cut(double* values, Index count, double lowest, double highest) {
  for (Index n = 0; n < count; ++n) {
    const double value = values[n];
    const double raised = value < lowest ? lowest : value;
    values[n] = (raised > highest ? highest : raised) + 0.0 * value;
  }
}

MFGA_VECTORISED void multiply(double* values, Index count, double factor) {
  for (Index n = 0; n < count; ++n) values[n] *= factor;
}

// `size` knots, a power of two; values[n] is at least the first knot, or NaN.
MFGA_VECTORISED void interpolate(double* values, Index count, const double* knots, Index size,
                                 const double* at_knots, const double* slopes) {
  std::array<Index, kWarpTile>
      below;  // NOLINT(cppcoreguidelines-pro-type-member-init): set for `count` values
  for (Index n = 0; n < count; ++n) below[static_cast<std::size_t>(n)] = 0;
  for (Index step = size / 2; step > 0; step /= 2) {
    for (Index n = 0; n < count; ++n) {
      Index& knot = below[static_cast<std::size_t>(n)];
      knot += knots[knot + step] <= values[n] ? step : 0;
    }
  }
  for (Index n = 0; n < count; ++n) {
    const Index knot = below[static_cast<std::size_t>(n)];
    values[n] = at_knots[knot] + slopes[knot] * (values[n] - knots[knot]);
  }
}

}  // namespace

std::string_view scale_name(ScaleKind kind) {
  return kind == ScaleKind::kQuantile ? "quantile" : kind == ScaleKind::kRobust ? "robust" : "standard";
}

WarpedInput::WarpedInput(Index position, const Warp& warp, double stretch)
    : position_(position),
      lowest_(warp.knots.empty() ? -warp.limit : warp.knots.front()),
      highest_(warp.knots.empty() ? warp.limit : warp.knots.back()),
      knots_(warp.knots),
      values_(warp.values),
      stretch_(stretch) {
  for (std::size_t i = 0; i < knots_.size(); ++i) {
    const bool is_last = i + 1 == knots_.size();
    slopes_.push_back(is_last ? 0 : (values_[i + 1] - values_[i]) / (knots_[i + 1] - knots_[i]));
  }
  knots_.resize(knots_.empty() ? 0 : std::bit_ceil(knots_.size()), std::numeric_limits<double>::infinity());
}

void WarpedInput::warp(double* values, Index count) const {
  for (Index first = 0; first < count; first += kWarpTile) {
    double* const tile = values + first;
    const Index size = std::min(kWarpTile, count - first);
    std::uint64_t missing = 0;  // a bit for each value
    for (Index n = 0; n < size; ++n)
      missing |= std::uint64_t{std::isnan(tile[n]) ? 1U : 0U} << static_cast<unsigned>(n);
    cut(tile, size, lowest_, highest_);
    if (!knots_.empty())
      interpolate(tile, size, knots_.data(), static_cast<Index>(knots_.size()), values_.data(),
                  slopes_.data());
    for (; missing != 0; missing &= missing - 1) tile[std::countr_zero(missing)] = 0;
  }
}

void WarpedInput::stretch(double* values, Index count) const {
  if (stretch_ != 1) multiply(values, count, stretch_);
}

}  // namespace mfga
