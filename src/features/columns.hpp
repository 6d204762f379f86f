// What families of functions of single inputs look up in the training rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/row_blocks.hpp"

namespace mfga {

struct ColumnRange {
  double lowest = 0;
  double highest = 0;
  double mean = 0;
};
// Of every input, over all rows; means are by the rows' weights.
[[nodiscard]] std::vector<ColumnRange> column_ranges(const BlockedRows& rows, Workers& workers);

// Different values of an input, in ascending order, and how often each occurs, by the rows' weights.
struct ColumnSample {
  std::vector<double> values;
  std::vector<double> weights;
};
// Of every input, on random rows (all, if there are few), with the lowest and the highest of all rows.
[[nodiscard]] std::vector<ColumnSample> column_samples(const BlockedRows& rows, std::uint64_t seed,
                                                       Workers& workers);

// At most `count` ascending numbers near the quantiles, each between two neighbouring values. Where there are
// at most `count` such gaps, each has one.
[[nodiscard]] std::vector<double> quantile_knots(const ColumnSample& sample, Index count);

}  // namespace mfga
