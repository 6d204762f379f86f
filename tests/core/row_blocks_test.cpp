#include "core/row_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/row_kernels.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

const std::vector<InputColumn> kInputs = {{2, 0.5, 2.0}, {0, -1.0, 0.25}, {3, 0.0, 1.0}};

void expect_standardised(const BlockedRows& rows, const Matrix& x) {
  Arena arena;
  Index seen = 0;
  for (Index b = 0; b < rows.blocks(); ++b) {
    const Arena::Scope scope(arena);
    const RowBlock block = rows.load(b, arena);
    EXPECT_EQ(block.first_row, seen);
    for (Index n = 0; n < block.rows; ++n) {
      double square_norm = 0;
      for (std::size_t j = 0; j < kInputs.size(); ++j) {
        const double expected = (x(seen + n, kInputs[j].column) - kInputs[j].mean) / kInputs[j].deviation;
        ASSERT_NEAR(block.input(static_cast<Index>(j))[n], expected, 1e-14 * (1 + std::abs(expected)));
        square_norm += expected * expected;
      }
      ASSERT_NEAR(block.square_norms[n], square_norm, 1e-13 * (1 + square_norm));
    }
    seen += block.rows;
  }
  EXPECT_EQ(seen, x.rows);
}

TEST(RowBlocks, HoldEveryRowStandardised) {
  for (const Index n_rows : {0, 1, 7, 8, 9, 511, 512, 513, 1500}) {
    const Matrix x = reference::random_matrix(n_rows, 5, 1);
    expect_standardised(BlockedRows(x.view(), kInputs), x);
  }
}

TEST(RowBlocks, TellRowsFromColumnsWhereTheNextRowIsSevenNumbersAway) {
  for (const Index n_rows : {2, 10, 514}) {
    const Matrix x = reference::random_matrix(n_rows, 7, 1);
    expect_standardised(BlockedRows(x.view(), kInputs), x);
  }
}

TEST(RowBlocks, ReadAnyStrides) {
  const Matrix x = reference::random_matrix(600, 5, 2);
  Matrix transposed(5, 600);
  for (Index i = 0; i < 600; ++i) {
    for (Index j = 0; j < 5; ++j) transposed(j, i) = x(i, j);
  }
  expect_standardised(BlockedRows(ConstMatrixView{transposed.values.data(), 600, 5, 1, 600}, kInputs), x);
}

TEST(RowBlocks, SubsetsHoldTheirRowsInTheirOrder) {
  const Matrix x = reference::random_matrix(1300, 5, 7);
  const BlockedRows rows(x.view(), kInputs);
  std::vector<Index> wanted;
  for (Index i = 0; i < 1100; ++i) wanted.push_back((i * 7) % 1300);
  const auto chosen = [](const Matrix& from, std::span<const Index> positions) {
    Matrix result(static_cast<Index>(positions.size()), from.cols);
    for (std::size_t i = 0; i < positions.size(); ++i)
      std::copy_n(from.row(positions[i]), from.cols, result.row(static_cast<Index>(i)));
    return result;
  };
  const BlockedRows subset = rows.subset(wanted);
  const Matrix expected = chosen(x, wanted);
  expect_standardised(subset, expected);
  const std::vector<Index> again = {1099, 3, 512, 0};
  expect_standardised(subset.subset(again), chosen(expected, again));
  EXPECT_EQ(rows.subset({}).blocks(), 0);

  Arena arena;
  const RowBlock block = subset.gather(again, arena);
  EXPECT_NEAR(block.input(1)[2], (x(wanted[512], 0) + 1) / 0.25, 1e-12);
}

TEST(RowBlocks, KeptBlocksAreThoseThatWereConverted) {
  Workers workers(2);
  for (const Index n_rows : {1, 9, 512, 513, 1500}) {
    const Matrix x = reference::random_matrix(n_rows, 5, 3);
    const BlockedRows kept = BlockedRows(x.view(), kInputs).kept(workers);
    expect_standardised(kept, x);
    // What is made of them is not what was kept.
    Matrix doubled = x;
    for (Index i = 0; i < n_rows; ++i) {
      for (const InputColumn& input : kInputs)
        doubled(i, input.column) = 2 * (x(i, input.column) - input.mean) + input.mean;
    }
    expect_standardised(kept.stretched(std::vector<double>(kInputs.size(), 2.0)), doubled);
    Matrix first(1, 5);
    std::copy_n(x.row(0), 5, first.row(0));
    expect_standardised(kept.subset(std::vector<Index>{0}), first);
    EXPECT_EQ(kept.without_inputs().inputs(), 0);
  }
}

TEST(RowBlocks, GatherRowsFromAnywhere) {
  const Matrix x = reference::random_matrix(1000, 4, 3);
  const BlockedRows rows(x.view(), kInputs);
  const std::vector<Index> wanted = {999, 0, 512, 0, 3};
  Arena arena;
  const RowBlock block = rows.gather(wanted, arena);
  ASSERT_EQ(block.rows, 5);
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    EXPECT_DOUBLE_EQ(block.input(2)[n], x(wanted[n], 3));
  }
}

