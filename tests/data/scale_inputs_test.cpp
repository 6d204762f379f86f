#include "data/scale_inputs.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/standardise.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

// Columns: normal, log-normal, 0 or 1, five values, half of it one value, and a few among zeros.
Matrix sample(Index rows) {
  Matrix x = reference::random_matrix(rows, 6, 11);
  for (Index i = 0; i < rows; ++i) {
    x(i, 1) = std::exp(3 * x(i, 1));
    x(i, 2) = x(i, 2) > 0.3 ? 1 : 0;
    x(i, 3) = std::round(std::clamp(x(i, 3), -2.0, 2.0));
    x(i, 4) = std::max(x(i, 4), 0.0);
    x(i, 5) = i % 10 == 0 ? x(i, 5) : 0;
  }
  return x;
}

std::vector<InputColumn> scaled(const Matrix& x, ScaleKind scale, int threads = 2) {
  Workers workers(threads);
  const std::vector<InputColumn> standard = fit_standardisation(x.view(), workers).inputs;
  return scale_inputs(standard, std::vector<ScaleKind>(standard.size(), scale), x.view(), 3, workers);
}

double square_deviation(const std::vector<double>& values) {
  double square = 0;
  for (const double value : values) square += value * value;
  return square / static_cast<double>(values.size());
}

TEST(Scales, SubsetsHaveTheValuesOfTheirRows) {
  const Matrix x = sample(1500);
  std::vector<Index> every_third;
  for (Index n = 1499; n >= 0; n -= 3) every_third.push_back(n);
  const std::vector<Index> some = {7, 0, 250};
  const std::vector<double> factors = {1.5, 0.3, 2, 1, 0.7, 1.1};
  const std::vector<double> more = {0.9, 1.7, 1, 3, 1.3, 0.6};
  for (const ScaleKind scale : {ScaleKind::kRobust, ScaleKind::kQuantile}) {
    const BlockedRows all(x.view(), scaled(x, scale));
    const BlockedRows stretched = all.stretched(factors);
    // Stretched after and before, and a part of a part.
    const BlockedRows after = all.subset(every_third).stretched(factors);
    const BlockedRows before = stretched.subset(every_third);
    const BlockedRows part = after.stretched(more).subset(some);
    Arena arena;
    std::vector<Index> of_part;
    for (const Index n : some) of_part.push_back(every_third[static_cast<std::size_t>(n)]);
    const RowBlock block = stretched.gather(every_third, arena);
    const RowBlock gathered = after.gather(some, arena);
    const RowBlock expected_part = stretched.stretched(more).gather(of_part, arena);
    const RowBlock loaded = after.load(0, arena);
    const RowBlock loaded_before = before.load(0, arena);
    const RowBlock loaded_part = part.load(0, arena);
    ASSERT_EQ(loaded.rows, 500);
    for (Index j = 0; j < 6; ++j) {
      for (Index n = 0; n < loaded.rows; ++n) {
        ASSERT_EQ(loaded.input(j)[n], block.input(j)[n]);
        ASSERT_EQ(loaded_before.input(j)[n], block.input(j)[n]);
        ASSERT_EQ(loaded.square_norms[n], block.square_norms[n]);
      }
      for (Index n = 0; n < 3; ++n) {
        ASSERT_EQ(gathered.input(j)[n], block.input(j)[some[static_cast<std::size_t>(n)]]);
        ASSERT_EQ(loaded_part.input(j)[n], expected_part.input(j)[n]);
      }
      EXPECT_EQ(after.standardised(j, 0.4), stretched.standardised(j, 0.4));
    }
  }
}

TEST(Scales, StandardIsLeftAlone) {
  const Matrix x = sample(500);
  for (const InputColumn& input : scaled(x, ScaleKind::kStandard))
    EXPECT_EQ(input.warp.kind(), ScaleKind::kStandard);
}

TEST(Scales, RobustIsMedianAndInterquartileRange) {
  const Matrix x = sample(2001);
  const std::vector<InputColumn> standard = scaled(x, ScaleKind::kStandard);
  const std::vector<InputColumn> robust = scaled(x, ScaleKind::kRobust);
  std::vector<double> values;
  for (Index i = 0; i < x.rows; ++i) values.push_back(x(i, 1));
  std::ranges::sort(values);
  EXPECT_DOUBLE_EQ(robust[1].mean, values[1000]);
  EXPECT_NEAR(robust[1].deviation, (values[1500] - values[500]) / 1.349, 1e-12);
  EXPECT_EQ(robust[1].warp.limit, 5);
  EXPECT_NEAR(robust[0].mean, standard[0].mean, 0.1);  // which is what makes it comparable
  EXPECT_NEAR(robust[0].deviation, standard[0].deviation, 0.1);
  EXPECT_EQ(robust[2].warp.kind(), ScaleKind::kStandard);  // 0 and 1
  EXPECT_EQ(robust[2].mean, standard[2].mean);
  EXPECT_EQ(robust[5].mean, 0);  // without an interquartile range
  EXPECT_EQ(robust[5].deviation, standard[5].deviation);
}

