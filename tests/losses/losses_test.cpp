#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "losses/logistic.hpp"
#include "losses/loss.hpp"
#include "losses/squared.hpp"

namespace mfga {
namespace {

TEST(Losses, DerivativesAgreeWithFiniteDifferences) {
  for (const Loss* loss : losses()) {
    for (const double y : {-1.0, 1.0}) {
      for (double f = -6; f <= 6; f += 0.31) {
        double first = 0;
        double second = 0;
        const double value = loss->derivatives(&f, &y, 1, &first, &second);
        EXPECT_DOUBLE_EQ(value, loss->sum(&f, &y, 1));
        double gradient = 0;
        EXPECT_DOUBLE_EQ(loss->gradient(&f, &y, 1, &gradient), value);
        EXPECT_DOUBLE_EQ(gradient, first);
        const double h = 1e-4;
        const double up = f + h;
        const double down = f - h;
        EXPECT_NEAR(first, (loss->sum(&up, &y, 1) - loss->sum(&down, &y, 1)) / (2 * h), 1e-6) << loss->name();
        EXPECT_NEAR(second, (loss->sum(&up, &y, 1) - 2 * value + loss->sum(&down, &y, 1)) / (h * h), 1e-5)
            << loss->name();
      }
    }
  }
}

TEST(Losses, BestConstantMinimisesTheSum) {
  const std::vector<double> y = {-1, 1, 1, -1, 1};
  for (const Loss* loss : losses()) {
    const double best = loss->best_constant(0.2);
    const auto sum_at = [&](double c) {
      const std::vector<double> scores(y.size(), c);
      return loss->sum(scores.data(), y.data(), static_cast<Index>(y.size()));
    };
    EXPECT_LT(sum_at(best), sum_at(best + 1e-3));
    EXPECT_LT(sum_at(best), sum_at(best - 1e-3));
  }
}

TEST(LogisticLoss, SumsManyRowsToTheLastDigits) {
  std::mt19937 random(1);
  for (const double largest : {0.1, 3.0, 40.0, 700.0}) {
    std::vector<double> scores;
    std::vector<double> targets;
    long double expected = 0;
    for (int n = 0; n < 1000; ++n) {
      targets.push_back(random() % 2 == 0 ? 1 : -1);
      // Also scores that are all on the right side: losses that are tiny together.
      const double margin = largest * static_cast<double>(random()) / 4294967296.0;
      scores.push_back((largest == 40.0 ? 20 + margin : margin - largest / 2) * targets.back());
      expected += std::log1p(std::exp(-static_cast<long double>(scores.back() * targets.back())));
    }
    const double sum = logistic_loss().sum(scores.data(), targets.data(), 1000);
    EXPECT_NEAR(sum / static_cast<double>(expected), 1, 1e-13);
    std::vector<double> first(1000);
    std::vector<double> second(1000);
    EXPECT_EQ(logistic_loss().derivatives(scores.data(), targets.data(), 1000, first.data(), second.data()),
              sum);
    for (std::size_t n = 0; n < 1000; ++n) {
      const double other = 1 / (1 + std::exp(scores[n] * targets[n]));
      EXPECT_NEAR(first[n], -targets[n] * other, 1e-14 * other);
      EXPECT_NEAR(second[n], other * (1 - other), 1e-14);
    }
  }
}

TEST(LogisticLoss, NeverOverflows) {
  const Loss& loss = logistic_loss();
  for (const double f : {-1e308, -800.0, 800.0, 1e308}) {
    const double y = 1;
    double first = 0;
    double second = 0;
    const double value = loss.derivatives(&f, &y, 1, &first, &second);
    EXPECT_EQ(value, f < 0 ? -f : 0);
    EXPECT_EQ(first, f < 0 ? -1 : 0);
    EXPECT_EQ(second, 0);
  }
  const double f = 40;  // 1 - p is far below the rounding of 1
  const double y = 1;
  EXPECT_NEAR(loss.sum(&f, &y, 1) / std::exp(-40.0), 1, 1e-12);
}

}  // namespace
}  // namespace mfga
