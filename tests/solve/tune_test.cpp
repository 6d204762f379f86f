// Tuning: its gradient against differences of what it minimises, and what it promises.
#include "solve/tune.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "core/blas.hpp"
#include "losses/logistic.hpp"
#include "losses/squared.hpp"
#include "mfga/error.hpp"
#include "reference.hpp"
#include "solve/learned_metric.hpp"
#include "solve/tuned_search.hpp"
#include "solve/tuning_objective.hpp"

namespace mfga {
namespace {

constexpr Index kInputs = 4;

// Rows with a bump at (1, 0) of the first two inputs; the others do not matter.
struct Bump {
  Matrix x;
  std::vector<double> y;
  BlockedRows rows;

  explicit Bump(Index n_rows, double noise = 0, unsigned seed = 1)
      : x(reference::random_matrix(n_rows, kInputs, seed)), rows(x.view(), reference::plain_inputs(kInputs)) {
    const std::vector<double> errors = reference::random_vector(n_rows, seed + 1);
    for (Index i = 0; i < n_rows; ++i) {
      const double square = std::pow(x(i, 0) - 1, 2) + std::pow(x(i, 1), 2);
      y.push_back(5 + 3 * std::exp(-square / 2) + noise * errors[static_cast<std::size_t>(i)]);
    }
  }
  [[nodiscard]] std::vector<double> classes() const {
    std::vector<double> result;
    for (const double value : y) result.push_back(value > 5.8 ? 1 : -1);
    return result;
  }
};

ActiveSet every_so_many(const BlockedRows& rows, const std::string& features, Index apart) {
  const Candidates candidates(Dictionary(features), {rows.inputs(), 1, 5, &rows});
  ActiveSet active;
  for (Index j = 0; j < candidates.size(); j += apart) {
    active.candidates.push_back(j);
    active.atoms.push_back(candidates.atom(j));
  }
  active.theta.assign(active.atoms.size(), 0);
  return active;
}

TEST(Tune, TheGradientIsThatOfTheObjectiveWithCoefficientsFittedAgain) {
  const Bump bump(700, 0.3);
  for (const bool classes : {false, true}) {
    const std::vector<double> targets = classes ? bump.classes() : bump.y;
    const Loss& loss = classes ? logistic_loss() : squared_loss();
    Workers workers(2);
    const Problem problem{bump.rows, targets, loss, Intercept::kUnpenalised, workers};
    for (const std::string features :
         {"linear + gaussian(order=2, sigma=2) + landmark(count=6, sigma=1.5) + fourier(count=4, sigma=2)",
          "landmark(count=5, sigma=2, kernel=matern(2.5)) + spline(knots=3)"}) {
      TuneOptions options;
      options.ridge = 0.1;
      TuningObjective objective(problem, every_so_many(bump.rows, features, 3), options);
      std::vector<double> moves = reference::random_vector(static_cast<Index>(objective.size()), 7);
      for (double& move : moves) move *= 0.05;
      std::vector<double> gradient(moves.size());
      std::vector<double> unused(moves.size());
      objective.evaluate(moves, gradient);
      const double size =
          std::sqrt(std::inner_product(gradient.begin(), gradient.end(), gradient.begin(), 0.0));
      for (std::size_t i = 0; i < moves.size(); ++i) {
        constexpr double kStep = 1e-4;
        std::vector<double> there = moves;
        there[i] += kStep;
        double difference = objective.evaluate(there, unused);
        there[i] -= 2 * kStep;
        difference -= objective.evaluate(there, unused);
        EXPECT_NEAR(gradient[i], difference / (2 * kStep), 1e-4 * size) << features << " move " << i;
      }
    }
  }
}

TEST(Tune, FindsTheCentreTheWidthAndTheInputsThatMatter) {
  const Bump bump(2000);
  Workers workers(2);
  const Problem problem{bump.rows, bump.y, squared_loss(), Intercept::kUnpenalised, workers};
  ActiveSet active;
  active.candidates = {0};
  active.atoms = {every_so_many(bump.rows, "landmark(count=1, sigma=2)", 1).atoms[0]};
  active.theta = {0};
  TuneOptions options;
  options.ridge = 1e-6;
  options.pull = 0;
  options.most_steps = 300;
  const Tuned tuned = tune(problem, active, options, {});
  EXPECT_LT(tuned.objective, 1e-3) << "of a sum of squares that was hundreds";
  EXPECT_NEAR(tuned.active.theta[0], 3, 0.01);
  const double sigma = tuned.active.atoms[0].parameters[0];
  EXPECT_NEAR(sigma / tuned.stretch[0], 1, 0.01);
  EXPECT_NEAR(sigma / tuned.stretch[1], 1, 0.01);
  EXPECT_GT(sigma / tuned.stretch[2], 20) << "this input does not matter";
  EXPECT_NEAR(tuned.active.atoms[0].parameters[3] / tuned.stretch[0], 1, 0.01);
}

TEST(Tune, StepsNeverMakeTheObjectiveWorseAndMayBeEnded) {
  const Bump bump(900, 0.5);
  Workers workers(2);
  const Problem problem{bump.rows, bump.y, squared_loss(), Intercept::kUnpenalised, workers};
  TuneOptions options;
  options.pull = 0;
  double last = std::numeric_limits<double>::infinity();
  int steps = 0;
  const Tuned tuned = tune(problem, every_so_many(bump.rows, "linear + landmark(count=8, sigma=2)", 2),
                           options, [&](const Tuned& state) {
                             EXPECT_LE(state.objective, last);
                             last = state.objective;
                             return ++steps < 6;
                           });
  EXPECT_EQ(steps, 6);
  EXPECT_EQ(tuned.step, 6);
  EXPECT_EQ(tuned.objective, last);
}

TEST(Tune, AStrongPullKeepsEverythingInItsPlace) {
  const Bump bump(500, 0.5);
  Workers workers(2);
  const Problem problem{bump.rows, bump.y, squared_loss(), Intercept::kUnpenalised, workers};
  const ActiveSet start = every_so_many(bump.rows, "landmark(count=4, sigma=2)", 1);
  TuneOptions options;
  options.pull = 1e9;
  const Tuned tuned = tune(problem, start, options, {});
  for (const double stretch : tuned.stretch) EXPECT_NEAR(stretch, 1, 1e-4);
  for (std::size_t i = 0; i < start.atoms.size(); ++i)
    EXPECT_NEAR(tuned.active.atoms[i].parameters[0], start.atoms[i].parameters[0], 1e-3);
}

TEST(Tune, KeepsTheOrderOfAtomsOfSeveralFamilies) {
  const Bump bump(500, 0.5);
  Workers workers(2);
  const Problem problem{bump.rows, bump.y, squared_loss(), Intercept::kUnpenalised, workers};
  ActiveSet start = every_so_many(bump.rows, "linear + landmark(count=4, sigma=2)", 1);
  std::swap(start.atoms[0], start.atoms[5]);
  const Tuned tuned = tune(problem, start, {}, {});
  for (std::size_t i = 0; i < start.atoms.size(); ++i)
    EXPECT_EQ(tuned.active.atoms[i].family, start.atoms[i].family);
}

TEST(Tune, AnExceptionOfTheCallbackComesThroughTheOptimiser) {
  const Bump bump(300, 0.5);
  Workers workers(1);
  const Problem problem{bump.rows, bump.y, squared_loss(), Intercept::kUnpenalised, workers};
  EXPECT_THROW(
      static_cast<void>(tune(problem, every_so_many(bump.rows, "landmark(count=4, sigma=2)", 1), {},
                             [](const Tuned&) -> bool { throw Error(ErrorKind::kInterrupted, "enough"); })),
      Error);
}

// Every so many terms.
std::vector<Index> rounds_of(Index each, Index terms) {
  std::vector<Index> ends;
  for (Index end = each; end < terms; end += each) ends.push_back(end);
  ends.push_back(terms);
  return ends;
}

struct Search {
  Bump training{1200, 0.3, 1};
  Bump held_out{400, 0.3, 11};
  Dictionary dictionary{"linear + landmark(count=100)"};

