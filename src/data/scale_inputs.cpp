#include "data/scale_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/random.hpp"

namespace mfga {
namespace {

constexpr Index kMostSampled = 100'000;
constexpr double kRobustLimit = 5;
constexpr double kNormalInterquartileRange = 1.349;
constexpr Index kQuantileSteps = 256;
constexpr Index kFewestDistinct = 10;

// The q-quantile of sorted values, between the nearest two.
double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

// The value below which a standard normal number is with this probability.
double normal_quantile(double probability) {
  double low = -9;
  double high = 9;
  for (int i = 0; i < 60; ++i) {  // to rounding
    const double middle = 0.5 * (low + high);
    const double below = 0.5 * std::erfc(-middle / std::numbers::sqrt2);
    (below < probability ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

bool has_few_distinct(const std::vector<double>& sorted) {
  Index distinct = 1;
  for (std::size_t i = 1; i < sorted.size() && distinct < kFewestDistinct; ++i)
    distinct += sorted[i] != sorted[i - 1] ? 1 : 0;
  return distinct < kFewestDistinct;
}

void make_robust(const std::vector<double>& sorted, InputColumn& input) {
  const double range = quantile(sorted, 0.75) - quantile(sorted, 0.25);
  input.mean = quantile(sorted, 0.5);
  if (range > 0) input.deviation = range / kNormalInterquartileRange;
  input.warp.limit = kRobustLimit;
}

// A value goes to the normal quantile of the part of the rows below it, of those equal to it half.
void make_quantile(const std::vector<double>& sorted, InputColumn& input) {
  const auto count = std::ssize(sorted);
  input.mean = 0;
  input.deviation = 1;
  for (Index step = 0; step <= kQuantileSteps; ++step) {
    const double knot = sorted[static_cast<std::size_t>(step * (count - 1) / kQuantileSteps)];
    if (!input.warp.knots.empty() && knot == input.warp.knots.back()) continue;
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), knot);
    const auto below = (first - sorted.begin()) + (last - sorted.begin());
    input.warp.knots.push_back(knot);
    input.warp.values.push_back(
        normal_quantile(static_cast<double>(below) / (2 * static_cast<double>(count))));
  }
}

}  // namespace

std::vector<InputColumn> scale_inputs(std::vector<InputColumn> inputs, std::span<const ScaleKind> scales,
                                      ConstMatrixView x, std::uint64_t seed, Workers& workers) {
  if (std::ranges::all_of(scales, [](ScaleKind scale) { return scale == ScaleKind::kStandard; }))
    return inputs;
  std::vector<Index> rows(static_cast<std::size_t>(x.rows));
  std::iota(rows.begin(), rows.end(), Index{0});
  if (x.rows > kMostSampled) {
    rows = random_rows(x.rows, kMostSampled, seed, RandomStream::kScale);
    std::ranges::sort(rows);
  }
  workers.pool.run(std::ssize(inputs), [&](Index i) {
    InputColumn& input = inputs[static_cast<std::size_t>(i)];
    const ScaleKind scale = scales[static_cast<std::size_t>(i)];
    if (scale == ScaleKind::kStandard) return;
    std::vector<double> values;
    values.reserve(rows.size());
    for (const Index row : rows) values.push_back(x(row, input.column));
    if (std::ranges::all_of(values, [](double value) { return value == 0 || value == 1; })) return;
    std::ranges::sort(values);
    if (scale == ScaleKind::kRobust) {
      make_robust(values, input);
    } else if (!has_few_distinct(values)) {
      make_quantile(values, input);
    }
  });
  return inputs;
}

}  // namespace mfga
