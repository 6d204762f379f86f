#include "core/row_kernels.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>

#include "core/row_blocks.hpp"
#include "on_every_target.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

using RowKernels = OnEveryTarget;

template <class T>
void expect_products_of_the_naive_loop() {
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
        const std::vector<T> a_values(a.values.begin(), a.values.end());
        const std::vector<T> b_values(b.values.begin(), b.values.end());
        add_row_products(a_values.data(), a_rows, a.cols, b_values.data(), b_rows, b.cols, count,
                         c.values.data(), c.cols);
        ASSERT_EQ(c.values, expected.values) << a_rows << " x " << b_rows << " x " << count;
      }
    }
  }
}

TEST_F(RowKernels, ProductsEqualTheNaiveLoop) {
  run(expect_products_of_the_naive_loop<double>);
  run(expect_products_of_the_naive_loop<float>);
}

TEST_F(RowKernels, SingleProductsKeepTheirErrorBound) {
  const Matrix a = reference::random_matrix(1, kBlockRows, 6);
  const Matrix b = reference::random_matrix(7, kBlockRows, 7);
  const std::vector<float> a_values(a.values.begin(), a.values.end());
  const std::vector<float> b_values(b.values.begin(), b.values.end());
  run([&] {
    for (const Index count : {1, 100, 511, 512}) {
      std::vector<double> c(7);
      add_row_products(a_values.data(), 1, kBlockRows, b_values.data(), 7, kBlockRows, count, c.data(), 7);
      for (Index j = 0; j < 7; ++j) {
        double exact = 0;
        double magnitude = 0;
        for (Index n = 0; n < count; ++n) {
          const auto i = static_cast<std::size_t>(n);
          const double product = static_cast<double>(a_values[i]) *
                                 static_cast<double>(b_values[static_cast<std::size_t>(j * kBlockRows) + i]);
          exact += product;
          magnitude += std::abs(product);
        }
        EXPECT_LE(std::abs(c[static_cast<std::size_t>(j)] - exact), single_product_error(count) * magnitude);
        EXPECT_LT(single_product_error(count), 1e-4);
      }
    }
  });
}

TEST_F(RowKernels, RowsAreStandardised) {
  const Matrix table = reference::random_matrix(kRowTile + kRowsAhead, 23, 8);
  Standardiser how;
  // Runs, gaps, any order; also four that begin and end as a run does.
  for (const Index column : {0, 1, 2, 3, 4, 6, 5, 7, 9, 10, 11, 12, 22, 21, 8, 13, 13, 15, 16}) {
    how.columns.push_back(column);
    how.means.push_back(0.1 * static_cast<double>(column));
    how.inverse_deviations.push_back(2);
  }
  std::vector<const double*> rows;
  for (Index r = 0; r < table.rows; ++r) rows.push_back(table.row(r));
  run([&] {
    std::vector<double> values(how.columns.size() * kRowTile);
    std::vector<double> norms(kRowTile);
    standardise_rows(rows.data(), kRowTile, 1, how, values.data(), kRowTile, norms.data());
    for (Index r = 0; r < kRowTile; ++r) {
      double square = 0;
      for (std::size_t j = 0; j < how.columns.size(); ++j) {
        const double expected = (table(r, how.columns[j]) - how.means[j]) * 2;
        EXPECT_DOUBLE_EQ(values[j * kRowTile + static_cast<std::size_t>(r)], expected);
        square += expected * expected;
      }
      EXPECT_NEAR(norms[static_cast<std::size_t>(r)], square, 1e-13 * square);
    }
  });
}

TEST_F(RowKernels, SumsEqualTheNaiveLoop) {
  run([] {
    for (const Index count : {0, 1, 7, 8, 31, 32, 33, 100}) {
      const Matrix row = whole_numbers(1, count, 6);
      EXPECT_EQ(row_sum(row.values.data(), count),
                std::accumulate(row.values.begin(), row.values.end(), 0.0));
    }
  });
}

TEST_F(RowKernels, ExponentialsAreAccurateAndVanishWithoutNonsense) {
  run([] {
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
  });
}

