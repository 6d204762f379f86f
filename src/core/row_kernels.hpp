// C += A B^T, and elementary functions, for matrices whose rows are a block's
// values: a few hundred contiguous numbers each; and how such a block is made from the rows of a table.
//
// Every entry is a dot product of two contiguous rows that lie in the second-level cache, so nothing has to
// be packed or copied, which is what costs BLAS most of its time at these sizes.
#pragma once

#include <vector>

#include "mfga/views.hpp"

namespace mfga {

// c[i * c_stride + j] += sum over n < count of a[i * a_stride + n] * b[j * b_stride + n],
// i < a_rows, j < b_rows.
void add_row_products(const double* a, Index a_rows, Index a_stride, const double* b, Index b_rows,
                      Index b_stride, Index count, double* c, Index c_stride);
void add_row_products(const float* a, Index a_rows, Index a_stride, const float* b, Index b_rows,
                      Index b_stride, Index count, double* c, Index c_stride);
// The relative error that add_row_products in single precision makes at most, per entry, in units of
// sum over n of |a_n b_n|.
[[nodiscard]] double single_product_error(Index count);

// The sum of values[n], n < count.
[[nodiscard]] double row_sum(const double* values, Index count);

// out[n] = exp(factor * values[n]), n < count. In single precision, what is less than exp(kLowestExponent) is
// exp(kLowestExponent): smaller numbers would only slow the arithmetic down, as denormal ones do.
inline constexpr float kLowestExponent = -80;
void exponentials(const double* values, double factor, Index count, double* out);
void exponentials(const float* values, float factor, Index count, float* out);

// out[n] = sqrt(values[n]), n < count, for values that are not negative.
void square_roots(const double* values, Index count, double* out);

// out[n] = log(values[n]), n < count, for positive values.
void logarithms(const double* values, Index count, double* out);

// out[n] = factor * cos(values[n]), n < count. In single precision, angles beyond kFarthestAngle count as 0.
inline constexpr float kFarthestAngle = 30000;
void cosines(const double* values, double factor, Index count, double* out);
void cosines(const float* values, float factor, Index count, float* out);

// out[n] = sum over j < n_rows of |rows[j * stride + n] - centre[j]|, n < count.
void absolute_distances(const double* rows, Index n_rows, Index stride, const double* centre, Index count,
                        double* out);
void absolute_distances(const float* rows, Index n_rows, Index stride, const float* centre, Index count,
                        float* out);

// Multiplies the columns of rows[n_rows x count] by the Hadamard matrix of +1 and -1 (Sylvester's order);
// n_rows is a power of two.
void hadamard_transform(double* rows, Index n_rows, Index count);
void hadamard_transform(float* rows, Index n_rows, Index count);

// Which columns of a table become inputs, and how: (x - mean) * inverse_deviation.
struct Standardiser {
  std::vector<Index> columns;
  std::vector<double> means;
  std::vector<double> inverse_deviations;
};

// How many rows standardise_rows takes at a time, and how far it looks ahead.
inline constexpr Index kRowTile = 8;
inline constexpr Index kRowsAhead = 24;

// values[j * stride + n] = input j of rows[n], and the rows' square norms, for n < count, a multiple of
// kRowTile. `rows` holds count + kRowsAhead pointers: the last ones say what will be wanted soon. The numbers
// of a row lie col_stride apart.
void standardise_rows(const double* const* rows, Index count, Index col_stride, const Standardiser& how,
                      double* values, Index stride, double* square_norms);

}  // namespace mfga
