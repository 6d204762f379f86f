// Candidates whose values are kept for some rows say what they said before.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "features/candidates.hpp"
#include "features/expressions.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

constexpr double kPlenty = 1e9;
constexpr Index kInputs = 5;
constexpr Index kRows = 1300;

TEST(KeptCandidates, HaveTheSameAtomsSumsAndNorms) {
  const Matrix x = reference::random_matrix(kRows, kInputs, 21);
  const Matrix weights = reference::random_matrix(2, kRows, 22);
  std::vector<double> row_weights = reference::random_vector(kRows, 23);
  std::ranges::transform(row_weights, row_weights.begin(), [](double w) { return std::abs(w); });
  Workers workers(2);
  const auto columns = [&](const RowBlock& block, Arena&, double*) {
    return Candidates::BlockColumns{weights.values.data() + block.first_row, kRows};
  };
  for (const std::string& expression : kExpressions) {
    const BoundCandidates bound(expression, 100, kInputs);
    for (const std::vector<double>& of_rows : {std::vector<double>(), row_weights}) {
      const BlockedRows rows = BlockedRows(x.view(), reference::plain_inputs(kInputs)).weighted(of_rows);
      const Candidates& plain = bound.candidates;
      const Candidates kept = plain.kept_for(rows, workers, kPlenty);
      ASSERT_EQ(kept.size(), plain.size());
      const std::vector<double> sums = plain.sums(rows, workers, 2, 0, columns);
      const std::vector<double> kept_sums = kept.sums(rows, workers, 2, 0, columns);
      const std::vector<double> norms = plain.square_norms(rows, workers);
      const std::vector<double> kept_norms = kept.square_norms(rows, workers);
      // The first column in single precision and the second in double.
      const std::vector<double> with_single = kept.sums(rows, workers, 2, 0, columns, true);
      const std::vector<double> errors = kept.single_errors(rows, workers);
      const double length =
          std::sqrt(std::inner_product(weights.row(0), weights.row(1), weights.row(0), 0.0));
      for (Index j = 0; j < plain.size(); ++j) {
        const auto i = static_cast<std::size_t>(j);
        const auto second = static_cast<std::size_t>(plain.size() + j);
        const double tolerance = 1e-11 * (1 + std::sqrt(norms[i]) * length);
        EXPECT_EQ(kept.atom(j).parameters, plain.atom(j).parameters);
        ASSERT_NEAR(kept_norms[i], norms[i], 1e-11 * norms[i]) << expression;
        ASSERT_NEAR(kept_sums[i], sums[i], tolerance) << expression;
        ASSERT_NEAR(kept_sums[second], sums[second], tolerance) << expression;
        ASSERT_NEAR(with_single[i], sums[i], errors[i] * length + tolerance) << expression;
        ASSERT_NEAR(with_single[second], sums[second], tolerance) << expression;
      }
    }
  }
}

TEST(KeptCandidates, TakeNoMoreThanTheyMay) {
  const BoundCandidates bound("landmark(count=50) + landmark(count=20, sigma=2) + step(knots=40)", 600, 3);
  Workers workers(2);
  const auto has_single = [&](double most_bytes) {
    return bound.candidates.kept_for(bound.rows, workers, most_bytes).have_single();
  };
  // What is kept is in double precision.
  constexpr double kFirst = 600 * 50 * 8;
  constexpr double kSecond = 600 * 20 * 8;
  EXPECT_TRUE(has_single(0));
  EXPECT_TRUE(has_single(kFirst));
  EXPECT_TRUE(has_single(kFirst + kSecond - 1));
  EXPECT_FALSE(has_single(kFirst + kSecond));
}

TEST(KeptCandidates, AreScaledAsTheyWere) {
  BoundCandidates bound("landmark(count=30) + hinge(knots=20)", 600, 3);
  Workers workers(2);
  bound.candidates.normalise(bound.rows, false, workers);
  const Candidates kept = bound.candidates.kept_for(bound.rows, workers, kPlenty);
  for (const double norm : kept.square_norms(bound.rows, workers)) EXPECT_NEAR(norm, 600, 1e-8);
}

}  // namespace
}  // namespace mfga
