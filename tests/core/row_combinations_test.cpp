#include "core/row_combinations.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reference.hpp"

namespace mfga {
namespace {

TEST(RowCombinations, AreSumsOfProducts) {
  for (const Index count : {1, 2, 3, 7, 8, 17, 64, 530}) {
    for (const Index n_rows : {0, 1, 2, 9}) {
      for (const Index n_out : {1, 2, 4, 7}) {
        const Matrix rows = reference::random_matrix(n_rows, count + 3, 1);
        const Matrix coefficients = reference::random_matrix(n_out, n_rows, 2);
        Matrix out(n_out, count + 1);
        set_combinations(coefficients.values.data(), n_out, rows.values.data(), n_rows, rows.cols, count,
                         out.values.data(), out.cols);
        std::vector<double> added(static_cast<std::size_t>(count), 0.5);
        add_combination(coefficients.values.data(), rows.values.data(), n_rows, rows.cols, count,
                        added.data());
        for (Index n = 0; n < count; ++n) {
          for (Index i = 0; i < n_out; ++i) {
            double expected = 0;
            for (Index k = 0; k < n_rows; ++k) expected += coefficients(i, k) * rows(k, n);
            ASSERT_NEAR(out(i, n), expected, 1e-13) << count << ' ' << n_rows << ' ' << n_out;
            if (i == 0) {
              ASSERT_NEAR(added[static_cast<std::size_t>(n)], 0.5 + expected, 1e-13);
            }
          }
        }
        for (Index i = 0; i < n_out; ++i) ASSERT_EQ(out(i, count), 0) << "beyond the end";
      }
    }
  }
}

TEST(RowCombinations, DoNotDependOnThePlace) {
  constexpr Index kRows = 30;
  constexpr Index kOut = 7;
  constexpr Index kCount = 75;
  const Matrix rows = reference::random_matrix(kRows, kCount, 3);
  const Matrix coefficients = reference::random_matrix(kOut, kRows, 4);
  Matrix out(kOut, kCount);
  set_combinations(coefficients.values.data(), kOut, rows.values.data(), kRows, kCount, kCount,
                   out.values.data(), kCount);
  std::vector<double> added(kCount, 0.5);
  add_combination(coefficients.values.data(), rows.values.data(), kRows, kCount, kCount, added.data());
  for (Index n = 0; n < kCount; ++n) {
    std::vector<double> own(kOut);
    double own_added = 0.5;
    set_combinations(coefficients.values.data(), kOut, rows.values.data() + n, kRows, kCount, 1, own.data(),
                     1);
    add_combination(coefficients.values.data(), rows.values.data() + n, kRows, kCount, 1, &own_added);
    for (Index i = 0; i < kOut; ++i) EXPECT_EQ(own[static_cast<std::size_t>(i)], out(i, n));
    EXPECT_EQ(own_added, added[static_cast<std::size_t>(n)]);
  }
}

}  // namespace
}  // namespace mfga
