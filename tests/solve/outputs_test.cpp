// Several outputs that share their atoms, against what is known of one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "losses/logistic.hpp"
#include "losses/softmax.hpp"
#include "losses/squared.hpp"
#include "reference.hpp"
#include "solve/greedy.hpp"
#include "solve/output_factors.hpp"
#include "solve/tuning_objective.hpp"

namespace mfga {
namespace {

constexpr Index kRows = 700;
constexpr Index kInputs = 4;

struct Sample {
  Matrix x = reference::random_matrix(kRows, kInputs, 1);
  BlockedRows rows{x.view(), reference::plain_inputs(kInputs)};
  Candidates candidates{Dictionary("linear + gaussian(order=2, sigma=2)"), {kInputs, 1}};
  Workers workers{2};
  std::vector<double> numbers;  // to predict
  std::vector<double> classes;  // three of them

  Sample() {
    const std::vector<double> noise = reference::random_vector(kRows, 2);
    for (Index n = 0; n < kRows; ++n) {
      const double* row = x.row(n);
      const double value = row[0] - row[1] * row[2] + 0.3 * noise[static_cast<std::size_t>(n)];
      numbers.push_back(value);
      classes.push_back(value > 0.5 ? 2 : row[3] > 0 ? 1 : 0);
    }
  }
  [[nodiscard]] Problem problem(std::span<const double> targets, const Loss& loss) {
    return {rows, targets, loss, Intercept::kUnpenalised, workers};
  }
  [[nodiscard]] GreedyResult learn(const Problem& problem, const GreedyOptions& options) {
    const auto engine = make_lazy_engine(problem, candidates, Precision::kMixed);
    const auto refit = make_refit(problem, options.penalty);
    return run_greedy(problem, candidates, *engine, *refit, options, {});
  }
};

GreedyOptions some_terms(Index terms, double ridge) {
  GreedyOptions options;
  options.terms = terms;
  options.penalty.ridge = ridge;
  options.selection.rule = Rule::kGain;
  return options;
}

std::vector<double> twice(const std::vector<double>& values) {
  std::vector<double> result = values;
  result.insert(result.end(), values.begin(), values.end());
  return result;
}

TEST(SeveralOutputs, CopiesOfATargetGiveTheSameModelTwice) {
  Sample sample;
  const std::vector<double> targets = twice(sample.numbers);
  for (const Index per_step : {Index{1}, Index{3}}) {
    GreedyOptions options = some_terms(9, 0.5);
    options.per_step = per_step;
    options.selection.shortlist = per_step > 1 ? 6 : 1;
    const GreedyResult one = sample.learn(sample.problem(sample.numbers, squared_loss()), options);
    const GreedyResult two = sample.learn(sample.problem(targets, squared_loss()), options);
    ASSERT_EQ(two.active.candidates, one.active.candidates);
    ASSERT_EQ(two.active.outputs(), 2U);
    EXPECT_NEAR(two.path.back().risk, 2 * one.path.back().risk, 1e-9);
    for (std::size_t m = 0; m < one.active.theta.size(); ++m) {
      EXPECT_NEAR(two.active.theta_of(m)[0], one.active.theta[m], 1e-8);
      EXPECT_NEAR(two.active.theta_of(m)[1], one.active.theta[m], 1e-8);
    }
  }
}

TEST(SeveralOutputs, EachTargetIsFittedAsByItself) {
  Sample sample;
  std::vector<double> targets = sample.numbers;
  std::vector<double> other;
  for (Index n = 0; n < kRows; ++n) other.push_back(std::sin(sample.x(n, 1)) + sample.x(n, 3));
  targets.insert(targets.end(), other.begin(), other.end());
  const GreedyResult both = sample.learn(sample.problem(targets, squared_loss()), some_terms(8, 0.1));
  const std::vector<double>* const columns[] = {&sample.numbers, &other};
  for (std::size_t k = 0; k < 2; ++k) {
    ActiveSet alone{both.active.candidates, both.active.atoms, {}, {0}};
    static_cast<void>(fit_coefficients(sample.problem(*columns[k], squared_loss()), 0.1, alone));
    EXPECT_NEAR(both.active.intercepts[k], alone.intercepts.front(), 1e-8);
    for (std::size_t m = 0; m < alone.theta.size(); ++m)
      EXPECT_NEAR(both.active.theta_of(m)[k], alone.theta[m], 1e-8);
  }
}

TEST(SeveralOutputs, RankCandidatesByTheLengthOfTheirGradient) {
  Sample sample;
  const auto loss = softmax_loss(3);
  const Problem problem = sample.problem(sample.classes, *loss);
  const auto engine = make_lazy_engine(problem, sample.candidates, Precision::kMixed);
  ActiveSet active{{2}, {sample.candidates.atom(2)}, {0.5, -1, 0.25}, {0.1, 0, -0.2}};
  Gradient gradient;
  const double sum = engine->gradient(active, gradient);
  EXPECT_NEAR(sum, loss_sum(problem, active.score()), 1e-9);
  EXPECT_TRUE(gradient.exact());
  for (Index j = 0; j < sample.candidates.size(); ++j) {
    std::vector<double> entries(3);
    for (Index n = 0; n < kRows; ++n) {
      const double value = reference::atom_value(active.atoms[0], sample.x.row(n), kInputs);
      std::vector<double> scores;
      for (std::size_t k = 0; k < 3; ++k) scores.push_back(active.intercepts[k] + active.theta[k] * value);
      softmax_probabilities(scores.data(), 3, 1);
      scores[static_cast<std::size_t>(sample.classes[static_cast<std::size_t>(n)])] -= 1;
      const double own = reference::atom_value(sample.candidates.atom(j), sample.x.row(n), kInputs);
      for (std::size_t k = 0; k < 3; ++k) entries[k] += own * scores[k];
    }
    EXPECT_NEAR(gradient.values[static_cast<std::size_t>(j)], std::hypot(entries[0], entries[1], entries[2]),
                1e-8);
  }
}

// Scores of both classes with ridge r are plus and minus half of the logistic score with ridge r / 2.
TEST(SeveralOutputs, SoftmaxOfTwoClassesFindsTheLogisticModel) {
  Sample sample;
  std::vector<double> signs;
  std::vector<double> positions;
  for (const double value : sample.numbers) {
    signs.push_back(value > 0 ? 1 : -1);
    positions.push_back(value > 0 ? 1 : 0);
  }
  const auto loss = softmax_loss(2);
  const GreedyResult logistic = sample.learn(sample.problem(signs, logistic_loss()), some_terms(6, 0.2));
  ActiveSet fitted{logistic.active.candidates, logistic.active.atoms, {}, {0}};
  const FittedCoefficients report = fit_coefficients(sample.problem(positions, *loss), 0.4, fitted);
  EXPECT_TRUE(report.converged);
  for (std::size_t m = 0; m < logistic.active.theta.size(); ++m) {
    EXPECT_NEAR(fitted.theta_of(m)[1], logistic.active.theta[m] / 2, 2e-4);
    EXPECT_NEAR(fitted.theta_of(m)[0], -fitted.theta_of(m)[1], 2e-4);
  }
}

TEST(SeveralOutputs, SoftmaxEndsAtTheMinimumAfterRoughSteps) {
  Sample sample;
  const auto loss = softmax_loss(3);
  const Problem problem = sample.problem(sample.classes, *loss);
  // The last of so many candidates does not exist: the search ends early.
  for (const Index terms : {Index{5}, sample.candidates.size() + 5}) {
    const double ridge = 0.3;
    const GreedyResult result = sample.learn(problem, some_terms(terms, ridge));
    EXPECT_TRUE(result.converged);
    const auto objective = [&](const ActiveSet& active) {
      double value = loss_sum(problem, active.score());
      for (const double theta : active.theta) value += ridge * theta * theta;
      return value;
    };
    const double here = objective(result.active);
    ActiveSet fresh{result.active.candidates, result.active.atoms, {}, {0}};
    static_cast<void>(fit_coefficients(problem, ridge, fresh));
    EXPECT_NEAR(here / objective(fresh), 1, 1e-8);
    for (std::size_t i = 0; i < result.active.theta.size(); i += 2) {
      for (const double step : {-1e-2, 1e-2}) {
        ActiveSet moved = result.active;
        moved.theta[i] += step;
        EXPECT_LT(here, objective(moved));
      }
    }
  }
}

// Along each move the objective has a slope as the factors say, and a curvature of about 1.
TEST(SeveralOutputs, FactorsMakeTheObjectiveRound) {
  Sample sample;
  const auto loss = softmax_loss(3);
  const Problem problem = sample.problem(sample.classes, *loss);
  constexpr double kRidge = 0.01;
  const ActiveSet active = sample.learn(problem, some_terms(5, 1)).active;
  const ActiveAtoms atoms(active.atoms, 1, problem);
  Matrix start(3, 6);
  for (Index k = 0; k < 3; ++k) {
    start(k, 0) = active.intercepts[static_cast<std::size_t>(k)];
    for (Index m = 0; m < 5; ++m)
      start(k, 1 + m) = active.theta_of(static_cast<std::size_t>(m))[static_cast<std::size_t>(k)];
  }
  const OutputFactors factors(problem, atoms, start, kRidge);
  const auto objective = [&](const std::vector<double>& moves) {
    const Matrix there = factors.moved(start, moves.data());
    ActiveSet moved = active;
    double value = 0;
    for (Index k = 0; k < 3; ++k) {
      moved.intercepts[static_cast<std::size_t>(k)] = there(k, 0);
      for (Index m = 0; m < 5; ++m) {
        moved.theta[static_cast<std::size_t>(3 * m + k)] = there(k, 1 + m);
        value += kRidge * there(k, 1 + m) * there(k, 1 + m);
      }
    }
    return value + loss_sum(problem, moved.score());
  };
  Matrix by_coefficients(3, 6);  // by finite differences
  for (Index k = 0; k < 3; ++k) {
    for (Index m = 0; m < 6; ++m) {
      constexpr double kStep = 1e-5;
      double loss_at[2];
      for (const int up : {0, 1}) {
        ActiveSet moved = active;
        double& value = m == 0 ? moved.intercepts[static_cast<std::size_t>(k)]
                               : moved.theta[static_cast<std::size_t>(3 * (m - 1) + k)];
        value += up == 1 ? kStep : -kStep;
        loss_at[up] = loss_sum(problem, moved.score()) + (m == 0 ? 0 : kRidge * value * value);
      }
      by_coefficients(k, m) = (loss_at[1] - loss_at[0]) / (2 * kStep);
    }
  }
  std::vector<double> gradient(18);
  factors.gradient_by_moves(by_coefficients, gradient.data());
  const std::vector<double> nowhere(18);
  const double here = objective(nowhere);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    constexpr double kStep = 0.01;
    std::vector<double> up = nowhere;
    std::vector<double> down = nowhere;
    up[i] = kStep;
    down[i] = -kStep;
    EXPECT_NEAR((objective(up) - objective(down)) / (2 * kStep), gradient[i], 1e-3) << i;
    // The mean over the classes is taken off a move, which the ridge notices.
    EXPECT_NEAR((objective(up) + objective(down) - 2 * here) / (kStep * kStep), 1, 0.25) << i;
  }
}

TEST(SeveralOutputs, TuningHasTheGradientOfFiniteDifferences) {
  Sample sample;
  const auto loss = softmax_loss(3);
  const Problem problem = sample.problem(sample.classes, *loss);
  Candidates landmarks(Dictionary("landmark(count=20, sigma=2) + hinge(knots=4)"),
                       {kInputs, 1, 3, &sample.rows});
  ActiveSet active;
  for (const Index j : {Index{1}, Index{7}, Index{25}}) {
    active.candidates.push_back(j);
    active.atoms.push_back(landmarks.atom(j));
  }
  const auto objective = make_tuning_objective(problem, active, {0.5, 10, 1, true});
  const std::size_t size = objective->size();
  EXPECT_GT(size, 3 * 3U);  // the coefficients move, too
  std::vector<double> moves(size);
  for (std::size_t i = 0; i < size; ++i) moves[i] = 0.02 * std::sin(static_cast<double>(i));
  std::vector<double> gradient(size);
  std::vector<double> ignored(size);
  static_cast<void>(objective->evaluate(moves, gradient));
  for (std::size_t i = 0; i < size; ++i) {
    constexpr double kStep = 1e-5;
    std::vector<double> up = moves;
    std::vector<double> down = moves;
    up[i] += kStep;
    down[i] -= kStep;
    const double slope =
        (objective->evaluate(up, ignored) - objective->evaluate(down, ignored)) / (2 * kStep);
    EXPECT_NEAR(gradient[i], slope, 1e-6 * (1 + std::abs(slope))) << i;
  }
}

TEST(SeveralOutputs, TuningLowersTheObjective) {
  Sample sample;
  const auto loss = softmax_loss(3);
  const Problem problem = sample.problem(sample.classes, *loss);
  const GreedyResult found = sample.learn(problem, some_terms(4, 0.5));
  const Tuned start = tune(problem, found.active, {0.5, 0, 1, true}, {});
  const Tuned tuned = tune(problem, found.active, {0.5, 30, 1, true}, {});
  EXPECT_GT(tuned.step, 3);
  EXPECT_LT(tuned.objective, 0.98 * start.objective);
}

}  // namespace
}  // namespace mfga
