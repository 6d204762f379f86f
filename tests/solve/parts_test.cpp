// The small parts of the solver: the growing factor, the choice of candidates, the multiplier of the norm
// bound.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include "reference_matrices.hpp"
#include "solve/growing_cholesky.hpp"
#include "solve/refit.hpp"
#include "solve/select.hpp"

namespace mfga {
namespace {

TEST(GrowingCholesky, SolvesAfterEachRow) {
  const Index n = 70;
  const Matrix a = reference::random_matrix(100, n, 1);
  const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> map(
      a.values.data(), 100, n);
  const Eigen::MatrixXd gram = map.transpose() * map;
  GrowingCholesky factor;
  for (Index size = 1; size <= n; ++size) {
    std::vector<double> row;
    for (Index j = 0; j < size; ++j) row.push_back(gram(size - 1, j));
    ASSERT_TRUE(factor.append(row, 1e-12));
    const Eigen::VectorXd expected = Eigen::VectorXd::LinSpaced(size, -1, 1);
    const Eigen::VectorXd right = gram.topLeftCorner(size, size) * expected;
    std::vector<double> solution(right.begin(), right.end());
    factor.solve(solution);
    for (Index j = 0; j < size; ++j) ASSERT_NEAR(solution[static_cast<std::size_t>(j)], expected[j], 1e-9);
  }
}

TEST(GrowingCholesky, RefusesDependentRowsAndGoesOn) {
  GrowingCholesky factor;
  ASSERT_TRUE(factor.append(std::vector<double>{4}, 1e-9));
  EXPECT_FALSE(factor.append(std::vector<double>{2, 1}, 1e-9));  // half of the first column
  EXPECT_FALSE(factor.append(std::vector<double>{0, 0}, 1e-9));  // a column of zeros
  EXPECT_FALSE(factor.append(std::vector<double>{std::nan(""), 1}, 1e-9));
  EXPECT_EQ(factor.size(), 1);
  ASSERT_TRUE(factor.append(std::vector<double>{2, 2}, 1e-9));
  std::vector<double> b = {8, 6};
  factor.solve(b);
  EXPECT_NEAR(b[0], 1, 1e-14);
  EXPECT_NEAR(b[1], 2, 1e-14);
}

TEST(LargestGradients, OrdersBySizeThenIndex) {
  const std::vector<double> gradient = {1, -5, 3, 5, 0.5, -3};
  const std::vector<bool> none(6);
  EXPECT_EQ(largest_gradients(gradient, none, 3), (std::vector<Index>{1, 3, 2}));
  EXPECT_EQ(largest_gradients(gradient, none, 1), (std::vector<Index>{1}));
  EXPECT_EQ(largest_gradients(gradient, none, 100), (std::vector<Index>{1, 3, 2, 5, 0, 4}));
  std::vector<bool> excluded(6);
  excluded[1] = true;
  EXPECT_EQ(largest_gradients(gradient, excluded, 2), (std::vector<Index>{3, 2}));
  EXPECT_TRUE(largest_gradients(gradient, std::vector<bool>(6, true), 2).empty());
}

TEST(LargestGradients, TreatsRoundingAsATie) {
  const double a = 2.0;
  const double b = 2.0 * (1 + 1e-15);
  EXPECT_EQ(largest_gradients(std::vector<double>{0, a, b}, std::vector<bool>(3), 1),
            (std::vector<Index>{1}));
  EXPECT_EQ(largest_gradients(std::vector<double>{0, b, -a}, std::vector<bool>(3), 2),
            (std::vector<Index>{1, 2}));
  EXPECT_EQ(largest_gradients(std::vector<double>{1, 2, 2 + 1e-9}, std::vector<bool>(3), 1),
            (std::vector<Index>{2}));
}

TEST(PossiblyLargest, KeepsAllThatTheErrorsDoNotRuleOut) {
  const std::vector<bool> none(5);
  const Gradient exact{{3, -5, 4, 1, 4}, {}};
  EXPECT_EQ(possibly_largest(exact, none, 1), (std::vector<Index>{1}));
  EXPECT_EQ(possibly_largest(exact, none, 2), (std::vector<Index>{1, 2, 4}));  // a tie
  const Gradient inexact{{3, -5, 4, 1, 3.8}, {0.1, 0.6, 0.5, 0.1, 0.1}};
  EXPECT_EQ(possibly_largest(inexact, none, 1), (std::vector<Index>{1, 2}));
  EXPECT_EQ(possibly_largest(inexact, none, 2), (std::vector<Index>{1, 2, 4}));
  EXPECT_EQ(possibly_largest(inexact, {false, true, false, false, false}, 1), (std::vector<Index>{2, 4}));
  EXPECT_EQ(possibly_largest(inexact, none, 9).size(), 5U);
  EXPECT_TRUE(possibly_largest(inexact, std::vector<bool>(5, true), 1).empty());
}

TEST(PossiblyLargest, KnowsInfinityAndNoNumber) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Gradient gradient{{3, infinity, std::nan(""), -infinity, 5}, {}};
  const std::vector<bool> none(5);
  EXPECT_EQ(possibly_largest(gradient, none, 1), (std::vector<Index>{1, 3}));
  EXPECT_EQ(largest_gradients(gradient.values, none, 1), (std::vector<Index>{1}));
  EXPECT_EQ(largest_gradients(gradient.values, none, 5).size(), 4U);
}

TEST(BesideLarger, LeavesThePeaks) {
  const std::vector<bool> none(9);
  const auto peaks = [](const std::vector<double>& gradient, const std::vector<bool>& excluded) {
    const std::vector<bool> beside = beside_larger(gradient, excluded);
    std::vector<std::size_t> left;
    for (std::size_t j = 0; j < beside.size(); ++j) {
      if (!beside[j]) left.push_back(j);
    }
    return left;
  };
  using Places = std::vector<std::size_t>;
  EXPECT_EQ(peaks({1, 2, -9, 2, 1, 1, 1, 1, 8}, none), (Places{2}));  // 8 is six places from 9
  EXPECT_EQ(peaks({1, -9, 2, 2, 1, 1, 1, 1, 8}, none), (Places{1, 8}));
  // As good as the same: the first, whichever side rounding takes.
  EXPECT_EQ(peaks({0, 4.001, 4.002, 0, 0, 0, 0, 0, 0}, none), (Places{1}));
  EXPECT_EQ(peaks({0, 4.002, -4.001, 0, 0, 0, 0, 0, 0}, none), (Places{1}));
  // What is excluded, or no number, outshines nobody.
  std::vector<bool> excluded = none;
  excluded[2] = true;
  EXPECT_EQ(peaks({1, 2, 9, 2, 1, std::nan(""), 1, 1, 1}, excluded), (Places{1}));
  EXPECT_TRUE(peaks({1, 2, 3, 4, 5, 6, 7, 8, 9}, std::vector<bool>(9, true)).empty());
  EXPECT_TRUE(peaks(std::vector<double>(9, 0.0), none).empty());
}

TEST(NormBound, FindsTheMultiplier) {
  // |theta(m)| = 10 / (1 + m): the bound 2 is met at m = 4.
  double last = -1;
  const double multiplier = meet_norm_bound(2, 1e-12, 1e-3, [&](double m) {
    last = m;
    return 10 / (1 + m);
  });
  EXPECT_NEAR(multiplier, 4, 1e-10);
  EXPECT_EQ(multiplier, last);
  EXPECT_EQ(meet_norm_bound(20, 1e-12, 1e-3, [](double m) { return 10 / (1 + m); }), 0);
  // The first guess is right, which only shows beyond it: the solution kept must still be the one there.
  EXPECT_EQ(meet_norm_bound(5, 1e-12, 1,
                            [&](double m) {
                              last = m;
                              return 10 / (1 + m);
                            }),
            1);
  EXPECT_EQ(last, 1);
  // A curve far from the ideal one.
  EXPECT_NEAR(meet_norm_bound(1, 1e-12, 1e-6, [](double m) { return 5 * std::exp(-m * m); }),
              std::sqrt(std::log(5.0)), 1e-9);
}

}  // namespace
}  // namespace mfga
