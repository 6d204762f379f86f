// Products of a hinge of one input and a hinge of another, all of two inputs together. Within a bin of each
// they are bilinear, so that a row adds to four sums of one cell, whatever the number of knots.
#pragma once

#include <cstdint>

#include "core/arena.hpp"
#include "features/knot_bins.hpp"

namespace mfga {

// The rows of a block on one input.
struct BinnedRows {
  const KnotBins* knots;
  const std::uint16_t* bins;
  const double* from_lower;  // x less the knot below
};

// Two columns of weights, and these times the distance to the knot below on some input.
struct WeightedRow {
  Two weight;
  Two from_lower;
};

void set_weighted_rows(const double* weights, const double* more_weights, const BinnedRows& input, Index rows,
                       WeightedRow* out);

// out[i * hinges of the second + j] = the sums of weight * hinge i of the first input * hinge j of the
// second, in the order of for_each_hinge. `weighted` is that of the first input.
void set_hinge_products(const BinnedRows& first, const WeightedRow* weighted, const BinnedRows& second,
                        Index rows, Two* out, Arena& arena);

}  // namespace mfga
