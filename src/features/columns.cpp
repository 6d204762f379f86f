#include "features/columns.hpp"

#include <algorithm>
#include <numeric>

#include "core/random.hpp"

namespace mfga {
namespace {

// Above `low`, at most `high`, and between the two if there is a number between them.
double between(double low, double high) {
  const double middle = low + (high - low) / 2;
  return middle > low ? middle : high;
}

}  // namespace

std::vector<ColumnRange> column_ranges(const BlockedRows& rows) {
  std::vector<ColumnRange> ranges(static_cast<std::size_t>(rows.inputs()));
  Arena arena;
  for (Index b = 0; b < rows.blocks(); ++b) {
    const Arena::Scope scope(arena);
    const RowBlock block = rows.load(b, arena);
    for (Index j = 0; j < block.inputs; ++j) {
      ColumnRange& range = ranges[static_cast<std::size_t>(j)];
      const double* x = block.input(j);
      const auto [lowest, highest] = std::minmax_element(x, x + block.rows);
      range.lowest = b == 0 ? *lowest : std::min(range.lowest, *lowest);
      range.highest = b == 0 ? *highest : std::max(range.highest, *highest);
      range.mean += std::accumulate(x, x + block.rows, 0.0) / static_cast<double>(rows.rows());
    }
  }
  return ranges;
}

std::vector<std::vector<double>> column_samples(const BlockedRows& rows, std::uint64_t seed) {
  constexpr Index kMostRows = 20000;
  constexpr Index kFewestRows = 512;
  constexpr Index kNumbers = Index{1} << 23U;  // 64 MiB
  const Index affordable = std::clamp(kNumbers / std::max<Index>(rows.inputs(), 1), kFewestRows, kMostRows);
  const Index count = std::min(affordable, rows.rows());
  Arena arena;
  const RowBlock block =
      rows.gather(random_rows(rows.rows(), count, seed, RandomStream::kColumnSamples), arena);
  const std::vector<ColumnRange> ranges = column_ranges(rows);
  std::vector<std::vector<double>> samples;
  for (Index j = 0; j < rows.inputs(); ++j) {
    std::vector<double>& values = samples.emplace_back(block.input(j), block.input(j) + count);
    if (count < rows.rows()) {  // the ends may be missing
      values.push_back(ranges[static_cast<std::size_t>(j)].lowest);
      values.push_back(ranges[static_cast<std::size_t>(j)].highest);
    }
    std::sort(values.begin(), values.end());
  }
  return samples;
}

std::vector<double> quantile_knots(std::span<const double> values, Index count) {
  std::vector<double> distinct;
  std::vector<double> weights;  // how often each occurs
  for (const double value : values) {
    if (distinct.empty() || value != distinct.back()) {
      distinct.push_back(value);
      weights.push_back(0);
    }
    ++weights.back();
  }
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