  [[nodiscard]] TunedSearchOptions options(Index terms) const {
    GreedyOptions greedy;
    greedy.terms = terms;
    greedy.penalty.ridge = 0.1;
    return {dictionary, greedy, Precision::kMixed, 3, false, rounds_of(2, terms), 30, 1};
  }
  [[nodiscard]] Problem problem(Workers& workers) const { return problem_of(training, workers); }
  // One fold, or a second one too that learns from what the first one holds out.
  [[nodiscard]] std::vector<TunedModel> find(Workers& workers, const std::vector<double>& ridges,
                                             const TunedSearchOptions& options,
                                             std::size_t n_folds = 1) const {
    std::vector<TuningFold> folds = {{problem(workers), HeldOutRows{held_out.rows, held_out.y}}};
    if (n_folds == 2)
      folds.push_back({problem_of(held_out, workers), HeldOutRows{training.rows, training.y}});
    return complete_tuned(folds, begin_tuned(folds, ridges, options, {}), ridges, options, {});
  }

 private:
  [[nodiscard]] static Problem problem_of(const Bump& rows, Workers& workers) {
    return {rows.rows, rows.y, squared_loss(), Intercept::kUnpenalised, workers};
  }
};

TEST(TunedSearch, HeldOutRowsGainRoundByRound) {
  const Search search;
  Workers workers(2);
  const std::vector<double> ridges = {1e-3, 0.1, 10};
  const TunedModel model = search.find(workers, ridges, search.options(6)).front();
  ASSERT_EQ(model.rounds.size(), 3U);
  EXPECT_EQ(model.active.size(), 6);
  EXPECT_GT(model.rounds[0].steps, 0);
  // Noise of variance 0.09 is what nothing explains.
  EXPECT_LT(model.held_out(), 0.1);
  EXPECT_GT(model.stretch[0] / model.stretch[2], 2);
  EXPECT_GT(model.stretch[1] / model.stretch[3], 2);
}

TEST(TunedSearch, FoldsHaveTheSameRoundsAndTheirOwnAtoms) {
  const Search search;
  Workers workers(2);
  const std::vector<TunedModel> models = search.find(workers, {1e-3, 0.1, 10}, search.options(6), 2);
  ASSERT_EQ(models.size(), 2U);
  EXPECT_NE(models[0].active.atoms, models[1].active.atoms);
  EXPECT_EQ(models[0].ridge, models[1].ridge);
  ASSERT_EQ(models[0].rounds.size(), models[1].rounds.size());
  for (std::size_t i = 0; i < models[0].rounds.size(); ++i) {
    EXPECT_EQ(models[0].rounds[i].steps, models[1].rounds[i].steps);
    EXPECT_EQ(models[0].rounds[i].ridge, models[1].rounds[i].ridge);
  }
  // The held-out loss is that of all held-out rows together.
  double loss = 0;
  for (const TunedModel& model : models) {
    const Bump& asked = &model == models.data() ? search.held_out : search.training;
    const BlockedRows rows = asked.rows.stretched(model.stretch);
    loss += loss_sum({rows, asked.y, squared_loss(), Intercept::kUnpenalised, workers}, model.active.score());
  }
  EXPECT_NEAR(models[0].held_out(), loss / 1600, 1e-9);
}

TEST(TunedSearch, InputsStayAsTheyAreWhereStretchesOnlyFollowTheNoise) {
  // Few rows of many inputs that all matter alike.
  constexpr Index kMany = 60;
  const Dictionary dictionary("landmark(count=60)");
  const std::vector<InputColumn> inputs = reference::plain_inputs(kMany);
  const auto sample = [&](unsigned seed) {
    const Matrix x = reference::random_matrix(1000, kMany, seed);
    const Matrix noise = reference::random_matrix(1000, 1, seed + 100);
    std::vector<double> y;
    for (Index i = 0; i < x.rows; ++i) {
      double square = 0;
      for (Index j = 0; j < kMany; ++j) square += std::pow(x(i, j) - 0.7, 2);
      y.push_back(10 * std::exp(-square / (2 * kMany)) + noise(i, 0));
    }
    return std::pair(x, y);
  };
  const auto [x, y] = sample(1);
  const auto [held_out_x, held_out_y] = sample(2);
  const BlockedRows rows(x.view(), inputs);
  const BlockedRows held_out_rows(held_out_x.view(), inputs);
  const SingleThreadedBlas blas;
  Workers workers(2);
  const Problem problem{rows, y, squared_loss(), Intercept::kUnpenalised, workers};
  const TuningFold fold{problem, HeldOutRows{held_out_rows, held_out_y}};
  GreedyOptions greedy;
  greedy.terms = 6;
  const TunedSearchOptions options{dictionary, greedy, Precision::kMixed, 3, false, {2, 4, 6}, 30, 1};
  const std::vector<double> ridges = {0.1, 1, 10};
  const std::vector<TunedModel> begun = begin_tuned({&fold, 1}, ridges, options, {});
  const TunedModel model = complete_tuned({&fold, 1}, begun, ridges, options, {}).front();
  EXPECT_TRUE(begun.front().stretches_inputs);
  EXPECT_FALSE(model.stretches_inputs);
  EXPECT_EQ(model.stretch, std::vector<double>(kMany, 1.0));
  EXPECT_GT(model.rounds.front().steps, 0);
}

TEST(TunedSearch, ARaceEndsWhereMoreTermsMakeHeldOutRowsWorse) {
  // After the bump there is only noise to be learned from 60 rows.
  const Bump few(60, 2, 5);
  const Search search;
  Workers workers(2);
  const Problem problem{few.rows, few.y, squared_loss(), Intercept::kUnpenalised, workers};
  const TuningFold fold{problem, HeldOutRows{search.held_out.rows, search.held_out.y}};
  const Dictionary dictionary("landmark(count=60)");
  GreedyOptions greedy;
  greedy.terms = 40;
  const std::vector<double> ridges = {1e-4};
  const auto rounds = [&](bool is_race) {
    TunedSearchOptions options{dictionary, greedy, Precision::kMixed, 3, false, rounds_of(10, 40), 4, 1};
    options.is_race = is_race;
    const std::span<const TuningFold> folds(&fold, 1);
    std::vector<TunedModel> models = nothing_tuned(folds, ridges[0], true);
    return with_rounds(folds, std::move(models), 100, ridges, options, {}).front().rounds;
  };
  const std::vector<TuningRound> all = rounds(false);
  const std::vector<TuningRound> raced = rounds(true);
  ASSERT_EQ(all.size(), 4U);
  ASSERT_LT(raced.size(), all.size());
  EXPECT_LT(raced.back().held_out, all.back().held_out);
}

TEST(TunedSearch, WhatHeldOutRowsAreDoneWithIsNotTriedAgain) {
  const Search search;
  Workers workers(2);
  const std::vector<double> ridges = {1e-4};
  const TuningFold fold{search.problem(workers), HeldOutRows{search.held_out.rows, search.held_out.y}};
  const std::span<const TuningFold> folds(&fold, 1);
  TunedSearchOptions options = search.options(4);
  options.round_ends = rounds_of(2, 4);
  options.is_race = true;
  std::vector<TunedModel> models = nothing_tuned(folds, ridges[0], true);
  models = with_rounds(folds, std::move(models), 1, ridges, options, {});
  models.front().is_enough = true;
  EXPECT_EQ(with_rounds(folds, models, 100, ridges, options, {}).front().rounds.size(), 1U);
  models.front().is_enough = false;
  EXPECT_EQ(with_rounds(folds, models, 100, ridges, options, {}).front().rounds.size(), 2U);
}

TEST(TunedSearch, BeginsAgainWithTheTermsOfItsFirstRound) {
  const Search search;
  Workers workers(2);
  const std::vector<double> ridges = {1e-3, 0.1};
  const TuningFold fold{search.problem(workers), HeldOutRows{search.held_out.rows, search.held_out.y}};
  const std::span<const TuningFold> folds(&fold, 1);
  TunedSearchOptions options = search.options(4);
  options.round_ends = rounds_of(2, 4);
  options.is_race = true;
  const std::vector<TunedModel> tuned =
      with_rounds(folds, nothing_tuned(folds, 0.1, true), 2, ridges, options, {});
  const std::vector<TunedModel> begun = begun_again(tuned, false);
  EXPECT_TRUE(begun.front().rounds.empty());
  EXPECT_EQ(begun.front().active.size(), 2);
  // As if it had been done from the beginning.
  const TunedModel again = with_rounds(folds, begun, 1, ridges, options, {}).front();
  const TunedModel anew =
      with_rounds(folds, nothing_tuned(folds, 0.1, false), 1, ridges, options, {}).front();
  EXPECT_EQ(again.held_out(), anew.held_out());
  EXPECT_EQ(again.active.theta, anew.active.theta);
  EXPECT_EQ(again.stretch, std::vector<double>(kInputs, 1.0));
  // And without tuning.
  const TunedModel untuned = select_untuned(folds, begun, ridges, options, {}).front();
  ASSERT_EQ(untuned.active.size(), 4);
  EXPECT_EQ(untuned.rounds.front().steps, 0);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(untuned.active.atoms[i].parameters, begun.front().active.atoms[i].parameters);
}

TEST(TunedSearch, ARaceClimbsToARidgeThatHeldOutRowsLike) {
  const Search search;
  Workers workers(2);
  const std::vector<double> ridges = {1e-3, 0.1, 10, 1e3, 1e5};
  const TuningFold fold{search.problem(workers), HeldOutRows{search.held_out.rows, search.held_out.y}};
  const std::span<const TuningFold> folds(&fold, 1);
  TunedSearchOptions options = search.options(4);
  options.is_race = true;
  const double worst = ridges.back();
  const TunedModel model =
      with_rounds(folds, nothing_tuned(folds, worst, true), 2, ridges, options, {}).front();
  EXPECT_EQ(model.rounds.front().select_ridge, worst);
  EXPECT_LT(model.ridge, worst);
  EXPECT_LT(model.held_out(), 0.2);
}

TEST(TunedSearch, AfterTheDeadlineTermsAreOnlySelected) {
  const Search search;
  Workers workers(2);
  const std::vector<double> ridges = {1e-3, 0.1, 10};
  TunedSearchOptions options = search.options(6);
  const WorkClock clock;
  options.deadline = {&clock, 0};
  const TunedModel model = search.find(workers, ridges, options).front();
  EXPECT_EQ(model.active.size(), 6);
  for (const TuningRound& round : model.rounds) EXPECT_EQ(round.steps, 0);
  EXPECT_EQ(model.stretch, std::vector<double>(kInputs, 1.0));
}

TEST(TunedSearch, AfterItsEndNothingIsDone) {
  const Search search;
  Workers workers(2);
  const std::vector<double> ridges = {0.1};
  TunedSearchOptions options = search.options(6);
  const WorkClock clock;
  options.end = {&clock, 0};
  EXPECT_THROW(static_cast<void>(search.find(workers, ridges, options)), OutOfTime);
}

TEST(TunedSearch, ThreadsDoNotChangeTheResult) {
  const Search search;
  const std::vector<double> ridges = {0.1};
  std::vector<TunedModel> models;
  for (const int threads : {1, 2, 3}) {
    Workers workers(threads);
    models.push_back(search.find(workers, ridges, search.options(4)).front());
  }
  for (const TunedModel& model : models) {
    EXPECT_EQ(model.active.atoms, models[0].active.atoms);
    EXPECT_EQ(model.active.theta, models[0].active.theta);
    EXPECT_EQ(model.stretch, models[0].stretch);
  }
}

TEST(TunedSearch, AllRowsAreLearnedFromInTheSameRounds) {
  const Search search;
  Workers workers(2);
  const std::vector<double> ridges = {0.1};
  const TunedModel found = search.find(workers, ridges, search.options(4)).front();
  const Bump all(3000, 0.3, 21);
  const Problem problem{all.rows, all.y, squared_loss(), Intercept::kUnpenalised, workers};
  const auto risk = [&](const TunedModel& model) {
    const BlockedRows rows = all.rows.stretched(model.stretch);
    return loss_sum({rows, all.y, squared_loss(), Intercept::kUnpenalised, workers}, model.active.score()) /
           static_cast<double>(rows.rows());
  };
  const TunedModel again = with_all_rows(problem, found, search.options(4), {});
  ASSERT_EQ(again.rounds.size(), found.rounds.size());
  for (std::size_t i = 0; i < found.rounds.size(); ++i) {
    EXPECT_EQ(again.rounds[i].terms, found.rounds[i].terms);
    EXPECT_LE(again.rounds[i].steps, 2 * found.rounds[i].steps);
  }
  EXPECT_GT(again.rounds.front().steps, found.rounds.front().steps) << "more rows bear more steps";
  EXPECT_NE(again.active.atoms, found.active.atoms);
  EXPECT_LT(risk(again), risk(found)) << "these rows were learned from";

  // Rounds that lead nowhere: then the model that was found goes on from where it is.
  TunedModel lost = found;
  for (TuningRound& round : lost.rounds) {
    round.wanted = 1;
    round.steps = 0;
  }
  const TunedModel continued = with_all_rows(problem, lost, search.options(4), {});
  EXPECT_EQ(continued.active.size(), 4);
  EXPECT_LT(risk(continued), risk(found));
  EXPECT_GT(continued.rounds.back().steps, 0);
}

TEST(TunedSearch, RoundsSayHowManyTermsAndStepsThereWere) {
  Search search;
  search.dictionary = Dictionary("linear");  // four candidates for six terms
  Workers workers(2);
  TunedModel found = search.find(workers, {0.1}, search.options(6)).front();
  ASSERT_EQ(found.rounds.size(), 3U);
  EXPECT_EQ(found.active.size(), kInputs);
  EXPECT_EQ(found.rounds[0].terms, 2);
  EXPECT_EQ(found.rounds[2].terms, kInputs);
  const TunedModel without = tune_in_rounds(search.problem(workers), search.options(6), {});
  EXPECT_EQ(without.rounds.back().terms, kInputs);

  // With all rows a tuning may end before it has had the steps that it had with some.
  search.dictionary = Dictionary("linear + landmark(count=100)");
  found = search.find(workers, {0.1}, search.options(4)).front();
  for (TuningRound& round : found.rounds) round.steps = 100000;
  const TunedModel again = with_all_rows(search.problem(workers), found, search.options(4), {});
  for (const TuningRound& round : again.rounds) {
    EXPECT_GT(round.steps, 0);
    EXPECT_LT(round.steps, 100000);
  }
}

TEST(LearnedMetric, FindsTheInputsThatMatterAndTheirCombinations) {
  Search search;
  Workers workers(2);
  const std::vector<double> ridges = {0.1, 1};
  TunedSearchOptions options = search.options(20);
  const HeldOutRows held_out{search.held_out.rows, search.held_out.y};
  const LearnedMetric lengths =
      learn_metric(search.problem(workers), held_out, Metric::kDiagonal, ridges, options, {});
  EXPECT_GT(lengths.rounds, 0);
  EXPECT_GT(lengths.mixing(0, 0), 2 * lengths.mixing(2, 2));
  EXPECT_GT(lengths.mixing(1, 1), 2 * lengths.mixing(3, 3));
  EXPECT_EQ(lengths.mixing(0, 1), 0);

  // A function of x_0 + x_1 alone.
  for (Bump* rows : {&search.training, &search.held_out}) {
    for (Index i = 0; i < rows->x.rows; ++i)
      rows->y[static_cast<std::size_t>(i)] = std::sin(rows->x(i, 0) + rows->x(i, 1));
  }
  const LearnedMetric full =
      learn_metric(search.problem(workers), held_out, Metric::kFull, ridges, options, {});
  EXPECT_GT(full.rounds, 0);
  EXPECT_GT(full.mixing(0, 1), 0.6 * full.mixing(0, 0));
  EXPECT_LT(std::abs(full.mixing(0, 2)), 0.1 * full.mixing(0, 0));
}

TEST(BlockedRows, StretchedAndMixedRowsAreWhatTheySay) {
  const Matrix x = reference::random_matrix(700, 3, 5);
  std::vector<InputColumn> inputs = reference::plain_inputs(3);
  inputs[1].warp.limit = 1;
  const BlockedRows rows(x.view(), inputs);
  Matrix mixing(3, 3);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j)
      mixing(i, j) = 0.3 * static_cast<double>(i + 1) - 0.2 * static_cast<double>(j);
  }
  const std::vector<double> factors = {2, 0.5, 3};
  const BlockedRows stretched = rows.stretched(factors);
  const BlockedRows both = rows.mixed(mixing).stretched(factors);
  Arena arena;
  for (Index b = 0; b < rows.blocks(); ++b) {
    const Arena::Scope scope(arena);
    const RowBlock plain = rows.load(b, arena);
    const RowBlock first = stretched.load(b, arena);
    const RowBlock second = both.load(b, arena);
    for (Index n = 0; n < plain.rows; ++n) {
      double square = 0;
      for (Index i = 0; i < 3; ++i) {
        const double factor = factors[static_cast<std::size_t>(i)];
        EXPECT_NEAR(first.input(i)[n], factor * plain.input(i)[n], 1e-14);
        double combination = 0;
        for (Index j = 0; j < 3; ++j) combination += mixing(i, j) * plain.input(j)[n];
        EXPECT_NEAR(second.input(i)[n], factor * combination, 1e-13);
        square += std::pow(second.input(i)[n], 2);
      }
      EXPECT_NEAR(second.square_norms[n], square, 1e-12);
    }
  }
}

}  // namespace
}  // namespace mfga
