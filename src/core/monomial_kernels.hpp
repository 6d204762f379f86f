// Sums of products of inputs over the rows of a block, without the products ever being stored.
#pragma once

#include <span>
#include <vector>

#include "mfga/views.hpp"

namespace mfga {

// (constant + sum over k of coefficients[k] * row summands[k]) * the product of the rows `factors`.
struct SumTimesRows {
  double constant = 0;
  std::vector<Index> summands;
  std::vector<double> coefficients;
  std::vector<Index> factors;
};

// out[n] = sum over `sums` of their values at place n of the rows, which lie `stride` apart; n < count. The
// same for a row by itself as among others, to the last bit.
void set_sums_times_rows(std::span<const SumTimesRows> sums, const double* rows, Index stride, Index count,
                         double* out);

// c[i * c_stride + j] += sum over n < count of first[i][n] * second[i][n] * b[j * b_stride + n],
// i < n_pairs, j < b_rows. Fastest where neighbours have a row in common.
void add_pair_products(const double* const* first, const double* const* second, Index n_pairs,
                       const double* b, Index b_rows, Index b_stride, Index count, double* c, Index c_stride);

}  // namespace mfga
