// Linear combinations of the rows of a matrix whose rows are a block's values. Every sum is made in the order
// of the rows with the same fused operation, so that a result does not depend on its place in the block, nor
// on how many rows the block has: a row by itself gets what it gets among others.
#pragma once

#include "mfga/views.hpp"

namespace mfga {

// out[i * out_stride + n] = sum over k < n_rows of coefficients[i * n_rows + k] * rows[k * stride + n],
// i < n_out, n < count.
void set_combinations(const double* coefficients, Index n_out, const double* rows, Index n_rows, Index stride,
                      Index count, double* out, Index out_stride);

// out[n] += sum over k < n_rows of coefficients[k] * rows[k * stride + n], n < count.
void add_combination(const double* coefficients, const double* rows, Index n_rows, Index stride, Index count,
                     double* out);

}  // namespace mfga
