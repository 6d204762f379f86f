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
// Of every input, over all rows.
[[nodiscard]] std::vector<ColumnRange> column_ranges(const BlockedRows& rows);

// The values of every input, in ascending order, on random rows (all, if there are few), with the lowest and
// the highest of all rows.
[[nodiscard]] std::vector<std::vector<double>> column_samples(const BlockedRows& rows, std::uint64_t seed);

// At most `count` ascending numbers near the quantiles of ascending values, each between two neighbouring
// different values. Where there are at most `count` such gaps, each has one.
[[nodiscard]] std::vector<double> quantile_knots(std::span<const double> values, Index count);

}  // namespace mfga
