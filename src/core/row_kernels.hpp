// C += A B^T, linear combinations of rows, exponentials and cosines, for matrices whose rows are a block's
// values: a few hundred contiguous numbers each.
//
// Every entry is a dot product of two contiguous rows that lie in the second-level cache, so nothing has to
// be packed or copied, which is what costs BLAS most of its time at these sizes.
#pragma once

#include "mfga/views.hpp"

namespace mfga {

// c[i * c_stride + j] += sum over n < count of a[i * a_stride + n] * b[j * b_stride + n],
// i < a_rows, j < b_rows.
void add_row_products(const double* a, Index a_rows, Index a_stride, const double* b, Index b_rows,
                      Index b_stride, Index count, double* c, Index c_stride);

// out[n] = sum over k of coefficients[k] * rows[k][n], n < count.
void combine_rows(const double* const* rows, const double* coefficients, Index n_rows, Index count,
                  double* out);

// out[n] = exp(factor * values[n]), n < count.
void exponentials(const double* values, double factor, Index count, double* out);

// out[n] = factor * cos(values[n]), n < count. |values| up to some 1e4 keep their accuracy.
void cosines(const double* values, double factor, Index count, double* out);

}  // namespace mfga
