#include "solve/cross_validation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace mfga {
namespace {

TEST(CrossValidation, FoldsPartitionTheRowsAtRandom) {
  for (const Index n_rows : {7, 100, 1001}) {
    for (const Index n_folds : {2, 5, 7}) {
      const Folds folds(n_rows, n_folds, 3);
      ASSERT_EQ(folds.count(), n_folds);
      std::set<Index> seen;
      for (Index f = 0; f < n_folds; ++f) {
        const auto size = static_cast<Index>(folds.held_out(f).size());
        EXPECT_GE(size, n_rows / n_folds);
        EXPECT_LE(size, n_rows / n_folds + 1);
        seen.insert(folds.held_out(f).begin(), folds.held_out(f).end());
        std::vector<Index> both = folds.training(f);
        both.insert(both.end(), folds.held_out(f).begin(), folds.held_out(f).end());
        std::sort(both.begin(), both.end());
        std::vector<Index> all(static_cast<std::size_t>(n_rows));
        std::iota(all.begin(), all.end(), Index{0});
        EXPECT_EQ(both, all);
      }
      EXPECT_EQ(static_cast<Index>(seen.size()), n_rows);
    }
  }
  const std::vector<Index> fold = Folds(1000, 5, 3).held_out(1);
  EXPECT_EQ(fold, Folds(1000, 5, 3).held_out(1));
  EXPECT_NE(fold, Folds(1000, 5, 4).held_out(1));
  // Not a run of neighbours: the held-out rows spread over all of the table.
  EXPECT_GT(*std::max_element(fold.begin(), fold.end()), 900);
  EXPECT_LT(*std::min_element(fold.begin(), fold.end()), 100);
}

TEST(Folds, HaveTheirPartOfEachClass) {
  std::vector<double> classes(200);
  for (std::size_t n = 0; n < classes.size(); ++n) classes[n] = n % 20 == 0 ? 1 : 0;  // ten of 200
  const Folds folds(DividedRows{200, {}, classes}, {.folds = 5}, 3);
  for (Index fold = 0; fold < 5; ++fold) {
    Index ones = 0;
    for (const Index row : folds.held_out(fold)) ones += classes[static_cast<std::size_t>(row)] == 1 ? 1 : 0;
    EXPECT_EQ(ones, 2);
    EXPECT_EQ(folds.held_out(fold).size(), 40U);
  }
}

TEST(Folds, KeepGroupsTogether) {
  std::vector<Index> groups;
  for (Index n = 0; n < 300; ++n) groups.push_back(n % 23);
  const Folds folds(DividedRows{300, groups}, {.folds = 4}, 3);
  std::set<Index> all;
  for (Index fold = 0; fold < 4; ++fold) {
    std::set<Index> inside;
    for (const Index row : folds.held_out(fold)) inside.insert(row % 23);
    for (const Index row : folds.training(fold)) EXPECT_FALSE(inside.contains(row % 23));
    EXPECT_GT(folds.held_out(fold).size(), 50U);
    all.insert(inside.begin(), inside.end());
  }
  EXPECT_EQ(all.size(), 23U);
}

TEST(Folds, TakeAllRowsWhereASampleHasTooFewGroups) {
  std::vector<Index> groups(1000);  // one large group, and four of one row each
  for (const std::size_t n : {1U, 2U, 3U, 4U}) groups[n] = static_cast<Index>(n);
  const Folds folds(DividedRows{1000, groups}, {.folds = 5, .most_rows = 50}, 3);
  for (Index fold = 0; fold < 5; ++fold) EXPECT_FALSE(folds.held_out(fold).empty());
  EXPECT_EQ(folds.all().size(), 1000U);
}

TEST(Folds, InTheOrderOfTimeComeAfterWhatIsLearnedFrom) {
  const Folds folds(DividedRows{100, {}, {}, true}, {.folds = 5}, 3);
  EXPECT_EQ(folds.count(), 4);  // nothing comes before the first rows
  for (Index fold = 0; fold < folds.count(); ++fold) {
    const std::vector<Index> training = folds.training(fold);
    EXPECT_EQ(folds.held_out(fold).size(), 20U);
    EXPECT_LT(std::ranges::max(training), std::ranges::min(folds.held_out(fold)));
    EXPECT_TRUE(std::ranges::is_sorted(training));
  }
  EXPECT_EQ(std::ranges::max(folds.judge()), 99);
  // Fold after fold, as sums of products are divided.
  const std::vector<Index> all = folds.all();
  EXPECT_EQ(std::vector<Index>(all.begin(), all.begin() + 20), folds.held_out(0));
  const Folds others = folds.without_judge(3);
  EXPECT_EQ(others.count(), 3);
  EXPECT_EQ(std::ranges::max(others.held_out(0)), 79);
  EXPECT_EQ(others.training(0).size(), 60U);
}

// A loop over the rows of a fold then reads each block of a table on disk once.
TEST(Folds, OfManyRowsAreInTheOrderOfTheTable) {
  std::vector<Index> groups(30'000);
  for (std::size_t n = 0; n < groups.size(); ++n) groups[n] = static_cast<Index>(n) % 1000;
  for (const bool has_groups : {false, true}) {
    DividedRows rows{std::ssize(groups)};
    if (has_groups) rows.groups = groups;
    const Folds folds(rows, {.folds = 4}, 1);
    for (Index fold = 0; fold < 4; ++fold) {
      EXPECT_TRUE(std::ranges::is_sorted(folds.held_out(fold)));
      EXPECT_TRUE(std::ranges::is_sorted(folds.training(fold)));
      EXPECT_EQ(folds.training(fold).size() + folds.held_out(fold).size(), groups.size());
    }
    EXPECT_LT(folds.held_out(1).front(), 1000);  // they are drawn all the same
  }
}

TEST(CrossValidation, PathsGrowByTheStep) {
  EXPECT_EQ(path_terms(5, 1), (std::vector<Index>{1, 2, 3, 4, 5}));
  EXPECT_EQ(path_terms(7, 3), (std::vector<Index>{3, 6, 7}));
  EXPECT_EQ(path_terms(6, 3), (std::vector<Index>{3, 6}));
  EXPECT_EQ(path_terms(2, 10), (std::vector<Index>{2}));
}

TEST(CrossValidation, SummarisesTheFolds) {
  CrossValidation result;
  result.ridges = {0.1, 1};
  result.terms = {4, 8, 9};
  FoldLosses losses(3, Matrix(2, 3));
  losses[0].values = {5, 2, 4, 6, 3, 3};
  losses[1].values = {6, 1, 5, 6, 3, 3};
  losses[2].values = {7, 3, 3, 6, 3, 3};
  summarise(losses, 2, std::nullopt, result);
  EXPECT_EQ(result.folds, 3);
  EXPECT_EQ(result.mean.values, (decltype(result.mean.values){12, 4, 8, 12, 6, 6}));
  for (const Index t : {0, 1, 2}) {
    EXPECT_NEAR(result.standard_error(0, t), 2 * std::sqrt(1.0 / 3), 1e-14);
    EXPECT_EQ(result.standard_error(1, t), 0);
  }
  EXPECT_EQ(result.chosen.ridge, 1);  // at the last number of terms
  EXPECT_EQ(result.chosen.terms, 9);
  EXPECT_EQ(result.chosen.mean, 6);
  EXPECT_EQ(result.best.ridge, 0.1);
  EXPECT_EQ(result.best.terms, 8);
  EXPECT_EQ(result.best.mean, 4);
  summarise(losses, 2, SizeChoice::kBest, result);
  EXPECT_EQ(result.chosen.terms, 8);
  EXPECT_EQ(result.chosen.ridge, 0.1);
}

TEST(CrossValidation, TheSmallestSizeWithinAStandardErrorOfTheBest) {
  CrossValidation result;
  result.ridges = {0.1, 1};
  result.terms = {2, 4, 8};
  FoldLosses losses(2, Matrix(2, 3));
  losses[0].values = {9, 4, 3, 9, 3.5, 5};
  losses[1].values = {9, 6, 5, 9, 5.5, 5};
  summarise(losses, 1, SizeChoice::kOneStandardError, result);
  EXPECT_EQ(result.best.terms, 8);  // 4 +- 1
  EXPECT_EQ(result.chosen.terms, 4);
  EXPECT_EQ(result.chosen.ridge, 1);
}

}  // namespace
}  // namespace mfga
