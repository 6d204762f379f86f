#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "losses/logistic.hpp"
#include "losses/loss.hpp"
#include "losses/squared.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

// Those of one score; softmax_test.cpp has the other.
std::vector<const Loss*> one_output_losses() {
  std::vector<const Loss*> result;
  for (const Loss* loss : losses()) {
    if (loss->outputs(1) == 1) result.push_back(loss);
  }
  return result;
}

// Targets that every loss can have.
std::vector<double> possible_targets(const Loss& loss) {
  return loss.task() == Task::kClassification ? std::vector<double>{-1, 1}
         : loss.required_of(-1).empty()       ? std::vector<double>{-1, 0, 2.5}
         : loss.required_of(0).empty()        ? std::vector<double>{0, 1, 7}
                                              : std::vector<double>{0.1, 1, 7};
}

TEST(Losses, DerivativesAgreeWithFiniteDifferences) {
  for (const Loss* loss : one_output_losses()) {
    for (const double y : possible_targets(*loss)) {
      for (double f = -6; f <= 6; f += 0.31) {
        double first = 0;
        double second = 0;
        const double value = loss->derivatives(&f, &y, nullptr, 1, &first, &second);
        EXPECT_DOUBLE_EQ(value, loss->sum(&f, &y, nullptr, 1));
        EXPECT_GE(value, 0);
        double gradient = 0;
        EXPECT_DOUBLE_EQ(loss->gradient(&f, &y, nullptr, 1, &gradient), value);
        EXPECT_DOUBLE_EQ(gradient, first);
        const double h = 1e-4;
        const double up = f + h;
        const double down = f - h;
        const double scale = 1 + value;
        EXPECT_NEAR(first, (loss->sum(&up, &y, nullptr, 1) - loss->sum(&down, &y, nullptr, 1)) / (2 * h),
                    1e-6 * scale)
            << loss->name();
        const double expected =
            (loss->sum(&up, &y, nullptr, 1) - 2 * value + loss->sum(&down, &y, nullptr, 1)) / (h * h);
        // These have a little curvature where they have none, so that steps stay finite.
        const double spare = loss->name().starts_with("huber")      ? 2e-3
                             : loss->name().starts_with("quantile") ? 0.03
                             : loss->name() == "squared_hinge"      ? 2e-3
                                                                    : 0;
        EXPECT_NEAR(second, expected, 1e-5 * scale + spare) << loss->name() << " at " << f << ", " << y;
      }
    }
  }
}

TEST(Losses, WeightsCountAsCopies) {
  for (const Loss* loss : one_output_losses()) {
    const std::vector<double> targets = possible_targets(*loss);
    std::vector<double> scores;
    std::vector<double> weights;
    std::vector<double> copied_scores;
    std::vector<double> copied_targets;
    for (std::size_t n = 0; n < targets.size(); ++n) {
      scores.push_back(0.7 * static_cast<double>(n) - 0.4);
      weights.push_back(static_cast<double>(n) + 1);
      for (std::size_t copy = 0; copy <= n; ++copy) {
        copied_scores.push_back(scores.back());
        copied_targets.push_back(targets[n]);
      }
    }
    const auto count = static_cast<Index>(targets.size());
    const auto copies = static_cast<Index>(copied_targets.size());
    std::vector<double> first(targets.size());
    std::vector<double> second(targets.size());
    const double sum =
        loss->derivatives(scores.data(), targets.data(), weights.data(), count, first.data(), second.data());
    EXPECT_NEAR(sum, loss->sum(copied_scores.data(), copied_targets.data(), nullptr, copies), 1e-13 * sum);
    EXPECT_NEAR(sum, loss->sum(scores.data(), targets.data(), weights.data(), count), 1e-13 * sum);
    double own_first = 0;
    double own_second = 0;
    static_cast<void>(loss->derivatives(&scores[1], &targets[1], nullptr, 1, &own_first, &own_second));
    EXPECT_DOUBLE_EQ(first[1], 2 * own_first);
    EXPECT_DOUBLE_EQ(second[1], 2 * own_second);
    EXPECT_NEAR(loss->best_constant({targets, weights}), loss->best_constant({copied_targets}), 1e-9)
        << loss->name();
  }
}

TEST(Losses, BestConstantMinimisesTheSum) {
  for (const Loss* loss : one_output_losses()) {
    std::vector<double> y = possible_targets(*loss);
    y.push_back(y.back());
    const double best = loss->best_constant({y});
    const auto sum_at = [&](double c) {
      const std::vector<double> scores(y.size(), c);
      return loss->sum(scores.data(), y.data(), nullptr, static_cast<Index>(y.size()));
    };
    EXPECT_LE(sum_at(best), sum_at(best + 1e-3)) << loss->name();
    EXPECT_LE(sum_at(best), sum_at(best - 1e-3)) << loss->name();
  }
}

TEST(Losses, AreFoundByTheirNames) {
  for (const Loss* loss : losses()) EXPECT_EQ(find_loss(loss->name())->name(), loss->name());
  EXPECT_EQ(find_loss("huber(0.25)")->name(), "huber(0.25)");
  EXPECT_EQ(find_loss("quantile(0.9)")->name(), "quantile(0.9)");
  for (const std::string wrong :
       {"", "huge", "huber(", "huber()", "huber(x)", "huber(0)", "huber(-1)", "huber(1", "huber(1)2",
        "squared(1)", "quantile(0)", "quantile(1)", "quantile(x)"}) {
    EXPECT_THROW(static_cast<void>(find_loss(wrong)), Error) << wrong;
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
    const double sum = logistic_loss().sum(scores.data(), targets.data(), nullptr, 1000);
    EXPECT_NEAR(sum / static_cast<double>(expected), 1, 1e-13);
    std::vector<double> first(1000);
    std::vector<double> second(1000);
    EXPECT_EQ(logistic_loss().derivatives(scores.data(), targets.data(), nullptr, 1000, first.data(),
                                          second.data()),
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
    const double value = loss.derivatives(&f, &y, nullptr, 1, &first, &second);
    EXPECT_EQ(value, f < 0 ? -f : 0);
    EXPECT_EQ(first, f < 0 ? -1 : 0);
    EXPECT_EQ(second, 0);
  }
  const double f = 40;  // 1 - p is far below the rounding of 1
  const double y = 1;
  EXPECT_NEAR(loss.sum(&f, &y, nullptr, 1) / std::exp(-40.0), 1, 1e-12);
}

}  // namespace
}  // namespace mfga
