// The alignment weights: their constraints, and that they are optimal among all supports on small cases.
#include "baselines/alignment_weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "reference.hpp"

namespace mfga {
namespace {

double objective(const std::vector<double>& weights, const std::vector<double>& scores) {
  return std::inner_product(weights.begin(), weights.end(), scores.begin(), 0.0);
}

double divergence(const std::vector<double>& weights) {
  return static_cast<double>(weights.size()) * objective(weights, weights) - 1;
}

void expect_feasible(const std::vector<double>& weights, double radius) {
  for (const double q : weights) EXPECT_GE(q, 0);
  EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-9);
  EXPECT_LE(divergence(weights), radius * (1 + 1e-9) + 1e-12);
}

// The best weights that are positive on one support and meet the radius there; empty if there are none.
// On a support of k scores: q = 1/k + t (s - mean), with t such that n |q|^2 - 1 = radius.
std::vector<double> best_on_support(const std::vector<double>& scores, double radius, unsigned support) {
  const auto n = static_cast<double>(scores.size());
  const auto k = static_cast<double>(std::popcount(support));
  const auto inside = [&](std::size_t m) { return (support >> m & 1U) != 0; };
  double mean = 0;
  double square = 0;
  for (std::size_t m = 0; m < scores.size(); ++m) mean += inside(m) ? scores[m] / k : 0;
  for (std::size_t m = 0; m < scores.size(); ++m) square += inside(m) ? std::pow(scores[m] - mean, 2) : 0;
  const double room = (radius + 1) / n - 1 / k;
  if (room < 0) return {};
  const double t = square > 1e-20 ? std::sqrt(room / square) : 0;
  std::vector<double> weights(scores.size());
  for (std::size_t m = 0; m < scores.size(); ++m) {
    if (inside(m)) weights[m] = 1 / k + t * (scores[m] - mean);
    if (weights[m] < 0) return {};
  }
  return weights;
}

// All candidates are feasible and the optimum has one of the supports, so the best candidate is the optimum.
std::vector<double> exhaustive_weights(const std::vector<double>& scores, double radius) {
  std::vector<double> best;
  for (unsigned support = 1; support < (1U << scores.size()); ++support) {
    std::vector<double> weights = best_on_support(scores, radius, support);
    if (!weights.empty() && (best.empty() || objective(weights, scores) > objective(best, scores)))
      best = std::move(weights);
  }
  return best;
}

std::vector<double> random_scores(Index size, unsigned seed) {
  std::vector<double> scores = reference::random_vector(size, seed);
  for (double& score : scores) score *= score;
  return scores;
}

TEST(AlignmentWeights, MeetTheConstraints) {
  for (const Index n : {2, 5, 100, 3000}) {
    for (const double part : {1e-4, 0.005, 0.1, 0.4}) {
      SCOPED_TRACE(testing::Message() << n << " features, radius " << part << " n");
      const double radius = part * static_cast<double>(n);
      const std::vector<double> weights = alignment_weights(random_scores(n, 3), radius);
      expect_feasible(weights, radius);
      EXPECT_NEAR(divergence(weights), radius, 1e-9 * std::max(1.0, radius));
    }
  }
}

TEST(AlignmentWeights, AreOptimal) {
  for (const Index n : {2, 3, 5, 8}) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
      const std::vector<double> scores = random_scores(n, seed);
      for (const double radius : {0.01, 0.1, 0.5, 1.0, 2.5, 6.0}) {
        SCOPED_TRACE(testing::Message() << n << " features, seed " << seed << ", radius " << radius);
        const std::vector<double> weights = alignment_weights(scores, radius);
        const std::vector<double> expected = exhaustive_weights(scores, radius);
        expect_feasible(weights, radius);
        EXPECT_NEAR(objective(weights, scores), objective(expected, scores), 1e-8);
        if (radius < static_cast<double>(n) - 1) {
          for (std::size_t m = 0; m < scores.size(); ++m) EXPECT_NEAR(weights[m], expected[m], 1e-7);
        }
      }
    }
  }
}

TEST(AlignmentWeights, AreUniformForEqualScores) {
  EXPECT_EQ(alignment_weights(std::vector<double>(4, 2.5), 1), std::vector<double>(4, 0.25));
  EXPECT_EQ(alignment_weights(std::vector<double>(4, 0.0), 1), std::vector<double>(4, 0.25));
  EXPECT_EQ(alignment_weights(std::vector<double>{3}, 1), std::vector<double>{1});
  EXPECT_TRUE(alignment_weights({}, 1).empty());
}

TEST(AlignmentWeights, AreUniformWithoutRoom) {
  for (const double q : alignment_weights(random_scores(10, 1), 0)) EXPECT_EQ(q, 0.1);
  for (const double q : alignment_weights(random_scores(10, 1), 1e-10)) EXPECT_NEAR(q, 0.1, 1e-5);
}

TEST(AlignmentWeights, LieOnTheBestWithEnoughRoom) {
  // Also where the scores hardly differ, and where they are large.
  for (const std::vector<double>& scores :
       {std::vector<double>{1, 4, 2, 0}, {1e6, 1e6 + 1e-3, 1e6, 1e6}, {1e-200, 3e-200, 0, 0}}) {
    for (const double radius : {3.0, 3.5, 100.0}) {
      const std::vector<double> weights = alignment_weights(scores, radius);
      EXPECT_NEAR(weights[1], 1, 1e-9) << scores[1] << ", radius " << radius;
      for (const std::size_t m : {0U, 2U, 3U}) EXPECT_NEAR(weights[m], 0, 1e-9);
    }
  }
}

TEST(AlignmentWeights, TreatTiesAlike) {
  const std::vector<double> scores = {2, 5, 1, 5, 2};
  for (const double radius : {0.1, 1.0, 1.4}) {
    const std::vector<double> weights = alignment_weights(scores, radius);
    EXPECT_EQ(weights[1], weights[3]);
    EXPECT_EQ(weights[0], weights[4]);
    EXPECT_NEAR(objective(weights, scores), objective(exhaustive_weights(scores, radius), scores), 1e-8);
    EXPECT_NEAR(divergence(weights), radius, 1e-9);
  }
  // All weight on the two best has the divergence 5/2 - 1; more room changes nothing.
  for (const double radius : {1.5, 2.0, 4.0}) {
    const std::vector<double> weights = alignment_weights(scores, radius);
    EXPECT_NEAR(weights[1], 0.5, 1e-9);
    EXPECT_NEAR(weights[3], 0.5, 1e-9);
  }
}

TEST(AlignmentWeights, DoNotDependOnTheUnitOfTheScores) {
  const std::vector<double> scores = random_scores(50, 7);
  const std::vector<double> weights = alignment_weights(scores, 0.3);
  for (const double unit : {1e-30, 1e-3, 1e20}) {
    std::vector<double> scaled(scores);
    for (double& score : scaled) score *= unit;
    const std::vector<double> same = alignment_weights(scaled, 0.3);
    for (std::size_t m = 0; m < scores.size(); ++m) EXPECT_NEAR(same[m], weights[m], 1e-8);
  }
}

}  // namespace
}  // namespace mfga
