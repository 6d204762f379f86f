// What a search asks of its engine where there are very many candidates.
#include <gtest/gtest.h>

#include <algorithm>

#include "losses/logistic.hpp"
#include "losses/squared.hpp"
#include "reference.hpp"
#include "solve/counting_engine.hpp"
#include "solve/greedy.hpp"

namespace mfga {
namespace {

TEST(GreedyWork, ManyCopiesAreLaidAsideTogether) {
  // A thousand times the same column, and one more.
  constexpr Index kCopies = 1000;
  Matrix x = reference::random_matrix(200, kCopies + 1, 17);
  std::vector<double> targets = reference::random_vector(200, 18);
  for (Index i = 0; i < x.rows; ++i) {
    std::fill_n(x.row(i), kCopies, x(i, 0));
    targets[static_cast<std::size_t>(i)] += x(i, 0);
  }
  const BlockedRows rows(x.view(), reference::plain_inputs(x.cols));
  const Candidates candidates(Dictionary("linear"), {x.cols, 1});
  for (const Loss* loss : {&squared_loss(), &logistic_loss()}) {
    std::vector<double> y = targets;
    if (!loss->constant_curvature().has_value())
      std::ranges::transform(y, y.begin(), [](double t) { return t > 0 ? 1 : -1; });
    Workers workers(2);
    const Problem problem{rows, y, *loss, Intercept::kUnpenalised, workers};
    const GreedyOptions options{3, 1, 0, {1, 0}, {Rule::kGain, loss->constant_curvature() ? 1 : 32}};
    const auto lazy = make_lazy_engine(problem, candidates, Precision::kMixed);
    CountingEngine engine(*lazy);
    const auto refit = make_refit(problem, options.penalty);
    const GreedyResult result = run_greedy(problem, candidates, engine, *refit, options, {});
    EXPECT_EQ(result.active.candidates.size(), 2U) << loss->name();
    EXPECT_EQ(result.dependent.size(), kCopies - 1);
    EXPECT_LT(engine.passes, 20);
  }
}

TEST(GreedyWork, ALongSetIsTakenOffTheCurvaturesInParts) {
  // Half a million candidates: a number for each of them and each atom of the set would be much memory.
  constexpr Index kMany = 1000;
  const Matrix x = reference::random_matrix(30, kMany, 19);
  const std::vector<double> y = reference::random_vector(30, 20);
  const BlockedRows rows(x.view(), reference::plain_inputs(kMany));
  const Candidates candidates(Dictionary("gaussian(order=2, sigma=30)"), {kMany, 1});
  Workers workers(2);
  const Problem problem{rows, y, squared_loss(), Intercept::kUnpenalised, workers};
  GreedyOptions options{5, 1, 0, {1, 0}, {Rule::kGain, 1}};
  const auto run_from = [&](const ActiveSet& start, CountingEngine& counting) {
    const auto refit = make_refit(problem, options.penalty);
    return run_greedy(problem, candidates, counting, *refit, options, {}, start);
  };
  const auto lazy = make_lazy_engine(problem, candidates, Precision::kMixed);
  CountingEngine engine(*lazy);
  const GreedyResult five = run_from({}, engine);
  options.terms = 6;
  const GreedyResult six = run_from(five.active, engine);
  EXPECT_EQ(six.active.size(), 6);
  EXPECT_LE(engine.most_combinations, correlations_at_a_time(candidates.size()));
  EXPECT_LT(engine.most_combinations, 5);
  // What they need is known before.
  const ProblemSize small{39000, 28000, 1};
  const ProblemSize large{39000, 28000, 200};
  EXPECT_GT(lazy_engine_cost(large).bytes, 5 * lazy_engine_cost(small).bytes);
}

}  // namespace
}  // namespace mfga