TEST(RowBlocks, WarpedInputsAreCutOrInterpolated) {
  Matrix x = reference::random_matrix(700, 5, 5);
  for (double& value : x.values) value *= 4;
  x(3, 1) = std::numeric_limits<double>::infinity();
  x(4, 2) = -std::numeric_limits<double>::infinity();
  const std::vector<double> knots = {-3, -1, 0.5, 2, 7};
  const std::vector<double> at_knots = {-2, -1.5, 0, 3, 3.5};
  const std::vector<InputColumn> inputs = {
      {0, 1, 2, {}}, {1, 0.5, 2, {1.5, {}, {}}}, {2, 0, 1, {0, knots, at_knots}}};
  const auto expected = [&](Index j, double value) {
    const InputColumn& input = inputs[static_cast<std::size_t>(j)];
    double z = (value - input.mean) / input.deviation;
    if (!std::isfinite(z)) return std::nan("");
    if (j == 1) z = std::clamp(z, -1.5, 1.5);
    if (j < 2) return z;
    if (z <= knots.front()) return at_knots.front();
    for (std::size_t k = 1; k < knots.size(); ++k) {
      if (z <= knots[k])
        return std::lerp(at_knots[k - 1], at_knots[k], (z - knots[k - 1]) / (knots[k] - knots[k - 1]));
    }
    return at_knots.back();
  };
  const BlockedRows rows(x.view(), inputs);
  Arena arena;
  for (Index b = 0; b < rows.blocks(); ++b) {
    const RowBlock block = rows.load(b, arena);
    for (Index n = 0; n < block.rows; ++n) {
      double square_norm = 0;
      for (Index j = 0; j < 3; ++j) {
        const double value = x(block.first_row + n, j);
        const double found = block.input(j)[n];
        if (!std::isfinite(value)) {
          EXPECT_TRUE(std::isnan(found));
          EXPECT_FALSE(std::isfinite(block.square_norms[n]));
        } else {
          ASSERT_NEAR(found, expected(j, value), 1e-13);
          ASSERT_NEAR(rows.standardised(j, value), found, 1e-14);
        }
        square_norm += found * found;
      }
      if (std::isfinite(square_norm)) {
        ASSERT_NEAR(block.square_norms[n], square_norm, 1e-12);
      }
    }
  }
}

TEST(RowBlocks, SumsDoNotDependOnThreads) {
  const Matrix x = reference::random_matrix(40000, 3, 4);
  const BlockedRows rows(x.view(), reference::plain_inputs(3));
  std::vector<std::vector<double>> results;
  for (const int threads : {1, 2, 5}) {
    Workers workers(threads);
    std::vector<double> sums(2);
    sum_over_blocks(rows, workers, sums, [](const RowBlock& block, Arena& /*arena*/, double* out) {
      for (Index n = 0; n < block.rows; ++n) {
        out[0] += block.input(0)[n];
        out[1] += block.square_norms[n];
      }
    });
    results.push_back(sums);
  }
  EXPECT_EQ(results[0], results[1]);  // to the last bit
  EXPECT_EQ(results[0], results[2]);
  double expected = 0;
  for (Index i = 0; i < x.rows; ++i) expected += x(i, 0);
  EXPECT_NEAR(results[0][0], expected, 1e-9);
}

TEST(RowBlocks, ManySumsDoNotDependOnThreads) {
  const Matrix x = reference::random_matrix(4000, 1, 5);
  const BlockedRows rows(x.view(), reference::plain_inputs(1));
  std::vector<std::vector<double>> results;
  for (const int threads : {1, 3}) {
    Workers workers(threads);
    std::vector<double>& sums = results.emplace_back(5000, 1e9);  // which are forgotten
    sum_over_blocks(rows, workers, sums, [&](const RowBlock& block, Arena& /*arena*/, double* out) {
      for (std::size_t i = 0; i < sums.size(); ++i)
        out[i] += static_cast<double>(i) * row_sum(block.input(0), block.rows);
    });
  }
  EXPECT_EQ(results[0], results[1]);
  double expected = 0;
  for (Index i = 0; i < x.rows; ++i) expected += x(i, 0);
  for (std::size_t i = 0; i < results[0].size(); ++i)
    ASSERT_NEAR(results[0][i], static_cast<double>(i) * expected, 1e-7) << i;
}

TEST(RowBlocks, NumberOfShardsDependsOnSizesOnly) {
  EXPECT_EQ(shard_count(0, 10), 0);
  EXPECT_EQ(shard_count(1, 10), 1);
  EXPECT_EQ(shard_count(1000, 10), 32);
  EXPECT_EQ(shard_count(1000, Index{1} << 30), 8);  // accumulators of 8 GiB: no more than needed
}

}  // namespace
}  // namespace mfga
