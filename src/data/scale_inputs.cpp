#include "data/scale_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "core/random.hpp"
#include "core/ranked_rows.hpp"
#include "core/short_number.hpp"
#include "core/weight_unit.hpp"

namespace mfga {
namespace {

constexpr Index kMostSampled = 100'000;
constexpr Index kMostNumbers = Index{1} << 22U;  // that are looked at together: 32 MiB
constexpr double kRobustLimit = 5;
constexpr double kPlaceRounding = 1e-9;  // of the place of a row
constexpr double kNormalInterquartileRange = 1.349;
constexpr Index kQuantileSteps = 256;
// How far a quantile scale may be from that of its rows, in standard errors of the score of the median:
// less than half of what other rows of the same source would change. A tenth of it is for rounding.
constexpr double kScaleError = 0.5;
constexpr double kPartOfRounding = 0.1;
constexpr std::size_t kFewestDistinct = 10;

// Values in ascending order, each with how often it counts, all of them together.
class SortedValues {
 public:
  SortedValues(std::vector<double> values, std::span<const double> weights) : unit_(weight_unit(weights)) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
    for (const std::size_t i : order) {
      const double weight = weights.empty() ? 1 : weights[i];
      if (weight == 0) continue;
      if (values_.empty() || values[i] != values_.back()) {
        values_.push_back(values[i]);
        ends_.push_back(ends_.empty() ? 0 : ends_.back());
      }
      ends_.back() += weight;
    }
  }

  [[nodiscard]] std::size_t distinct() const { return values_.size(); }
  [[nodiscard]] double total() const { return ends_.back(); }
  [[nodiscard]] double value(std::size_t i) const { return values_[i]; }
  // How many are below the i-th distinct value, and how many are not above it.
  [[nodiscard]] double begin(std::size_t i) const { return i == 0 ? 0 : ends_[i - 1]; }
  [[nodiscard]] double end(std::size_t i) const { return ends_[i]; }
  // The last place of all, which begin at 0 and are a unit apart.
  [[nodiscard]] double last() const { return std::max(0.0, total() - unit_); }
  [[nodiscard]] double unit() const { return unit_; }
  // The position of the distinct value that stands at this place.
  [[nodiscard]] std::size_t at(double place) const {
    // In the middle of what the row there is worth, where rounding of the sums does not matter.
    const auto found = std::upper_bound(ends_.begin(), ends_.end(), place + 0.5 * unit_);
    return std::min(static_cast<std::size_t>(found - ends_.begin()), values_.size() - 1);
  }
  // The q-quantile, between the nearest two.
  [[nodiscard]] double quantile(double q) const {
    const double place = q * last() / unit_;
    const double below = std::floor(place + kPlaceRounding);
    return std::lerp(value(at(below * unit_)), value(at((below + 1) * unit_)), place - below);
  }

 private:
  double unit_;
  std::vector<double> values_;  // distinct
  std::vector<double> ends_;
};

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

void make_robust(const SortedValues& sorted, InputColumn& input) {
  const double range = sorted.quantile(0.75) - sorted.quantile(0.25);
  input.mean = sorted.quantile(0.5);
  if (range > 0) input.deviation = range / kNormalInterquartileRange;
  input.warp.limit = kRobustLimit;
}

// A line through few of the knots that passes the others at this distance or less: it goes on from a knot to
// the last one for which some slope passes all in between.
Warp with_few_knots(const Warp& full, double distance) {
  Warp few;
  few.knots.push_back(full.knots.front());
  few.values.push_back(full.values.front());
  for (std::size_t i = 1; i < full.knots.size();) {
    const double from = few.knots.back();
    const double at_from = few.values.back();
    double least = 0;  // slopes that pass
    double most = std::numeric_limits<double>::infinity();
    std::size_t last = i;
    for (; i < full.knots.size(); ++i) {
      const double width = full.knots[i] - from;
      const double lower = std::max(least, (full.values[i] - distance - at_from) / width);
      const double upper = std::min(most, (full.values[i] + distance - at_from) / width);
      if (!(lower <= upper)) break;
      least = lower;
      most = upper;
      last = i;
    }
    const double width = full.knots[last] - from;
    double slope = std::clamp((full.values[last] - at_from) / width, least, most);
    if (slope <= 0) slope = 0.5 * most;  // for values rise
    few.knots.push_back(full.knots[last]);
    few.values.push_back(at_from + slope * width);
  }
  return few;
}

bool rise(std::span<const double> numbers) {
  return std::ranges::adjacent_find(numbers, std::greater_equal<>()) == numbers.end();
}

// The same with numbers of few digits, which move the line by this much or less.
Warp with_short_numbers(const Warp& full, double distance) {
  Warp rounded;
  for (std::size_t i = 0; i < full.knots.size(); ++i) {
    double steepest = 0;  // beside the knot
    for (std::size_t k = std::max<std::size_t>(i, 1); k <= std::min(i + 1, full.knots.size() - 1); ++k)
      steepest =
          std::max(steepest, (full.values[k] - full.values[k - 1]) / (full.knots[k] - full.knots[k - 1]));
    rounded.knots.push_back(short_number(full.knots[i], 0.5 * distance / steepest));
    rounded.values.push_back(short_number(full.values[i], 0.5 * distance));
  }
  return rise(rounded.knots) && rise(rounded.values) ? rounded : full;
}

// A value goes to the normal quantile of the part of the rows below it, of those equal to it half.
void make_quantile(const SortedValues& sorted, InputColumn& input) {
  input.mean = 0;
  input.deviation = 1;
  for (Index step = 0; step <= kQuantileSteps; ++step) {
    const double place = std::floor(
        static_cast<double>(step) * sorted.last() / sorted.unit() / kQuantileSteps + kPlaceRounding);
    const std::size_t i = sorted.at(place * sorted.unit());
    if (!input.warp.knots.empty() && sorted.value(i) == input.warp.knots.back()) continue;
    input.warp.knots.push_back(sorted.value(i));
    input.warp.values.push_back(normal_quantile((sorted.begin(i) + sorted.end(i)) / (2 * sorted.total())));
  }
  const double rows = sorted.total() / sorted.unit();
  const double error = kScaleError * std::sqrt(0.5 * std::numbers::pi / rows);
  input.warp =
      with_short_numbers(with_few_knots(input.warp, (1 - kPartOfRounding) * error), kPartOfRounding * error);
}

// The numbers of some inputs' columns in these rows, [inputs x rows], if they are not in memory anyway.
Matrix numbers_of(const TableView& x, std::span<const Index> rows, std::span<const Index> some,
                  const std::vector<InputColumn>& inputs) {
  if (!x.has_sources()) return {};
  Matrix numbers = Matrix::uninitialised(std::ssize(some), std::ssize(rows));
  std::vector<double> block(static_cast<std::size_t>(kBlockRows * x.cols));
  for (Index first = 0; first < numbers.cols; first += kBlockRows) {
    const Index count = std::min(kBlockRows, numbers.cols - first);
    read_rows(x, rows.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)), kBlockRows,
              block.data());
    for (Index i = 0; i < numbers.rows; ++i) {
      const InputColumn& input = inputs[static_cast<std::size_t>(some[static_cast<std::size_t>(i)])];
      std::copy_n(block.data() + input.column * kBlockRows, count, numbers.row(i) + first);
    }
  }
  return numbers;
}

}  // namespace