TEST(Scales, QuantileIsNormal) {
  for (const Index rows : {2000, 150'000}) {
    const Matrix x = sample(rows);
    const std::vector<InputColumn> inputs = scaled(x, ScaleKind::kQuantile);
    EXPECT_EQ(inputs[2].warp.kind(), ScaleKind::kStandard);
    EXPECT_EQ(inputs[3].warp.kind(), ScaleKind::kStandard);  // few distinct values
    const BlockedRows blocks(x.view(), inputs);
    for (const Index j : {0, 1}) {
      const Warp& warp = inputs[static_cast<std::size_t>(j)].warp;
      ASSERT_EQ(warp.kind(), ScaleKind::kQuantile);
      EXPECT_LE(warp.knots.size(), 257U);
      std::vector<double> values;
      Index below = 0;
      for (Index i = 0; i < rows; ++i) {
        values.push_back(blocks.standardised(j, x(i, j)));
        below += values.back() < 1 ? 1 : 0;
      }
      EXPECT_NEAR(static_cast<double>(below) / static_cast<double>(rows), 0.8413, 0.005);
      EXPECT_NEAR(square_deviation(values), 1, 0.03);
    }
    // Of equal values half count as below: a half of the rows is 0, at the quantile of a quarter.
    EXPECT_NEAR(blocks.standardised(4, 0), -0.6745, rows > 10'000 ? 0.02 : 0.1);
    // Beyond the training rows nothing rises.
    EXPECT_EQ(blocks.standardised(1, 1e9), inputs[1].warp.values.back());
    EXPECT_EQ(blocks.standardised(1, -1e9), inputs[1].warp.values.front());
  }
}

double normal_quantile(double part) {
  double low = -9;
  double high = 9;
  while (high - low > 1e-9) {
    const double middle = 0.5 * (low + high);
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < part ? low : high) = middle;
  }
  return low;
}

TEST(Scales, QuantileHasFewKnotsAndIsNearTheScoresOfItsRows) {
  constexpr Index kRows = 5121;
  constexpr Index kBetweenQuantiles = (kRows - 1) / 256;
  const Matrix x = sample(kRows);
  const std::vector<InputColumn> inputs = scaled(x, ScaleKind::kQuantile);
  const BlockedRows blocks(x.view(), inputs);
  const double error =
      0.5 * std::sqrt(0.5 * std::numbers::pi / kRows);  // half of what is chance at the median
  for (const Index j : {0, 1, 4}) {
    const Warp& warp = inputs[static_cast<std::size_t>(j)].warp;
    EXPECT_LE(warp.knots.size(), 50U);
    EXPECT_LT(warp.values.front(), j == 4 ? 0 : -3);
    EXPECT_GT(warp.values.back(), 3);
    std::vector<double> sorted;
    for (Index i = 0; i < kRows; ++i) sorted.push_back(x(i, j));
    std::ranges::sort(sorted);
    for (Index i = 0; i < kRows; i += kBetweenQuantiles) {
      const double value = sorted[static_cast<std::size_t>(i)];
      const auto [first, last] = std::ranges::equal_range(sorted, value);
      const double place = 0.5 * static_cast<double>((first - sorted.begin()) + (last - sorted.begin()));
      ASSERT_NEAR(blocks.standardised(j, value), normal_quantile(place / kRows), error + 1e-9)
          << j << " " << value;
    }
    // What is written of a number is short.
    for (const double number : warp.values) EXPECT_LE(fmt::format("{}", number).size(), 7U);
  }
}

TEST(Scales, DoNotDependOnThreads) {
  const Matrix x = sample(120'000);
  for (const ScaleKind scale : {ScaleKind::kRobust, ScaleKind::kQuantile}) {
    const std::vector<InputColumn> one = scaled(x, scale, 1);
    const std::vector<InputColumn> more = scaled(x, scale, 5);
    for (std::size_t j = 0; j < one.size(); ++j) {
      EXPECT_EQ(one[j].mean, more[j].mean);
      EXPECT_EQ(one[j].deviation, more[j].deviation);
      EXPECT_TRUE(one[j].warp == more[j].warp);
    }
  }
}

}  // namespace
}  // namespace mfga
