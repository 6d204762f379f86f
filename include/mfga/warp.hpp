// How inputs are scaled. Each is standardised, z = (value - mean) / deviation; robust and quantile scales go
// on from there.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace mfga {

enum class ScaleKind : std::uint8_t { kStandard, kRobust, kQuantile };
[[nodiscard]] std::string_view scale_name(ScaleKind kind);

// What a standardised value is turned into: itself; or with a limit, itself cut to [-limit, limit]; or with
// knots, the piecewise-linear function through (knots[i], values[i]), constant outside of them.
struct Warp {
  double limit = 0;  // 0: none
  std::vector<double> knots = {};
  std::vector<double> values = {};

  [[nodiscard]] ScaleKind kind() const {
    return !knots.empty() ? ScaleKind::kQuantile : limit > 0 ? ScaleKind::kRobust : ScaleKind::kStandard;
  }
  friend bool operator==(const Warp&, const Warp&) = default;
};

}  // namespace mfga
