#include "charts/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mfga::charts {
namespace {

// The round step, 1, 2 or 5 times a power of ten, that divides the range into about five.
double round_step(double range) {
  constexpr double kParts = 5;
  const double rough = range / kParts;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power * 1.001) return factor * power;
  }
  return 10 * power;
}

}  // namespace

Axis Axis::linear(double lowest, double highest, bool from_zero) {
  Axis axis;
  if (from_zero) lowest = std::min(lowest, 0.0);
  if (!(highest > lowest)) {
    const double margin = lowest == 0 ? 1 : std::abs(lowest) * 0.1;
    lowest -= from_zero ? 0 : margin;
    highest += margin;
  }
  const double step = round_step(highest - lowest);
  const double first = std::floor(lowest / step + 1e-9);
  const double last = std::ceil(highest / step - 1e-9);
  axis.low_ = first * step;
  axis.high_ = last * step;
  constexpr double kMostSteps = 100;
  if (!(last - first < kMostSteps)) return axis;  // numbers beyond any scale
  const int steps = static_cast<int>(last - first);
  for (int i = 0; i <= steps; ++i) axis.ticks_.push_back((first + i) * step);
  return axis;
}

Axis Axis::exact(double lowest, double highest) {
  Axis axis = linear(lowest, highest, false);
  if (!(highest > lowest)) return axis;
  axis.low_ = lowest;
  axis.high_ = highest;
  std::erase_if(axis.ticks_, [&](double tick) { return tick < lowest || tick > highest; });
  return axis;
}

Axis Axis::logarithmic(double lowest, double highest) {
  Axis axis;
  axis.logarithmic_ = true;
  const double margin = std::pow(highest / lowest, 0.04);
  axis.low_ = lowest / margin;
  axis.high_ = highest * margin;
  // Fewer marks per decade the more decades there are.
  const double decades = std::log10(axis.high_ / axis.low_);
  std::vector<double> factors = {1, 2, 5};
  if (decades > 2.6) factors = {1};
  const int stride = std::max(1, static_cast<int>(decades / 6));
  const int first = static_cast<int>(std::floor(std::log10(axis.low_)));
  const int last = static_cast<int>(std::ceil(std::log10(axis.high_)));
  for (int exponent = first; exponent <= last; exponent += stride) {
    for (const double factor : factors) {
      const double tick = factor * std::pow(10, exponent);
      if (tick >= axis.low_ && tick <= axis.high_) axis.ticks_.push_back(tick);
    }
  }
  return axis;
}

double Axis::position(double value) const {
  value = std::clamp(value, low_, high_);
  const double part =
      logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return from_ + part * (to_ - from_);
}

std::string tick_text(double value) {
  // A sum of steps may miss zero by a rounding error.
  if (std::abs(value) < 1e-12) return "0";
  return fmt::format("{}{:.6g}", value < 0 ? "\u2212" : "", std::abs(value));
}

std::vector<double> spread(const std::vector<double>& wanted, double distance, double lowest,
                           double highest) {
  const std::size_t count = wanted.size();
  if (count == 0) return {};
  if (count > 1) distance = std::min(distance, (highest - lowest) / static_cast<double>(count - 1));
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t left, std::size_t right) { return wanted[left] < wanted[right]; });

  // With distance * rank taken off, the task is the nearest non-decreasing sequence: pool neighbours that
  // violate the order into their mean.
  struct Pool {
    double sum;
    std::size_t size;
    [[nodiscard]] double mean() const { return sum / static_cast<double>(size); }
  };
  std::vector<Pool> pools;
  for (std::size_t rank = 0; rank < count; ++rank) {
    pools.push_back({wanted[order[rank]] - distance * static_cast<double>(rank), 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      pools[pools.size() - 2].sum += pools.back().sum;
      pools[pools.size() - 2].size += pools.back().size;
      pools.pop_back();
    }
  }
  std::vector<double> placed(count);
  std::size_t rank = 0;
  const double top = highest - distance * static_cast<double>(count - 1);
  for (const Pool& pool : pools) {
    const double base = std::max(lowest, std::min(pool.mean(), top));
    for (std::size_t i = 0; i < pool.size; ++i, ++rank)
      placed[order[rank]] = base + distance * static_cast<double>(rank);
  }
  return placed;
}

}  // namespace mfga::charts
