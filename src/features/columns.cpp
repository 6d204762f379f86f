#include "features/columns.hpp"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "core/random.hpp"
#include "core/weight_unit.hpp"

namespace mfga {
namespace {

// Above `low`, at most `high`, and between the two if there is a number between them.
double between(double low, double high) {
  const double middle = low + (high - low) / 2;
  return middle > low ? middle : high;
}

// Adds a value that is not below those already there.
void add_largest(double value, double weight, ColumnSample& sample) {
  if (sample.values.empty() || value != sample.values.back()) {
    sample.values.push_back(value);
    sample.weights.push_back(0);
  }
  sample.weights.back() += weight;
}

}  // namespace

std::vector<ColumnRange> column_ranges(const BlockedRows& rows, Workers& workers) {
  const auto n_inputs = static_cast<std::size_t>(rows.inputs());
  std::vector<double> sums(n_inputs);
  sum_over_blocks(rows, workers, sums, [](const RowBlock& block, Arena& arena, double* out) {
    double* scratch = block.weights == nullptr ? nullptr : arena.take(block.rows);
    for (Index j = 0; j < block.inputs; ++j) {
      const double* x = times_weights(block, block.input(j), scratch);
      out[j] += std::accumulate(x, x + block.rows, 0.0);
    }
  });
  // The largest of -x and of x.
  std::vector<double> extremes(2 * n_inputs);
  reduce_over_blocks(
      rows, workers, extremes, -std::numeric_limits<double>::infinity(),
      [](const RowBlock& block, Arena& /*arena*/, double* out) {
        for (Index j = 0; j < block.inputs; ++j) {
          const auto [lowest, highest] = std::minmax_element(block.input(j), block.input(j) + block.rows);
          out[2 * j] = std::max(out[2 * j], -*lowest);
          out[2 * j + 1] = std::max(out[2 * j + 1], *highest);
        }
      },
      [n_inputs](double* out, const double* partial) {
        for (std::size_t i = 0; i < 2 * n_inputs; ++i) out[i] = std::max(out[i], partial[i]);
      });
  std::vector<ColumnRange> ranges;
  for (std::size_t j = 0; j < n_inputs; ++j)
    ranges.push_back({-extremes[2 * j], extremes[2 * j + 1], sums[j] / rows.total_weight()});
  return ranges;
}

std::vector<ColumnSample> column_samples(const BlockedRows& rows, std::uint64_t seed, Workers& workers) {
  constexpr Index kMostRows = 20000;
  constexpr Index kFewestRows = 512;
  constexpr Index kNumbers = Index{1} << 23U;  // 64 MiB
  const Index affordable = std::clamp(kNumbers / std::max<Index>(rows.inputs(), 1), kFewestRows, kMostRows);
  const Index count = std::min(affordable, rows.rows());
  const auto lease = workers.arenas.lend();
  const Arena::Scope scope(*lease);
  const RowBlock block =
      rows.gather(random_rows(rows.rows(), count, seed, RandomStream::kColumnSamples), *lease);
  std::vector<ColumnRange> ranges;
  if (count < rows.rows()) ranges = column_ranges(rows, workers);  // the ends may be missing
  const double unit = weight_unit(rows.weights());
  std::vector<ColumnSample> samples(static_cast<std::size_t>(rows.inputs()));
  workers.run(rows.inputs(), [&](Index j) {
    const auto column = static_cast<std::size_t>(j);
    const double* values = block.input(j);
    if (block.weights == nullptr) {
      std::vector<double> sorted(values, values + count);
      if (!ranges.empty()) sorted.insert(sorted.end(), {ranges[column].lowest, ranges[column].highest});
      hwy::Sorter()(sorted.data(), sorted.size(), hwy::SortAscending());
      for (const double value : sorted) add_largest(value, 1, samples[column]);
      return;
    }
    std::vector<std::pair<double, double>> weighted;
    for (Index n = 0; n < count; ++n) weighted.emplace_back(values[n], block.weights[n]);
    if (!ranges.empty()) {
      weighted.emplace_back(ranges[column].lowest, unit);
      weighted.emplace_back(ranges[column].highest, unit);
    }
    std::ranges::sort(weighted);
    for (const auto& [value, weight] : weighted) add_largest(value, weight, samples[column]);
  });
  return samples;
}

std::vector<double> quantile_knots(const ColumnSample& sample, Index count) {
  const std::vector<double>& distinct = sample.values;
  std::vector<double> weights = sample.weights;
  std::vector<double> knots;
  const auto add_knot_below = [&](std::size_t i) { knots.push_back(between(distinct[i - 1], distinct[i])); };
  if (static_cast<Index>(distinct.size()) - 1 <= count) {
    for (std::size_t i = 1; i < distinct.size(); ++i) add_knot_below(i);
    return knots;
  }
  // A value that fills more than one part by itself, such as a frequent 0, gets one part, and the other knots
  // go where the other values are. Each round may find more such values, now that the parts are smaller.
  constexpr int kRounds = 4;
  double part = 0;
  for (int round = 0; round < kRounds; ++round) {
    part = std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(count + 1);
    for (double& weight : weights) weight = std::min(weight, part);
  }
  part = std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(count + 1);
  double end = 0;
  for (std::size_t i = 0; i < distinct.size() && static_cast<Index>(knots.size()) < count; ++i) {
    end += weights[i];
    // A knot belongs below the value in which its quantile lies.
    if (i > 0 && end > part * static_cast<double>(knots.size() + 1) * (1 - 1e-12)) add_knot_below(i);
  }
  return knots;
}

}  // namespace mfga
