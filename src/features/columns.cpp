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
  std::vector<double> distinct(values.begin(), values.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const auto gaps = static_cast<Index>(distinct.size()) - 1;
  std::vector<std::size_t> upper_ends;  // of the gaps with a knot, as positions in `distinct`
  if (gaps <= count) {
    for (Index gap = 1; gap <= gaps; ++gap) upper_ends.push_back(static_cast<std::size_t>(gap));
  } else {
    const auto size = static_cast<Index>(values.size());
    for (Index k = 1; k <= count; ++k) {
      const double quantile = values[static_cast<std::size_t>(size * k / (count + 1))];
      const auto position = static_cast<std::size_t>(
          std::lower_bound(distinct.begin(), distinct.end(), quantile) - distinct.begin());
      const std::size_t upper_end = std::max<std::size_t>(position, 1);
      if (upper_ends.empty() || upper_ends.back() != upper_end) upper_ends.push_back(upper_end);
    }
  }
  std::vector<double> knots;
  for (const std::size_t upper_end : upper_ends)
    knots.push_back(between(distinct[upper_end - 1], distinct[upper_end]));
  return knots;
}

}  // namespace mfga
