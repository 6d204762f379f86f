// Algorithm 1 against a naive pursuit on the materialised dictionary, and what it promises at each step.
#include "solve/greedy.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include "losses/logistic.hpp"
#include "losses/squared.hpp"
#include "mfga/error.hpp"
#include "reference_matrices.hpp"
#include "solve/atom_products.hpp"
#include "solve/counting_engine.hpp"

namespace mfga {
namespace {

constexpr Index kInputs = 6;
const char* const kFeatures = "linear + gaussian(order=2, sigma=2.2)";

struct Setting {
  Matrix x;
  std::vector<double> y;
  Candidates candidates;
  BlockedRows rows;

  Setting(Index n_rows, const std::string& features, unsigned seed)
      : x(reference::random_matrix(n_rows, kInputs, seed)),
        y(static_cast<std::size_t>(n_rows)),
        candidates(Dictionary(features), {kInputs, 1}),
        rows(x.view(), reference::plain_inputs(kInputs)) {}
};

Setting noisy_regression(Index n_rows, unsigned seed) {
  Setting setting(n_rows, kFeatures, seed);
  const std::vector<double> noise = reference::random_vector(n_rows, seed + 1);
  for (Index i = 0; i < n_rows; ++i) {
    const double* x = setting.x.row(i);
    setting.y[static_cast<std::size_t>(i)] = 3 + x[0] - 2 * x[1] * x[2] + std::sin(x[3]) + 0.5 * x[4] * x[4] +
                                             0.4 * noise[static_cast<std::size_t>(i)];
  }
  return setting;
}

Setting noisy_classes(Index n_rows, unsigned seed) {
  Setting setting = noisy_regression(n_rows, seed);
  for (double& y : setting.y) y = y > 3 ? 1 : -1;
  return setting;
}

enum class EngineKind { kLazy, kGram };

struct RunOptions {
  GreedyOptions greedy;
  Intercept intercept = Intercept::kUnpenalised;
  EngineKind engine = EngineKind::kLazy;
  int threads = 2;
  Precision precision = Precision::kMixed;
};

GreedyResult run(const Setting& setting, const Loss& loss, const RunOptions& options,
                 const StepCallback& on_step = {}) {
  Workers workers(options.threads);
  const Problem problem{setting.rows, setting.y, loss, options.intercept, workers};
  const auto engine = options.engine == EngineKind::kGram
                          ? make_gram_engine(problem, setting.candidates)
                          : make_lazy_engine(problem, setting.candidates, options.precision);
  const auto refit = make_refit(problem, options.greedy.penalty);
  return run_greedy(problem, setting.candidates, *engine, *refit, options.greedy, on_step);
}

Eigen::VectorXd scores_of(const Setting& setting, const ActiveSet& active) {
  Eigen::VectorXd scores = Eigen::VectorXd::Constant(setting.x.rows, active.intercepts.front());
  for (std::size_t m = 0; m < active.atoms.size(); ++m) {
    for (Index i = 0; i < setting.x.rows; ++i) {
      scores[i] += active.theta[m] * reference::atom_value(active.atoms[m], setting.x.row(i), kInputs);
    }
  }
  return scores;
}

// The gradient of sum of losses + ridge |theta|^2 with respect to (c, theta).
Eigen::VectorXd objective_gradient(const Setting& setting, const Loss& loss, const ActiveSet& active,
                                   double ridge) {
  const Eigen::VectorXd scores = scores_of(setting, active);
  Eigen::VectorXd first(setting.x.rows);
  loss.gradient(scores.data(), setting.y.data(), nullptr, setting.x.rows, first.data());
  Eigen::VectorXd gradient(1 + active.size());
  gradient[0] = first.sum();
  for (Index m = 0; m < active.size(); ++m) {
    const auto position = static_cast<std::size_t>(m);
    double sum = 2 * ridge * active.theta[position];
    for (Index i = 0; i < setting.x.rows; ++i) {
      sum += first[i] * reference::atom_value(active.atoms[position], setting.x.row(i), kInputs);
    }
    gradient[1 + m] = sum;
  }
  return gradient;
}

TEST(Greedy, EqualsANaivePursuitForBothEngines) {
  const Setting setting = noisy_regression(1100, 1);
  const Eigen::MatrixXd features = reference::materialise(setting.candidates, setting.x);
  const Eigen::Map<const Eigen::VectorXd> y(setting.y.data(), setting.x.rows);
  for (const Index per_step : {1, 4, 7}) {
    for (const double ridge : {0.0, 0.5}) {
      for (const Intercept intercept : {Intercept::kNone, Intercept::kUnpenalised}) {
        const reference::Pursuit expected = reference::pursue(features, y, 15, per_step, ridge, intercept);
        for (const EngineKind engine : {EngineKind::kLazy, EngineKind::kGram}) {
          const GreedyResult result =
              run(setting, squared_loss(), {{15, per_step, 0, {ridge, 0}}, intercept, engine, 2});
          ASSERT_EQ(result.active.candidates, expected.chosen) << "k=" << per_step << " ridge=" << ridge;
          for (Index m = 0; m < 15; ++m) {
            EXPECT_NEAR(result.active.theta[static_cast<std::size_t>(m)], expected.theta[m],
                        1e-8 * (1 + std::abs(expected.theta[m])));
          }
          EXPECT_NEAR(result.active.intercepts.front(), expected.intercept, 1e-8);
        }
      }
    }
  }
}

TEST(AtomProducts, AreThoseOfTheFeatures) {
  // More new atoms than a tile holds, with and without old ones.
  const Setting setting(700, "linear + gaussian(order=4, sigma=2.2)", 5);
  std::vector<Atom> atoms;
  for (Index j = 0; j < 130; ++j)
    atoms.push_back(setting.candidates.atom((7 * j) % setting.candidates.size()));
  const std::vector<double> y = reference::random_vector(700, 6);
  Eigen::MatrixXd values(700, 130);
  for (Index i = 0; i < 700; ++i) {
    for (Index j = 0; j < 130; ++j)
      values(i, j) = reference::atom_value(atoms[static_cast<std::size_t>(j)], setting.x.row(i), kInputs);
  }
  const Eigen::Map<const Eigen::VectorXd> target(y.data(), 700);
  for (const Index n_new : {1, 20, 49, 130}) {
    Workers workers(2);
    const Matrix products = atom_products(setting.rows, y, atoms, n_new, workers);
    ASSERT_EQ(products.rows, n_new);
    ASSERT_EQ(products.cols, 132);
    for (Index i = 0; i < n_new; ++i) {
      const Eigen::VectorXd value = values.col(130 - n_new + i);
      EXPECT_NEAR(products(i, 0), value.sum(), 1e-9);
      EXPECT_NEAR(products(i, 1), value.dot(target), 1e-9);
      for (Index j = 0; j < 130; ++j) EXPECT_NEAR(products(i, 2 + j), value.dot(values.col(j)), 1e-9);
    }
  }
}

TEST(Refit, TellsTheLossOfLeastSquares) {
  const Setting setting = noisy_regression(900, 8);
  Workers workers(2);
  for (const Penalty penalty : {Penalty{0, 0}, Penalty{3, 0}, Penalty{0, 0.5}}) {
    for (const Intercept intercept : {Intercept::kNone, Intercept::kUnpenalised}) {
      const Problem problem{setting.rows, setting.y, squared_loss(), intercept, workers};
      const auto refit = make_least_squares_refit(problem, penalty);
      ActiveSet active;
      for (const Index candidate : {0, 3, 9, 12, 17}) {
        active.candidates.push_back(candidate);
        active.atoms.push_back(setting.candidates.atom(candidate));
        const Matrix products = atom_products(setting.rows, setting.y, active.atoms, 1, workers);
        refit->append({products.row(0), static_cast<std::size_t>(products.cols)});
      }
      const RefitReport report = refit->solve(active);
      ASSERT_TRUE(report.loss_sum.has_value());
      const double expected = loss_sum(problem, active.score());
      EXPECT_NEAR(*report.loss_sum, expected, 1e-9 * expected);
    }
  }
}

TEST(Refit, DoesNotTellALossThatIsRounding) {
  Setting setting(900, kFeatures, 8);
  for (Index i = 0; i < 900; ++i) setting.y[static_cast<std::size_t>(i)] = 5 * setting.x(i, 2);
  Workers workers(1);
  const Problem problem{setting.rows, setting.y, squared_loss(), Intercept::kNone, workers};
  const auto refit = make_least_squares_refit(problem, {0, 0});
  ActiveSet active{{2}, {setting.candidates.atom(2)}, {}, {0}};
  const Matrix products = atom_products(setting.rows, setting.y, active.atoms, 1, workers);
  refit->append({products.row(0), static_cast<std::size_t>(products.cols)});
  EXPECT_FALSE(refit->solve(active).loss_sum.has_value());
}

// The Hessian is kept from refit to refit; what it leads to must be what a refit without a past finds.
TEST(Refit, NewtonWithAPastFindsTheSame) {
  const Setting setting = noisy_classes(1500, 9);
  for (const Penalty penalty : {Penalty{0.5, 0}, Penalty{0, 2}}) {
    const GreedyResult grown = run(setting, logistic_loss(), {{24, 3, 0, penalty}});
    Workers workers(2);
    const Problem problem{setting.rows, setting.y, logistic_loss(), Intercept::kUnpenalised, workers};
    ActiveSet fresh{grown.active.candidates, grown.active.atoms, {}, {0}};
    static_cast<void>(make_newton_refit(problem, penalty)->solve(fresh));
    EXPECT_NEAR(fresh.intercepts.front(), grown.active.intercepts.front(), 1e-4);
    for (std::size_t m = 0; m < fresh.theta.size(); ++m)
      EXPECT_NEAR(fresh.theta[m], grown.active.theta[m], 1e-4 * (1 + std::abs(fresh.theta[m])));
    EXPECT_NEAR(loss_sum(problem, fresh.score()) / loss_sum(problem, grown.active.score()), 1, 1e-7);
  }
}

TEST(Refit, NewtonFindsTheSameFromAnyHessian) {
  const Setting setting = noisy_classes(1500, 9);
  const Penalty penalty{0.5, 0};
  const GreedyResult grown = run(setting, logistic_loss(), {{12, 3, 0, penalty}});
  Workers workers(2);
  const Problem problem{setting.rows, setting.y, logistic_loss(), Intercept::kUnpenalised, workers};
  const std::size_t size = grown.active.atoms.size() + 1;
  // That of the solution, one that is far too small, and one of other directions.
  ActiveSet fresh{grown.active.candidates, grown.active.atoms, {}, {0}};
  const auto refit = make_newton_refit(problem, penalty);
  static_cast<void>(refit->solve(fresh));
  std::vector<std::vector<double>> hessians = {refit->hessian(0), refit->hessian(0),
                                               std::vector<double>(size * size)};
  for (double& entry : hessians[1]) entry *= 1e-3;
  for (std::size_t i = 0; i < size; ++i) hessians[2][i * size + i] = static_cast<double>(1 + i % 3);
  for (const std::vector<double>& hessian : hessians) {
    ActiveSet near{grown.active.candidates, grown.active.atoms, {}, {0}};
    const auto started = make_newton_refit(problem, penalty);
    started->start_near(hessian);
    EXPECT_TRUE(started->solve(near).converged);
    for (std::size_t m = 0; m < fresh.theta.size(); ++m)
      EXPECT_NEAR(near.theta[m], fresh.theta[m], 1e-4 * (1 + std::abs(fresh.theta[m])));
  }
}

TEST(Greedy, RecoversANoiselessTargetExactly) {
  Setting setting(700, kFeatures, 3);
  const std::vector<Index> truth = {1, 9, 15, 22, 30};
  for (Index i = 0; i < setting.x.rows; ++i) {
    double value = 0;
    for (std::size_t m = 0; m < truth.size(); ++m) {
      value += (m % 2 == 0 ? 2.0 : -1.5) *
               reference::atom_value(setting.candidates.atom(truth[m]), setting.x.row(i), kInputs);
    }
    setting.y[static_cast<std::size_t>(i)] = value;
  }
  for (const EngineKind engine : {EngineKind::kLazy, EngineKind::kGram}) {
    for (const Index per_step : {1, 2, 5, 8}) {
      const GreedyResult result =
          run(setting, squared_loss(), {{25, per_step, 0, {}}, Intercept::kUnpenalised, engine, 2});
      EXPECT_LT(result.path.back().risk, 1e-13 * result.initial_risk);
      for (std::size_t m = 0; m < truth.size(); ++m) {
        const auto found =
            std::find(result.active.candidates.begin(), result.active.candidates.end(), truth[m]);
        ASSERT_NE(found, result.active.candidates.end()) << "atom " << truth[m] << " with k=" << per_step;
      }
      for (std::size_t m = 0; m < result.active.candidates.size(); ++m) {
        const auto position =
            std::find(truth.begin(), truth.end(), result.active.candidates[m]) - truth.begin();
        const double expected = position == 5 ? 0.0 : position % 2 == 0 ? 2.0 : -1.5;
        EXPECT_NEAR(result.active.theta[m], expected, 1e-7);
      }
    }
  }
}

TEST(Greedy, LogisticFindsTheAtomsOfTheTruth) {
  // Labels by the sign of a combination of five atoms: with all of them the classes separate.
  Setting setting(4000, "gaussian(order=2, sigma=2.2)", 4);
  const std::vector<Index> truth = {1, 4, 8, 14, 21};
  for (Index i = 0; i < setting.x.rows; ++i) {
    double value = 0;
    for (std::size_t m = 0; m < truth.size(); ++m) {
      const Atom atom = setting.candidates.atom(truth[m]);
      const double scale = describe(atom, std::vector<std::string>(kInputs, "x")).factor;
      value += (m % 2 == 0 ? 1 : -1) * reference::atom_value(atom, setting.x.row(i), kInputs) / scale;
    }
    setting.y[static_cast<std::size_t>(i)] = value > 0 ? 1 : -1;
  }
  const GreedyResult result = run(setting, logistic_loss(), {{5, 1, 0, {1e-4, 0}}});
  std::vector<Index> chosen = result.active.candidates;
  std::sort(chosen.begin(), chosen.end());
  EXPECT_EQ(chosen, truth);
  EXPECT_LT(result.path.back().risk, 0.02);
}

TEST(Greedy, EveryRefitIsOptimal) {
  for (const Loss* loss : reference::both_losses()) {
    const Setting setting = loss->constant_curvature() ? noisy_regression(900, 5) : noisy_classes(900, 5);
    for (const Index terms : {1, 3, 10}) {
      const double ridge = 0.3;
      const GreedyResult result = run(setting, *loss, {{terms, 2, 0, {ridge, 0}}});
      const double gradient =
          objective_gradient(setting, *loss, result.active, ridge).lpNorm<Eigen::Infinity>();
      const double at_start =
          objective_gradient(setting, *loss, {{}, {}, {}, {10}}, ridge).lpNorm<Eigen::Infinity>();
      EXPECT_LT(gradient, 1e-7 * at_start) << loss->name() << " with " << terms << " terms";
      EXPECT_TRUE(result.converged);
    }
  }
}

TEST(Greedy, NormBoundIsMetAndOptimal) {
  for (const Loss* loss : reference::both_losses()) {
    const Setting setting = loss->constant_curvature() ? noisy_regression(900, 6) : noisy_classes(900, 6);
    const double bound = 1.5;
    const GreedyResult result = run(setting, *loss, {{8, 2, 0, {0, bound}}});
    const Eigen::Map<const Eigen::VectorXd> theta(result.active.theta.data(), result.active.size());
    EXPECT_NEAR(theta.norm(), bound, 1e-8);
    EXPECT_GT(result.path.back().ridge,
              0);  // the multiplier: the gradient of the loss is -2 multiplier theta
    const Eigen::VectorXd gradient =
        objective_gradient(setting, *loss, result.active, result.path.back().ridge);
    EXPECT_LT(gradient.lpNorm<Eigen::Infinity>(), 1e-5 * 900);

    const GreedyResult loose = run(setting, *loss, {{8, 2, 0, {0, 1e6}}});
    EXPECT_EQ(loose.path.back().ridge, 0);  // not needed: the same as no ridge
    const GreedyResult plain = run(setting, *loss, {{8, 2, 0, {0, 0}}});
    for (std::size_t m = 0; m < 8; ++m) {
      EXPECT_NEAR(loose.active.theta[m], plain.active.theta[m], 1e-5 * (1 + std::abs(plain.active.theta[m])));
    }
  }
}

TEST(Greedy, SkipsDependentAtomsAndSaysWhich) {
  // Two copies of every atom, and inputs 4 and 5 are equal: half of the candidates are dependent.
  Setting setting(500, "linear + linear", 7);
  for (Index i = 0; i < setting.x.rows; ++i) {
    setting.x(i, 5) = setting.x(i, 4);
    setting.y[static_cast<std::size_t>(i)] = setting.x(i, 0) + 2 * setting.x(i, 4) - setting.x(i, 3);
  }
  std::vector<double> noise = reference::random_vector(500, 8);
  for (std::size_t i = 0; i < 500; ++i) setting.y[i] += noise[i];
  for (const double ridge :
       {0.0, 10.0}) {  // with a ridge, a copy of an active atom has a gradient of its own
    for (const EngineKind engine : {EngineKind::kLazy, EngineKind::kGram}) {
      for (const Index per_step : {1, 3}) {
        const GreedyResult result =
            run(setting, squared_loss(), {{12, per_step, 0, {ridge, 0}}, Intercept::kUnpenalised, engine, 2});
        EXPECT_EQ(result.active.size(), 5);
        // Without a ridge the last gradients are rounding errors, and one that happens to be 0 ends the
        // search.
        EXPECT_LE(result.dependent.size(), 7U);
        if (ridge > 0) {
          EXPECT_EQ(result.dependent.size(), 7U);
        }
        // Of equal candidates the lowest is taken.
        for (const Index chosen : result.active.candidates) EXPECT_LT(chosen, 5);
      }
    }
  }
}

TEST(Greedy, DoesNotDependOnThreads) {
  for (const Loss* loss : reference::both_losses()) {
    const Setting setting = loss->constant_curvature() ? noisy_regression(5000, 9) : noisy_classes(5000, 9);
    for (const EngineKind engine : {EngineKind::kLazy, EngineKind::kGram}) {
      if (engine == EngineKind::kGram && !loss->constant_curvature().has_value()) continue;
      const GreedyResult one =
          run(setting, *loss, {{12, 3, 0, {0.1, 0}}, Intercept::kUnpenalised, engine, 1});
      for (const int threads : {2, 5}) {
        const GreedyResult more =
            run(setting, *loss, {{12, 3, 0, {0.1, 0}}, Intercept::kUnpenalised, engine, threads});
        EXPECT_EQ(one.active.candidates, more.active.candidates);
        EXPECT_EQ(one.active.theta, more.active.theta);  // to the last bit
        EXPECT_EQ(one.active.intercepts.front(), more.active.intercepts.front());
      }
    }
  }
}

// Single precision may only find the atoms sooner, never other ones.
void expect_same_in_both_precisions(const Setting& setting, const Loss& loss, const GreedyOptions& options) {
  const GreedyResult mixed = run(setting, loss, {options});
  RunOptions with_double{options};
  with_double.precision = Precision::kDouble;
  const GreedyResult expected = run(setting, loss, with_double);
  EXPECT_EQ(mixed.active.candidates, expected.active.candidates) << loss.name();
  EXPECT_EQ(mixed.dependent, expected.dependent);
  ASSERT_EQ(mixed.path.size(), expected.path.size());
  for (std::size_t i = 0; i < mixed.path.size(); ++i) {
    EXPECT_NEAR(mixed.path[i].largest_gradient, expected.path[i].largest_gradient,
                1e-5 * expected.path[0].largest_gradient);
  }
}

TEST(Greedy, MixedPrecisionChoosesTheAtomsOfDoublePrecision) {
  for (const Loss* loss : reference::both_losses()) {
    const Setting setting = loss->constant_curvature() ? noisy_regression(5000, 31) : noisy_classes(5000, 31);
    for (const Index per_step : {1, 4})
      expect_same_in_both_precisions(setting, *loss, {20, per_step, 0, {0.1, 0}});
  }
}

TEST(Greedy, MixedPrecisionTellsNearTiesApart) {
  // Inputs that differ by one part in 1e8, far below what single precision sees: a few, which are looked at
  // again one by one, and so many that the whole gradient is. The best one is never the first.
  for (const Index copies : {Index{2}, kInputs}) {
    for (const Loss* loss : reference::both_losses()) {
      Setting setting(3000, "gaussian(order=2, sigma=2.2)", 32);
      const std::vector<double> noise = reference::random_vector(3000, 33);
      for (Index i = 0; i < setting.x.rows; ++i) {
        double* x = setting.x.row(i);
        const double base = x[0];
        for (Index j = 0; j < copies; ++j) x[j] = base * (1 + 1e-8 * static_cast<double>((5 * j + 3) % 7));
        const double y = base + 0.3 * base * base + noise[static_cast<std::size_t>(i)];
        setting.y[static_cast<std::size_t>(i)] = loss->constant_curvature() ? y : (y > 0 ? 1 : -1);
      }
      for (const Index per_step : {1, 3})
        expect_same_in_both_precisions(setting, *loss, {6, per_step, 0, {1, 0}});
    }
  }
}

TEST(Greedy, MixedPrecisionGivesWayWhereItsRangeEnds) {
  // Products of four inputs of size 1e10.
  Setting setting(700, "gaussian(order=4, sigma=2e10)", 34);
  for (double& x : setting.x.values) x *= 1e10;
  for (Index i = 0; i < setting.x.rows; ++i)
    setting.y[static_cast<std::size_t>(i)] = std::exp(-1e-20 * setting.x(i, 0) * setting.x(i, 0));
  expect_same_in_both_precisions(setting, squared_loss(), {3, 1, 0, {1, 0}});
}

TEST(Greedy, ProductsOfRunnersUpAreNotComputedAgain) {
  const Setting setting = noisy_regression(3000, 41);
  Workers workers(2);
  const Problem problem{setting.rows, setting.y, squared_loss(), Intercept::kUnpenalised, workers};
  for (const Precision precision : {Precision::kDouble, Precision::kMixed}) {
    const auto engine = make_lazy_engine(problem, setting.candidates, precision);
    CountingEngine counting(*engine);
    const auto refit = make_least_squares_refit(problem, {0.1, 0});
    const GreedyResult result =
        run_greedy(problem, setting.candidates, counting, *refit, {20, 1, 0, {0.1, 0}}, {});
    EXPECT_EQ(result.active.size(), 20);
    EXPECT_LT(counting.passes, 15);
    // The gram engine knows all products in any case.
    const GreedyResult expected =
        run(setting, squared_loss(), {{20, 1, 0, {0.1, 0}}, Intercept::kUnpenalised, EngineKind::kGram});
    EXPECT_EQ(result.active.candidates, expected.active.candidates);
    for (std::size_t m = 0; m < expected.active.theta.size(); ++m) {
      EXPECT_NEAR(result.active.theta[m], expected.active.theta[m],
                  1e-9 * (1 + std::abs(expected.active.theta[m])));
    }
  }
}

TEST(Greedy, RecordsThePath) {
  const Setting setting = noisy_regression(800, 10);
  Index calls = 0;
  const GreedyResult result = run(setting, squared_loss(), {{7, 3, 0, {0.1, 0}}},
                                  [&](const GreedyStep&, const ActiveSet&) { ++calls; });
  ASSERT_EQ(result.path.size(), 3U);  // 3 + 3 + 1 terms
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(result.path[2].added.size(), 1U);
  double last_risk = result.initial_risk;
  for (const GreedyStep& step : result.path) {
    EXPECT_LT(step.risk, last_risk);
    EXPECT_GT(step.largest_gradient, 0);
    EXPECT_EQ(step.ridge, 0.1);
    last_risk = step.risk;
  }
  const Eigen::Map<const Eigen::VectorXd> y(setting.y.data(), setting.x.rows);
  EXPECT_NEAR(last_risk, (scores_of(setting, result.active) - y).squaredNorm() / 800, 1e-10);
}

TEST(Greedy, StopsAtTheToleranceOrWhenAsked) {
  const Setting setting = noisy_regression(800, 11);
  const GreedyResult full = run(setting, squared_loss(), {{12, 1, 0, {0.1, 0}}});
  const GreedyResult early = run(setting, squared_loss(), {{12, 1, full.path[4].risk, {0.1, 0}}});
  EXPECT_EQ(early.active.size(), 5);
  EXPECT_THROW(static_cast<void>(run(setting, squared_loss(), {{12, 1, 0, {0.1, 0}}},
                                     [](const GreedyStep&, const ActiveSet& active) {
                                       if (active.size() == 3) throw Error(ErrorKind::kInterrupted, "enough");
                                     })),
               Error);
  // A stop in the midst of the search keeps the steps made so far, where that is wanted.
  GreedyOptions options{12, 1, 0, {0.1, 0}};
  options.keeps_what_there_is = true;
  const GreedyResult stopped =
      run(setting, squared_loss(), {options}, [](const GreedyStep&, const ActiveSet& active) {
        if (active.size() == 4) throw OutOfTime();
      });
  EXPECT_TRUE(stopped.search_is_cut);
  ASSERT_EQ(stopped.active.size(), 4);
  EXPECT_EQ(stopped.path.size(), 4U);
  EXPECT_EQ(stopped.path.back().risk, full.path[3].risk);
}

TEST(Greedy, EndsWhenTheCandidatesDo) {
  const Setting setting = noisy_regression(300, 12);
  const GreedyResult result = run(setting, squared_loss(), {{1000, 50, 0, {0.1, 0}}});
  EXPECT_EQ(result.active.size() + static_cast<Index>(result.dependent.size()), setting.candidates.size());
}

TEST(Greedy, SeparableClassesWithoutARidgeEnd) {
  Setting setting(200, "linear", 13);
  for (Index i = 0; i < 200; ++i) setting.y[static_cast<std::size_t>(i)] = setting.x(i, 0) > 0 ? 1 : -1;
  const GreedyResult result = run(setting, logistic_loss(), {{3, 1, 0, {0, 0}}});
  EXPECT_EQ(result.active.candidates.front(), 0);
  for (const double theta : result.active.theta) EXPECT_TRUE(std::isfinite(theta));
}

}  // namespace
}  // namespace mfga
