#include "report/curves.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mfga::report {
namespace {

std::vector<std::size_t> order_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

double weight_of(std::span<const double> weights, std::size_t row) {
  return weights.empty() ? 1 : weights[row];
}

// Those that are at least some distance from the last one that is kept, and the last.
std::vector<charts::Point> thinned(const std::vector<charts::Point>& points) {
  constexpr double kApart = 0.012;
  std::vector<charts::Point> some;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool is_far =
        some.empty() || std::hypot(points[i].x - some.back().x, points[i].y - some.back().y) > kApart;
    if (is_far || i + 1 == points.size()) some.push_back(points[i]);
  }
  return some;
}

}  // namespace

RankCurves rank_curves(const Ranked& rows) {
  double own = 0;
  double others = 0;
  for (std::size_t n = 0; n < rows.likely.size(); ++n)
    (rows.is_of_class[n] ? own : others) += weight_of(rows.weights, n);
  RankCurves curves;
  if (!(own > 0) || !(others > 0)) return curves;
  const std::vector<std::size_t> order = order_of(rows.likely);
  curves.roc.push_back({0, 0});
  double own_above = 0;
  double others_above = 0;
  // From the most likely on; rows that are equally likely are taken together.
  for (std::size_t i = order.size(); i-- > 0;) {
    (rows.is_of_class[order[i]] ? own_above : others_above) += weight_of(rows.weights, order[i]);
    if (i > 0 && rows.likely[order[i - 1]] == rows.likely[order[i]]) continue;
    if (own_above + others_above <= 0) continue;
    curves.roc.push_back({others_above / others, own_above / own});
    curves.precision.push_back({own_above / own, own_above / (own_above + others_above)});
  }
  // The first few rows alone make precision jump.
  constexpr double kLeastRecall = 0.01;
  std::erase_if(curves.precision, [](const charts::Point& point) { return point.x < kLeastRecall; });
  curves.roc = thinned(curves.roc);
  curves.precision = thinned(curves.precision);
  return curves;
}

std::vector<CalibrationBin> calibration(const Ranked& rows) {
  constexpr std::size_t kBins = 10;
  const std::vector<std::size_t> order = order_of(rows.likely);
  std::vector<CalibrationBin> bins;
  std::size_t begin = 0;
  for (std::size_t b = 1; b <= kBins; ++b) {
    const std::size_t end = order.size() * b / kBins;
    double weights = 0;
    double squares = 0;
    CalibrationBin bin;
    for (std::size_t i = begin; i < end; ++i) {
      const double weight = weight_of(rows.weights, order[i]);
      weights += weight;
      squares += weight * weight;
      bin.predicted += weight * rows.likely[order[i]];
      bin.observed += rows.is_of_class[order[i]] ? weight : 0;
    }
    bin.rows = static_cast<Index>(end - begin);
    begin = end;
    if (!(weights > 0)) continue;
    bin.predicted /= weights;
    bin.observed /= weights;
    bin.standard_error = std::sqrt(bin.observed * (1 - bin.observed) * squares) / weights;
    bins.push_back(bin);
  }
  return bins;
}

double quantile_of(std::span<const double> values, std::span<const double> weights, double part) {
  if (weights.empty()) {
    std::vector<double> copy(values.begin(), values.end());
    const auto at =
        copy.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(copy.size() - 1) + 0.5);
    std::nth_element(copy.begin(), at, copy.end());
    return *at;
  }
  const std::vector<std::size_t> order = order_of(values);
  double left = part * std::accumulate(weights.begin(), weights.end(), 0.0);
  for (const std::size_t row : order) {
    left -= weights[row];
    if (left <= 0 && weights[row] > 0) return values[row];
  }
  return values[order.back()];
}

std::vector<charts::Bin> binned(std::span<const double> values, std::span<const double> weights,
                                std::size_t bins, double tail) {
  if (values.empty()) return {};
  double low = quantile_of(values, weights, tail);
  double high = quantile_of(values, weights, 1 - tail);
  if (!(high > low)) {
    low -= 0.5;
    high += 0.5;
  }
  const double width = (high - low) / static_cast<double>(bins);
  std::vector<charts::Bin> result;
  for (std::size_t b = 0; b < bins; ++b)
    result.push_back({low + width * static_cast<double>(b), low + width * static_cast<double>(b + 1), 0});
  for (std::size_t n = 0; n < values.size(); ++n) {
    const double at = std::floor((values[n] - low) / width);
    if (at < 0 || values[n] > high) continue;
    result[std::min(bins - 1, static_cast<std::size_t>(at))].height += weight_of(weights, n);
  }
  return result;
}

std::vector<ResidualBin> residual_bins(std::span<const double> predictions, std::span<const double> targets,
                                       std::span<const double> weights) {
  constexpr std::size_t kMostBins = 20;
  constexpr std::size_t kRowsOfABin = 20;
  const std::size_t count = std::clamp<std::size_t>(predictions.size() / kRowsOfABin, 1, kMostBins);
  const std::vector<std::size_t> order = order_of(predictions);
  std::vector<ResidualBin> bins;
  std::size_t begin = 0;
  for (std::size_t b = 1; b <= count; ++b) {
    const std::size_t end = order.size() * b / count;
    std::vector<double> residuals;
    std::vector<double> own_weights;
    ResidualBin bin;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t n = order[i];
      const double weight = weight_of(weights, n);
      residuals.push_back(targets[n] - predictions[n]);
      if (!weights.empty()) own_weights.push_back(weight);
      bin.predicted += weight * predictions[n];
      bin.observed += weight * targets[n];
      sum += weight;
    }
    bin.rows = static_cast<Index>(end - begin);
    begin = end;
    if (!(sum > 0)) continue;
    constexpr double kTail = 0.1;
    bin.predicted /= sum;
    bin.observed /= sum;
    bin.median = quantile_of(residuals, own_weights, 0.5);
    bin.low = quantile_of(residuals, own_weights, kTail);
    bin.high = quantile_of(residuals, own_weights, 1 - kTail);
    bins.push_back(bin);
  }
  return bins;
}

}  // namespace mfga::report
