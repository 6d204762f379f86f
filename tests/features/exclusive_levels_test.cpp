#include "features/exclusive_levels.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "features/candidates.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

// Inputs 0 and 3 are numbers, 1 and 2 are levels of one text column, 4 of another.
const std::vector<Index> kTextColumns = {-1, 0, 0, -1, 1};

bool has_both_levels(const Atom& atom) {
  return std::ranges::count(atom.inputs, 1) > 0 && std::ranges::count(atom.inputs, 2) > 0;
}

class ExclusiveLevels : public testing::TestWithParam<const char*> {};

TEST_P(ExclusiveLevels, ProductsOfThemAreTheOnlyCandidatesThatAreLeftOut) {
  const Dictionary dictionary(GetParam());
  const Matrix x = reference::random_matrix(700, 5, 1);
  const BlockedRows rows(x.view(), reference::plain_inputs(5));
  const Candidates all(dictionary, {5, 1.5, 1, &rows});
  const Candidates some(dictionary, {5, 1.5, 1, &rows, kTextColumns});
  std::vector<Index> kept;
  for (Index j = 0; j < all.size(); ++j) {
    if (!has_both_levels(all.atom(j))) kept.push_back(j);
  }
  ASSERT_LT(std::ssize(kept), all.size());
  ASSERT_EQ(some.size(), std::ssize(kept));

  Workers workers(2);
  const std::vector<double> norms = all.square_norms(rows, workers);
  const std::vector<double> some_norms = some.square_norms(rows, workers);
  const std::vector<double> errors = all.single_errors(rows, workers);
  const std::vector<double> some_errors = some.single_errors(rows, workers);
  std::vector<double> weights(2 * kBlockRows);
  for (std::size_t n = 0; n < weights.size(); ++n) weights[n] = std::sin(static_cast<double>(n));
  const auto correlations = [&](const Candidates& candidates) {
    return candidates.sums(rows, workers, 2, 0, [&](const RowBlock&, Arena&, double*) {
      return Candidates::BlockColumns{weights.data(), kBlockRows};
    });
  };
  const auto single = [&](const Candidates& candidates) {
    return candidates.sums(
        rows, workers, 1, 0,
        [&](const RowBlock&, Arena&, double*) {
          return Candidates::BlockColumns{weights.data(), kBlockRows};
        },
        true);
  };
  const std::vector<double> sums = correlations(all);
  const std::vector<double> some_sums = correlations(some);
  const std::vector<double> rounded = single(all);
  const std::vector<double> some_rounded = single(some);
  EXPECT_EQ(some.have_single(), all.have_single());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto j = static_cast<std::size_t>(kept[i]);
    EXPECT_EQ(some.atom(static_cast<Index>(i)), all.atom(kept[i]));
    EXPECT_EQ(some_norms[i], norms[j]);
    EXPECT_EQ(some_errors[i], errors[j]);
    EXPECT_NEAR(some_sums[i], sums[j], 1e-12);
    EXPECT_NEAR(some_sums[kept.size() + i], sums[static_cast<std::size_t>(all.size()) + j], 1e-12);
    EXPECT_NEAR(some_rounded[i], rounded[j], 1e-12);
  }
}

TEST(ManyLevels, LeaveTheSameCandidates) {
  // One number and seven levels of one text column: most products are of two levels.
  const std::vector<Index> text_columns = {-1, 0, 0, 0, 0, 0, 0, 0};
  const Dictionary dictionary("polynomial(degree=2, offset=0)");
  const Matrix x = reference::random_matrix(300, 8, 2);
  const BlockedRows rows(x.view(), reference::plain_inputs(8));
  const Candidates all(dictionary, {8, 1, 1, &rows});
  const Candidates some(dictionary, {8, 1, 1, &rows, text_columns});
  Workers workers(2);
  const std::vector<double> norms = all.square_norms(rows, workers);
  const std::vector<double> some_norms = some.square_norms(rows, workers);
  Index kept = 0;
  for (Index j = 0; j < all.size(); ++j) {
    const Atom atom = all.atom(j);
    if (atom.inputs.size() == 2 && atom.inputs.front() > 0) continue;
    ASSERT_LT(kept, some.size());
    EXPECT_EQ(some.atom(kept), atom);
    EXPECT_NEAR(some_norms[static_cast<std::size_t>(kept)], norms[static_cast<std::size_t>(j)], 1e-9);
    ++kept;
  }
  EXPECT_EQ(kept, some.size());
  EXPECT_LT(2 * kept, all.size());
}

INSTANTIATE_TEST_SUITE_P(Families, ExclusiveLevels,
                         testing::Values("linear + polynomial(degree=3)", "gaussian(order=2) + linear",
                                         "hinge(knots=3, interactions=2)"));

TEST(ExclusiveLevels, CombinationsOfInputsAreNoLevels) {
  const Matrix x = reference::random_matrix(50, 5, 1);
  Matrix mixing(5, 5);
  for (Index j = 0; j < 5; ++j) mixing(j, j) = 1;
  mixing(1, 3) = 0.5;
  const BlockedRows rows = BlockedRows(x.view(), reference::plain_inputs(5)).mixed(mixing);
  const Dictionary dictionary("polynomial");
  EXPECT_EQ(Candidates(dictionary, {5, 1, 1, &rows, kTextColumns}).size(),
            Candidates(dictionary, {5, 1, 1, &rows}).size());
}

}  // namespace
}  // namespace mfga