TEST_F(RowKernels, RootsAndLogarithmsAreAccurate) {
  run([] {
    std::vector<double> values;
    for (double v = 1e-300; v < 1e300; v *= 1.7) values.push_back(v);
    std::vector<double> out(values.size());
    logarithms(values.data(), static_cast<Index>(values.size()), out.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double expected = std::log(values[i]);
      ASSERT_NEAR(out[i], expected, 1e-15 * (1 + std::abs(expected))) << values[i];
    }
    values[0] = 0;
    square_roots(values.data(), static_cast<Index>(values.size()), out.data());
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(out[i], std::sqrt(values[i]));
  });
}

template <class T>
void expect_functions_of_numbers(double tolerance) {
  const Index count = 77;
  std::vector<T> values;
  for (Index n = 0; n < count; ++n) values.push_back(static_cast<T>(0.37 * static_cast<double>(n) - 11.3));
  std::vector<T> out(values.size());
  exponentials(values.data(), static_cast<T>(-0.5), count, out.data());
  for (std::size_t n = 0; n < out.size(); ++n) {
    const double expected = std::exp(-0.5 * static_cast<double>(values[n]));
    EXPECT_NEAR(static_cast<double>(out[n]), expected, 8 * tolerance * expected);
  }
  cosines(values.data(), static_cast<T>(2), count, out.data());
  for (std::size_t n = 0; n < out.size(); ++n)
    EXPECT_NEAR(static_cast<double>(out[n]), 2 * std::cos(static_cast<double>(values[n])), 8 * tolerance);
}

TEST_F(RowKernels, ExponentialsAndCosinesInBothPrecisions) {
  run([] {
    expect_functions_of_numbers<double>(0x1p-52);
    expect_functions_of_numbers<float>(0x1p-23);
    std::vector<float> smallest = {-1000, -80, -81};
    exponentials(smallest.data(), 1, 3, smallest.data());
    for (const float value : smallest) EXPECT_NEAR(value / std::exp(-80.0F), 1, 1e-5);
    std::vector<double> far = {1, 123456.75, -1e9, 2};
    std::vector<double> out(4);
    cosines(far.data(), 1, 4, out.data());
    for (std::size_t n = 0; n < 4; ++n) EXPECT_NEAR(out[n], std::cos(far[n]), 1e-15);
    std::vector<float> beyond = {1e8F, 0};
    cosines(beyond.data(), 3, 2, beyond.data());
    EXPECT_EQ(beyond, (std::vector<float>{3, 3}));
  });
}

template <class T>
void expect_distances_and_transforms() {
  for (const Index count : {1, 5, 64, 77}) {
    const Matrix x = whole_numbers(8, count + 2, 5);
    const Matrix c = whole_numbers(1, 8, 6);
    std::vector<T> values(x.values.begin(), x.values.end());
    const std::vector<T> centre(c.values.begin(), c.values.end());
    std::vector<T> out(static_cast<std::size_t>(count));
    absolute_distances(values.data(), 8, x.cols, centre.data(), count, out.data());
    for (Index n = 0; n < count; ++n) {
      double expected = 0;
      for (Index j = 0; j < 8; ++j) expected += std::abs(x(j, n) - c(0, j));
      EXPECT_EQ(static_cast<double>(out[static_cast<std::size_t>(n)]), expected);
    }
    hadamard_transform(values.data(), 8, x.cols);
    for (Index i = 0; i < 8; ++i) {
      for (Index n = 0; n < x.cols; ++n) {
        double expected = 0;
        for (Index j = 0; j < 8; ++j)
          expected += (std::popcount(static_cast<unsigned>(i & j)) % 2 == 0 ? 1 : -1) * x(j, n);
        EXPECT_EQ(static_cast<double>(values[static_cast<std::size_t>(i * x.cols + n)]), expected);
      }
    }
  }
}

TEST_F(RowKernels, AbsoluteDistancesAndHadamardTransforms) {
  run([] {
    expect_distances_and_transforms<double>();
    expect_distances_and_transforms<float>();
  });
}

}  // namespace
}  // namespace mfga
