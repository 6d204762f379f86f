#include "solve/exact_gram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference.hpp"
#include "solve/dealt_folds.hpp"

namespace mfga {
namespace {

constexpr Index kCandidates = 5;

GramSums random_sums(unsigned seed, double size) {
  GramSums sums;
  sums.gram = reference::random_matrix(kCandidates, kCandidates, seed);
  for (Index i = 0; i < kCandidates; ++i) {
    for (Index j = 0; j < i; ++j) sums.gram(i, j) = sums.gram(j, i) *= size;
    sums.gram(i, i) = size * (1 + std::abs(sums.gram(i, i)));
  }
  sums.sums = reference::random_vector(kCandidates, seed + 1);
  sums.target_products = reference::random_vector(kCandidates, seed + 2);
  sums.target_sum = 1.5 * size;
  sums.target_square = 3.25;
  sums.rows = 7;
  return sums;
}

std::shared_ptr<const GramUnits> units(int size) {
  return std::make_shared<const GramUnits>(GramUnits{0, std::vector<int>(kCandidates + 2, size)});
}

TEST(ExactGram, KeepsWhatADoubleHolds) {
  Workers workers(2);
  const GramSums sums = random_sums(1, 1);
  ExactGram exact(units(3));
  ASSERT_TRUE(exact.can_add(sums));
  exact.add(sums);
  const auto rounded = exact.rounded(workers);
  EXPECT_EQ(rounded->rows, sums.rows);
  EXPECT_EQ(rounded->target_sum, sums.target_sum);
  EXPECT_EQ(rounded->target_square, sums.target_square);
  for (Index i = 0; i < kCandidates; ++i) {
    EXPECT_DOUBLE_EQ(rounded->sums[static_cast<std::size_t>(i)], sums.sums[static_cast<std::size_t>(i)]);
    for (Index j = 0; j < kCandidates; ++j) EXPECT_DOUBLE_EQ(rounded->gram(i, j), sums.gram(i, j));
  }
}

TEST(ExactGram, DoesNotDependOnTheOrder) {
  constexpr int kParts = 20;
  std::vector<GramSums> parts;
  // From very small to very large.
  for (int i = 0; i < kParts; ++i)
    parts.push_back(random_sums(static_cast<unsigned>(i), std::pow(10, i - 10)));
  ExactGram forwards(units(0));
  ExactGram backwards(units(0));
  ExactGram halves(units(0));
  ExactGram second(units(0));
  for (int i = 0; i < kParts; ++i) {
    forwards.add(parts[static_cast<std::size_t>(i)]);
    backwards.add(parts[static_cast<std::size_t>(kParts - 1 - i)]);
    (i % 3 == 0 ? halves : second).add(parts[static_cast<std::size_t>(i)]);
  }
  halves.add(second);
  EXPECT_TRUE(std::ranges::equal(forwards.entries(), backwards.entries()));
  EXPECT_TRUE(std::ranges::equal(forwards.entries(), halves.entries()));
}

TEST(ExactGram, SaysWhereItWouldOverflow) {
  ExactGram exact(units(0));
  GramSums sums = random_sums(1, 1);
  sums.gram(2, 2) = std::ldexp(1, 60);
  ASSERT_TRUE(exact.can_add(sums));
  exact.add(sums);
  EXPECT_FALSE(exact.can_add(sums));
  EXPECT_FALSE(exact.can_add(exact));
  for (const double bad : {1e300, std::numeric_limits<double>::infinity(), std::nan("")}) {
    sums.gram(2, 2) = bad;
    EXPECT_FALSE(ExactGram(units(0)).can_add(sums));
  }
}

TEST(DealtFolds, HaveEquallyManyRowsInARandomOrder) {
  constexpr Index kFolds = 5;
  DealtFolds folds(kFolds, 1);
  std::vector<Index> counts(kFolds);
  std::vector<Index> firsts(kFolds);
  for (Index n = 0; n < 1000 * kFolds; ++n) {
    const Index fold = folds.of(n);
    ASSERT_TRUE(fold >= 0 && fold < kFolds);
    ++counts[static_cast<std::size_t>(fold)];
    if (n % kFolds == 0) ++firsts[static_cast<std::size_t>(fold)];
    EXPECT_EQ(DealtFolds(kFolds, 1).of(n), fold);
  }
  for (const Index count : counts) EXPECT_EQ(count, 1000);
  for (const Index count : firsts) EXPECT_NEAR(static_cast<double>(count), 200, 60);
}

}  // namespace
}  // namespace mfga