std::vector<InputColumn> scale_inputs(std::vector<InputColumn> inputs, std::span<const ScaleKind> scales,
                                      const TableView& x, std::uint64_t seed, Workers& workers,
                                      std::span<const double> weights) {
  if (std::ranges::all_of(scales, [](ScaleKind scale) { return scale == ScaleKind::kStandard; }))
    return inputs;
  std::vector<Index> rows(static_cast<std::size_t>(x.rows));
  std::iota(rows.begin(), rows.end(), Index{0});
  if (x.rows > kMostSampled) {
    rows = random_rows(x.rows, kMostSampled, seed, RandomStream::kScale);
    std::ranges::sort(rows);
  }
  std::vector<double> some_weights;
  for (const Index row : weights.empty() ? std::vector<Index>() : rows)
    some_weights.push_back(weights[static_cast<std::size_t>(row)]);
  // Of a table that is not in memory a few inputs at a time: their rows are read together.
  std::vector<Index> scaled;
  for (Index i = 0; i < std::ssize(inputs); ++i) {
    const auto j = static_cast<std::size_t>(i);
    if (scales[j] != ScaleKind::kStandard && !inputs[j].is_missing) scaled.push_back(i);
  }
  const std::size_t at_once =
      x.has_sources() ? static_cast<std::size_t>(std::max(kMostNumbers / std::ssize(rows), Index{1}))
                      : inputs.size();
  for (std::size_t begin = 0; begin < scaled.size(); begin += at_once) {
    const auto some = std::span(scaled).subspan(begin, std::min(at_once, scaled.size() - begin));
    const Matrix numbers = numbers_of(x, rows, some, inputs);
    workers.run(std::ssize(some), [&](Index place) {
      const auto i = static_cast<std::size_t>(some[static_cast<std::size_t>(place)]);
      InputColumn& input = inputs[i];
      const ScaleKind scale = scales[i];
      std::vector<double> values;
      std::vector<double> own_weights;
      values.reserve(rows.size());
      for (std::size_t n = 0; n < rows.size(); ++n) {
        const double value =
            x.has_sources() ? numbers(place, static_cast<Index>(n)) : x(rows[n], input.column);
        if (std::isnan(value)) continue;
        values.push_back(value);
        if (!some_weights.empty()) own_weights.push_back(some_weights[n]);
      }
      if (values.empty()) return;
      if (std::ranges::all_of(values, [](double value) { return value == 0 || value == 1; })) return;
      if (!own_weights.empty() && std::ranges::all_of(own_weights, [](double w) { return w == 0; })) return;
      const SortedValues sorted(std::move(values), own_weights);
      if (scale == ScaleKind::kRobust) {
        make_robust(sorted, input);
      } else if (sorted.distinct() >= kFewestDistinct) {
        make_quantile(sorted, input);
      }
    });
  }
  return inputs;
}

}  // namespace mfga
