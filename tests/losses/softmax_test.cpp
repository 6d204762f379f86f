#include "losses/softmax.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "losses/logistic.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

constexpr Index kClasses = 3;
constexpr Index kRows = 5;
const std::vector<double> kScores = {0.2, -1, 3, 0, 0.5, 1, 1, -2, 0, 0.25, -0.5, 0.5, 1, 0, -4};
const std::vector<double> kTargets = {0, 1, 2, 2, 0};

ScoredRows rows_of(const std::vector<double>& scores, const std::vector<double>& targets,
                   const double* weights = nullptr) {
  const auto rows = static_cast<Index>(targets.size());
  return {scores.data(), targets.data(), weights, rows, kClasses, rows, rows};
}

TEST(SoftmaxLoss, DerivativesAgreeWithFiniteDifferences) {
  const auto loss = find_loss("softmax(3)");
  EXPECT_EQ(loss->outputs(1), kClasses);
  const std::vector<double> weights = {1, 2, 0.5, 1, 3};
  std::vector<double> first(kScores.size());
  std::vector<double> second(kScores.size());
  const double value =
      loss->derivatives(rows_of(kScores, kTargets, weights.data()), first.data(), second.data());
  EXPECT_DOUBLE_EQ(value, loss->sum(rows_of(kScores, kTargets, weights.data())));
  for (std::size_t i = 0; i < kScores.size(); ++i) {
    constexpr double kStep = 1e-4;
    std::vector<double> up = kScores;
    std::vector<double> down = kScores;
    up[i] += kStep;
    down[i] -= kStep;
    const double above = loss->sum(rows_of(up, kTargets, weights.data()));
    const double below = loss->sum(rows_of(down, kTargets, weights.data()));
    EXPECT_NEAR(first[i], (above - below) / (2 * kStep), 1e-6) << i;
    EXPECT_NEAR(second[i], (above - 2 * value + below) / (kStep * kStep), 1e-5) << i;
  }
}

TEST(SoftmaxLoss, OfTwoClassesIsTheLogisticLossOfTheDifference) {
  const auto loss = softmax_loss(2);
  const std::vector<double> scores = {0.3, -2, 1.5, 1, 4, -0.5};  // of three rows
  const std::vector<double> targets = {0, 1, 1};
  const std::vector<double> differences = {1 - 0.3, 4 + 2, -0.5 - 1.5};
  const std::vector<double> signs = {-1, 1, 1};
  EXPECT_NEAR(loss->sum({scores.data(), targets.data(), nullptr, 3, 2, 3, 3}),
              logistic_loss().sum(differences.data(), signs.data(), nullptr, 3), 1e-12);
}

TEST(SoftmaxLoss, NeverOverflows) {
  const auto loss = softmax_loss(kClasses);
  const std::vector<double> scores = {1e300, -1e300, 0};
  std::vector<double> first(3);
  std::vector<double> second(3);
  const std::vector<double> target = {0};
  EXPECT_EQ(loss->derivatives(rows_of(scores, target), first.data(), second.data()), 0);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(first[k], 0);
}

TEST(SoftmaxLoss, BestConstantsMinimiseTheSum) {
  const auto loss = softmax_loss(kClasses);
  const std::vector<double> targets = {0, 0, 1, 2, 2, 2, 2};
  const std::vector<double> best = loss->best_constants({targets});
  const auto sum_at = [&](const std::vector<double>& constants) {
    std::vector<double> scores;
    for (const double constant : constants) scores.insert(scores.end(), targets.size(), constant);
    return loss->sum(rows_of(scores, targets));
  };
  for (std::size_t k = 0; k < best.size(); ++k) {
    for (const double step : {-0.01, 0.01}) {
      std::vector<double> other = best;
      other[k] += step;
      EXPECT_LT(sum_at(best), sum_at(other));
    }
  }
}

TEST(SoftmaxLoss, ProbabilitiesAddUp) {
  std::vector<double> scores = {800, 801, -5};
  softmax_probabilities(scores.data(), 3, 1);
  EXPECT_NEAR(scores[0] + scores[1] + scores[2], 1, 1e-15);
  EXPECT_NEAR(scores[1] / scores[0], std::exp(1), 1e-12);
}

TEST(SoftmaxLoss, ChecksTheNumberOfClasses) {
  for (const char* name : {"softmax(1)", "softmax(2.5)", "softmax(1e9)", "softmax()"})
    EXPECT_THROW(static_cast<void>(find_loss(name)), Error) << name;
}

}  // namespace
}  // namespace mfga
