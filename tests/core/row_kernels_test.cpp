#include "core/row_kernels.hpp"

#include <gtest/gtest.h>

#include "reference.hpp"

namespace mfga {
namespace {

// Whole numbers, so that sums are exact in any order.
Matrix whole_numbers(Index rows, Index cols, unsigned seed) {
  Matrix matrix = reference::random_matrix(rows, cols, seed);
  for (double& value : matrix.values) value = std::round(4 * value);
  return matrix;
}

TEST(RowKernels, ProductsEqualTheNaiveLoop) {
  for (const Index a_rows : {1, 2, 3, 5, 6, 7, 12, 13}) {
    for (const Index b_rows : {1, 3, 4, 5, 9}) {
      for (const Index count : {0, 1, 7, 8, 9, 64, 129}) {
        const Matrix a = whole_numbers(a_rows, count + 3, 1);
        const Matrix b = whole_numbers(b_rows, count + 1, 2);
        Matrix c = whole_numbers(a_rows, b_rows + 2, 3);
        Matrix expected = c;
        for (Index i = 0; i < a_rows; ++i) {
          for (Index j = 0; j < b_rows; ++j) {
            for (Index n = 0; n < count; ++n) expected(i, j) += a(i, n) * b(j, n);
          }
        }
        add_row_products(a.values.data(), a_rows, a.cols, b.values.data(), b_rows, b.cols, count,
                         c.values.data(), c.cols);
        ASSERT_EQ(c.values, expected.values) << a_rows << " x " << b_rows << " x " << count;
      }
    }
  }
}

TEST(RowKernels, CombinationsEqualTheNaiveLoop) {
  for (const Index n_rows : {0, 1, 2, 17}) {
    for (const Index count : {0, 1, 31, 32, 33, 100}) {
      const Matrix rows = whole_numbers(n_rows, count, 4);
      const Matrix coefficients = whole_numbers(n_rows, 1, 5);
      std::vector<const double*> pointers;
      for (Index k = 0; k < n_rows; ++k) pointers.push_back(rows.row(k));
      std::vector<double> out(static_cast<std::size_t>(count), -1);
      combine_rows(pointers.data(), coefficients.values.data(), n_rows, count, out.data());
      for (Index n = 0; n < count; ++n) {
        double expected = 0;
        for (Index k = 0; k < n_rows; ++k) expected += coefficients(k, 0) * rows(k, n);
        ASSERT_EQ(out[static_cast<std::size_t>(n)], expected);
      }
    }
  }
}

TEST(RowKernels, ExponentialsAreAccurateAndVanishWithoutNonsense) {
  std::vector<double> values;
  for (double v = 0; v < 600; v += 0.37) values.push_back(v);
  std::vector<double> out(values.size());
  exponentials(values.data(), -1, static_cast<Index>(values.size()), out.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(out[i] / std::exp(-values[i]), 1, 1e-15 * 8) << values[i];
  }
  const std::vector<double> large(11, 1e6);
  exponentials(large.data(), -1, 11, out.data());
  for (std::size_t i = 0; i < large.size(); ++i) EXPECT_EQ(out[i], 0);
}

}  // namespace
}  // namespace mfga
