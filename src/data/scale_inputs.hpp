// Robust and quantile scales, found from the training rows: the standardisation that they begin with, and the
// warp that follows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/row_blocks.hpp"
#include "mfga/views.hpp"

namespace mfga {

// The standardised inputs of x under other scales, one for each.
//   robust:   (x - median) / spread, cut to [-5, 5]; the spread is the interquartile range / 1.349, or the
//             standard deviation where that is 0
//   quantile: to a normal distribution, through at most 257 quantiles
// Columns of 0 and 1 stay as they are, and under `quantile` all that have fewer than 10 distinct values.
// Quantiles are exact up to 100,000 rows, and beyond that those of as many rows, drawn by the seed. Rows
// count as often as their weights say; no weights: once.
[[nodiscard]] std::vector<InputColumn> scale_inputs(std::vector<InputColumn> inputs,
                                                    std::span<const ScaleKind> scales, const TableView& x,
                                                    std::uint64_t seed, Workers& workers,
                                                    std::span<const double> weights = {});

}  // namespace mfga
