// How candidates are ranked, picked together, swapped and thresholded, against naive versions of each.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <set>

#include "losses/logistic.hpp"
#include "losses/squared.hpp"
#include "reference_matrices.hpp"
#include "solve/kernel_weights.hpp"
#include "solve/known_products.hpp"
#include "solve/set_search.hpp"

namespace mfga {
namespace {

constexpr Index kInputs = 5;

struct Setting {
  Matrix x;
  std::vector<double> y;
  BlockedRows rows;
  Candidates candidates;
  Workers workers;

  explicit Setting(const std::string& features, Index n_rows = 700, unsigned seed = 3)
      : x(reference::random_matrix(n_rows, kInputs, seed)),
        rows(x.view(), reference::plain_inputs(kInputs)),
        candidates(Dictionary(features), {kInputs, 1, 0, &rows}),
        workers(2) {
    const std::vector<double> noise = reference::random_vector(n_rows, seed + 1);
    for (Index i = 0; i < n_rows; ++i) {
      const double* row = x.row(i);
      y.push_back(1 + row[0] - 2 * row[1] * row[2] + std::sin(2 * row[3]) + 0.5 * row[4] * row[4] +
                  0.3 * noise[static_cast<std::size_t>(i)]);
    }
  }
  void make_classes() {
    for (double& value : y) value = value > 1 ? 1 : -1;
  }
  [[nodiscard]] Problem problem(const Loss& loss, Intercept intercept = Intercept::kUnpenalised) {
    return {rows, y, loss, intercept, workers};
  }
};

enum class EngineKind { kLazy, kLazyDouble, kGram };

std::unique_ptr<Engine> make_engine(EngineKind kind, const Problem& problem, const Candidates& candidates) {
  return kind == EngineKind::kGram
             ? make_gram_engine(problem, candidates)
             : make_lazy_engine(problem, candidates,
                                kind == EngineKind::kLazy ? Precision::kMixed : Precision::kDouble);
}

RefitFactory refits(const Problem& problem, const Penalty& penalty) {
  return [problem, penalty] { return make_refit(problem, penalty); };
}

GreedyResult greedy(const Problem& problem, const Candidates& candidates, const GreedyOptions& options,
                    EngineKind kind = EngineKind::kLazy) {
  const auto engine = make_engine(kind, problem, candidates);
  return run_greedy(problem, candidates, *engine, *refits(problem, options.penalty)(), options, {});
}

// The least objective of the squared loss with these columns, by the normal equations.
double least_objective(const Eigen::MatrixXd& features, const std::vector<Index>& columns,
                       const std::vector<double>& targets, double ridge, Intercept intercept) {
  const Eigen::Map<const Eigen::VectorXd> y(targets.data(), static_cast<Index>(targets.size()));
  const Index offset = intercept == Intercept::kUnpenalised ? 1 : 0;
  Eigen::MatrixXd a(y.size(), offset + static_cast<Index>(columns.size()));
  if (offset == 1) a.col(0).setOnes();
  for (std::size_t i = 0; i < columns.size(); ++i)
    a.col(offset + static_cast<Index>(i)) = features.col(columns[i]);
  Eigen::MatrixXd gram = a.transpose() * a;
  for (Index i = offset; i < gram.rows(); ++i) gram(i, i) += ridge;
  const Eigen::VectorXd solution = gram.ldlt().solve(a.transpose() * y);
  return (y - a * solution).squaredNorm() + ridge * solution.tail(gram.rows() - offset).squaredNorm();
}

TEST(Normalised, CandidatesHaveUnitNormAfterCentring) {
  Setting setting("linear + gaussian(order=2, sigma=2)");
  for (const bool centred : {false, true}) {
    setting.candidates.normalise(setting.rows, centred, setting.workers);
    const Eigen::MatrixXd features = reference::materialise(setting.candidates, setting.x);
    const std::vector<double> squares = setting.candidates.square_norms(setting.rows, setting.workers);
    for (Index j = 0; j < features.cols(); ++j) {
      const double mean = centred ? features.col(j).mean() : 0;
      EXPECT_NEAR((features.col(j).array() - mean).square().mean(), 1, 1e-9) << j;
      EXPECT_NEAR(squares[static_cast<std::size_t>(j)], features.col(j).squaredNorm(),
                  1e-9 * features.col(j).squaredNorm());
      EXPECT_FALSE(setting.candidates.is_constant(j));
    }
  }
}

TEST(Normalised, ConstantCandidatesAreNeverChosen) {
  Setting setting("gaussian(order=1, sigma=1e9)");  // order 0 is 1 everywhere
  setting.candidates.normalise(setting.rows, true, setting.workers);
  EXPECT_TRUE(setting.candidates.is_constant(0));
  const GreedyResult result =
      greedy(setting.problem(squared_loss()), setting.candidates, {10, 2, 0, {0.1, 0}});
  EXPECT_EQ(result.active.size(), kInputs);
  for (const Index candidate : result.active.candidates) EXPECT_NE(candidate, 0);
}

TEST(Normalised, BothEnginesAndPrecisionsChooseByCorrelation) {
  Setting setting("linear + gaussian(order=2, sigma=2)", 1300);
  setting.candidates.normalise(setting.rows, true, setting.workers);
  const Eigen::MatrixXd features = reference::materialise(setting.candidates, setting.x);
  const Eigen::Map<const Eigen::VectorXd> y(setting.y.data(), setting.x.rows);
  const reference::Pursuit expected = reference::pursue(features, y, 12, 1, 0.5, Intercept::kUnpenalised);
  for (const EngineKind kind : {EngineKind::kLazy, EngineKind::kLazyDouble, EngineKind::kGram}) {
    const GreedyResult result =
        greedy(setting.problem(squared_loss()), setting.candidates, {12, 1, 0, {0.5, 0}}, kind);
    EXPECT_EQ(result.active.candidates, expected.chosen);
  }
}

TEST(Normalised, NearTiesAreDecidedAsInDoublePrecision) {
  // Inputs that single precision hardly tells apart, in a kernel of so little weight that its candidates are
  // scaled up a thousand times: the bounds of their errors must be scaled with them.
  Setting setting("linear + gaussian(order=2, sigma=2, nu=1e-6)", 3000);
  for (Index i = 0; i < setting.x.rows; ++i) {
    for (Index j = 1; j < kInputs; ++j) setting.x(i, j) = setting.x(i, 0) + 1e-7 * setting.x(i, j);
  }
  setting.candidates.normalise(setting.rows, true, setting.workers);
  for (const Loss* loss : reference::both_losses()) {
    if (!loss->constant_curvature().has_value()) setting.make_classes();
    const Problem problem = setting.problem(*loss);
    const auto engine_of = [&](EngineKind kind) { return make_engine(kind, problem, setting.candidates); };
    Gradient mixed;
    Gradient exact;
    static_cast<void>(engine_of(EngineKind::kLazy)->gradient({}, mixed));
    static_cast<void>(engine_of(EngineKind::kLazyDouble)->gradient({}, exact));
    ASSERT_FALSE(mixed.exact());
    for (std::size_t j = 0; j < exact.values.size(); ++j)
      EXPECT_LE(std::abs(mixed.values[j] - exact.values[j]), mixed.errors[j]) << j;
    for (const Index terms : {1, 2, 3, 5}) {
      const GreedyOptions options{terms, terms, 0, {0.1, 0}};
      EXPECT_EQ(greedy(problem, setting.candidates, options).active.candidates,
                greedy(problem, setting.candidates, options, EngineKind::kLazyDouble).active.candidates)
          << loss->name() << ", " << terms;
    }
  }
}

TEST(Gain, IsTheDecreaseOfTheObjectiveWhenAllIsFittedAgain) {
  for (const Intercept intercept : {Intercept::kNone, Intercept::kUnpenalised}) {
    for (const double ridge : {0.0, 30.0}) {
      Setting setting("linear + gaussian(order=2, sigma=2)");
      setting.candidates.normalise(setting.rows, intercept == Intercept::kUnpenalised, setting.workers);
      const Eigen::MatrixXd features = reference::materialise(setting.candidates, setting.x);
      std::vector<Index> expected;
      for (int step = 0; step < 10; ++step) {
        Index best = -1;
        double best_objective = 0;
        for (Index j = 0; j < features.cols(); ++j) {
          if (std::find(expected.begin(), expected.end(), j) != expected.end()) continue;
          std::vector<Index> columns = expected;
          columns.push_back(j);
          const double objective = least_objective(features, columns, setting.y, ridge, intercept);
          if (best < 0 || objective < best_objective) {
            best = j;
            best_objective = objective;
          }
        }
        expected.push_back(best);
      }
      for (const EngineKind kind : {EngineKind::kLazy, EngineKind::kLazyDouble, EngineKind::kGram}) {
        const GreedyResult result = greedy(setting.problem(squared_loss(), intercept), setting.candidates,
                                           {10, 1, 0, {ridge, 0}, {Rule::kGain}}, kind);
        EXPECT_EQ(result.active.candidates, expected) << "ridge " << ridge;
      }
    }
  }
}

TEST(Gain, OfAShortlistOfAllIsThatOfAll) {
  Setting setting("linear + gaussian(order=2, sigma=2)");
  setting.candidates.normalise(setting.rows, true, setting.workers);
  SelectionOptions shortlist{Rule::kGain, setting.candidates.size()};
  shortlist.exact_gain = false;
  const GreedyResult exact = greedy(setting.problem(squared_loss()), setting.candidates,
                                    {12, 1, 0, {5, 0}, {Rule::kGain}}, EngineKind::kLazyDouble);
  const GreedyResult close = greedy(setting.problem(squared_loss()), setting.candidates,
                                    {12, 1, 0, {5, 0}, shortlist}, EngineKind::kLazyDouble);
  EXPECT_EQ(close.active.candidates, exact.active.candidates);
}

TEST(Gain, OfClassesIsThatOfTheQuadraticModel) {
  Setting setting("linear + gaussian(order=2, sigma=2)");
  setting.make_classes();
  setting.candidates.normalise(setting.rows, true, setting.workers);
  const Eigen::MatrixXd features = reference::materialise(setting.candidates, setting.x);
  const double ridge = 0.5;
  const SelectionOptions all{Rule::kGain, setting.candidates.size()};
  const auto chosen_first = [&](Index terms) {
    return greedy(setting.problem(logistic_loss()), setting.candidates, {terms, 1, 0, {ridge, 0}, all})
        .active;
  };
  for (const Index n_before : {0, 1, 4}) {
    ActiveSet active = n_before == 0 ? ActiveSet() : chosen_first(n_before);
    if (n_before == 0) {
      active.intercepts.front() = logistic_loss().best_constant({setting.y});
    }
    Eigen::MatrixXd before(setting.x.rows, 1 + n_before);
    before.col(0).setOnes();
    Eigen::VectorXd scores = Eigen::VectorXd::Constant(setting.x.rows, active.intercepts.front());
    for (Index m = 0; m < n_before; ++m) {
      before.col(1 + m) = features.col(active.candidates[static_cast<std::size_t>(m)]);
      scores += active.theta[static_cast<std::size_t>(m)] * before.col(1 + m);
    }
    Eigen::VectorXd first(setting.x.rows);
    Eigen::VectorXd second(setting.x.rows);
    logistic_loss().derivatives(scores.data(), setting.y.data(), nullptr, setting.x.rows, first.data(),
                                second.data());
    Eigen::MatrixXd hessian = before.transpose() * second.asDiagonal() * before;
    for (Index m = 1; m <= n_before; ++m) hessian(m, m) += 2 * ridge;
    Index best = -1;
    double best_gain = 0;
    for (Index j = 0; j < features.cols(); ++j) {
      if (std::find(active.candidates.begin(), active.candidates.end(), j) != active.candidates.end())
        continue;
      const Eigen::VectorXd cross = before.transpose() * second.asDiagonal() * features.col(j);
      const double curvature = features.col(j).dot(second.asDiagonal() * features.col(j)) + 2 * ridge -
                               cross.dot(hessian.ldlt().solve(cross));
      const double gain = std::pow(first.dot(features.col(j)), 2) / curvature;
      if (gain > best_gain) {
        best = j;
        best_gain = gain;
      }
    }
    EXPECT_EQ(chosen_first(n_before + 1).candidates.back(), best) << n_before;
  }
}

TEST(Gain, OfRareClassesHasTheCurvatureOfTheBestConstant) {
  // Without a second look the ranking is by L'' s_j + 2 ridge with L'' = p (1 - p), where p is the share of
  // positives. Candidates of many sizes make the choice depend on L''.
  Setting setting("linear + gaussian(order=2, sigma=0.7)");
  for (double& value : setting.y) value = value > 3 ? 1 : -1;
  const auto n_rows = static_cast<double>(setting.y.size());
  const double share = static_cast<double>(std::ranges::count(setting.y, 1.0)) / n_rows;
  ASSERT_LT(share, 0.25);
  const Eigen::MatrixXd features = reference::materialise(setting.candidates, setting.x);
  constexpr Index kTerms = 15;
  for (double ridge = 0.1; ridge < 1000; ridge *= 2) {
    std::vector<std::pair<double, Index>> scores;  // negative, so that the best comes first
    for (Index j = 0; j < features.cols(); ++j) {
      double gradient = 0;
      for (Index i = 0; i < features.rows(); ++i)
        gradient += (share - (setting.y[static_cast<std::size_t>(i)] > 0 ? 1 : 0)) * features(i, j);
      const double centred = (features.col(j).array() - features.col(j).mean()).square().sum();
      scores.emplace_back(-std::abs(gradient) / std::sqrt(share * (1 - share) * centred + 2 * ridge), j);
    }
    std::ranges::sort(scores);
    std::vector<Index> expected;
    for (Index i = 0; i < kTerms; ++i) expected.push_back(scores[static_cast<std::size_t>(i)].second);
    const GreedyResult result = greedy(setting.problem(logistic_loss()), setting.candidates,
                                       {kTerms, kTerms, 0, {ridge, 0}, {Rule::kGain}});
    EXPECT_EQ(result.active.candidates, expected) << "ridge " << ridge;
  }
}

TEST(Shortlist, LaterPicksAreNotCopiesOfTheFirst) {
  // With so large a width x * G is x once more.
  for (const Loss* loss : reference::both_losses()) {
    Setting setting("linear + gaussian(order=1, sigma=30)");
    if (!loss->constant_curvature().has_value()) setting.make_classes();
    setting.candidates.normalise(setting.rows, true, setting.workers);
    const auto inputs_of_first_picks = [&](Index shortlist) {
      const GreedyResult result = greedy(setting.problem(*loss), setting.candidates,
                                         {2, 2, 0, {0.1, 0}, {Rule::kGradient, shortlist}});
      std::set<Index> inputs;
      for (const Atom& atom : result.active.atoms) inputs.insert(atom.inputs[0]);
      return inputs.size();
    };
    EXPECT_EQ(inputs_of_first_picks(1), 1U) << loss->name();
    EXPECT_EQ(inputs_of_first_picks(8), 2U) << loss->name();
  }
}

TEST(Shortlist, HasNoNeighboursOfABetterCandidate) {
  // The knots of an input stand side by side, and those near the large step are all better than the small
  // step of another input.
  for (const Loss* loss : reference::both_losses()) {
    Setting setting("step(knots=100)", 3000);
    const std::vector<double> noise = reference::random_vector(setting.x.rows, 9);
    for (Index i = 0; i < setting.x.rows; ++i) {
      setting.y[static_cast<std::size_t>(i)] = (setting.x(i, 0) > 0 ? 2 : 0) + (setting.x(i, 1) > 0 ? 1 : 0) +
                                               0.5 * noise[static_cast<std::size_t>(i)];
    }
    if (!loss->constant_curvature().has_value()) setting.make_classes();
    for (const Index knots : {100, 3}) {  // of three, there are fewer peaks than the shortlist is long
      const Candidates candidates(Dictionary("step(knots=" + std::to_string(knots) + ")"),
                                  {kInputs, 1, 0, &setting.rows});
      const GreedyResult result =
          greedy(setting.problem(*loss), candidates, {2, 2, 0, {0.1, 0}, {Rule::kGain, 4}});
      ASSERT_EQ(result.active.size(), 2);
      EXPECT_EQ(result.active.atoms[0].inputs[0], 0) << loss->name();
      EXPECT_EQ(result.active.atoms[1].inputs[0], 1) << loss->name() << ", " << knots << " knots";
    }
  }
}

TEST(Shortlist, PicksEqualStepsOfOneForTheSquaredLoss) {
  // Within a shortlist of all, k picks of one step are the first k of one-by-one gains, up to the ridge on
  // those picked.
  Setting setting("linear + gaussian(order=2, sigma=2)");
  setting.candidates.normalise(setting.rows, true, setting.workers);
  const SelectionOptions all{Rule::kGain, setting.candidates.size()};
  for (const EngineKind kind : {EngineKind::kLazy, EngineKind::kGram}) {
    const GreedyResult together =
        greedy(setting.problem(squared_loss()), setting.candidates, {6, 3, 0, {2, 0}, all}, kind);
    const GreedyResult one_by_one =
        greedy(setting.problem(squared_loss()), setting.candidates, {6, 1, 0, {2, 0}, {Rule::kGain}}, kind);
    EXPECT_EQ(together.active.candidates, one_by_one.active.candidates);
  }
}

TEST(Shortlist, MixedPrecisionChoosesTheAtomsOfDoublePrecision) {
  for (const Loss* loss : reference::both_losses()) {
    Setting setting("linear + gaussian(order=2, sigma=2)", 3000);
    if (!loss->constant_curvature().has_value()) setting.make_classes();
    setting.candidates.normalise(setting.rows, true, setting.workers);
    for (const Rule rule : {Rule::kGradient, Rule::kGain}) {
      for (const Index per_step : {1, 3}) {
        const GreedyOptions options{15, per_step, 0, {0.1, 0}, {rule, 9}};
        const GreedyResult mixed = greedy(setting.problem(*loss), setting.candidates, options);
        const GreedyResult expected =
            greedy(setting.problem(*loss), setting.candidates, options, EngineKind::kLazyDouble);
        EXPECT_EQ(mixed.active.candidates, expected.active.candidates) << loss->name();
      }
    }
  }
}

TEST(PickOneByOne, TakesWhatIsLeftOfTheGradientIntoAccount) {
  // The second is nearly the first; the third has a smaller gradient of its own, and the fourth is the first.
  Matrix curvature(4, 4);
  const double rows[4][4] = {{1, 0.99, 0, 1}, {0.99, 1, 0, 0.99}, {0, 0, 1, 0}, {1, 0.99, 0, 1}};
  for (Index i = 0; i < 4; ++i) std::copy_n(rows[i], 4, curvature.row(i));
  Matrix gradient(4, 1);
  gradient.values = {1, 0.99, 0.5, 1};
  for (const Rule rule : {Rule::kGradient, Rule::kGain})
    EXPECT_EQ(pick_one_by_one(curvature, gradient, rule, 2), (std::vector<std::size_t>{0, 2}));
  EXPECT_LE(pick_one_by_one(curvature, gradient, Rule::kGain, 4).size(), 3U);  // the copy is of no use
}

// Greedy takes the mixture first, which is then of no use beside what it is mixed of.
struct Misleading : Setting {
  Misleading() : Setting("linear") {
    const std::vector<double> noise = reference::random_vector(x.rows, 8);
    for (Index i = 0; i < x.rows; ++i) {
      x(i, 2) = x(i, 0) + x(i, 1) + 0.5 * noise[static_cast<std::size_t>(i)];
      y[static_cast<std::size_t>(i)] = x(i, 0) + x(i, 1) + 0.02 * x(i, 3);
    }
    candidates.normalise(rows, true, workers);
  }
};

TEST(Refine, SwapsWhatGreedyTookTooEarly) {
  for (const Loss* loss : reference::both_losses()) {
    for (const Rule rule : {Rule::kGradient, Rule::kGain}) {
      Misleading setting;
      if (!loss->constant_curvature().has_value()) {
        for (double& value : setting.y) value = value > 0 ? 1 : -1;
      }
      const Problem problem = setting.problem(*loss);
      const GreedyOptions options{2, 1, 0, {0.5, 0}, {rule, 4}};
      const auto engine = make_engine(EngineKind::kLazy, problem, setting.candidates);
      GreedyResult result =
          run_greedy(problem, setting.candidates, *engine, *refits(problem, options.penalty)(), options, {});
      EXPECT_EQ(result.active.candidates.front(), 2) << loss->name();
      const double risk = result.path.back().risk;
      refine(problem, setting.candidates, *engine, refits(problem, options.penalty), options, {}, result);
      EXPECT_EQ(std::set<Index>(result.active.candidates.begin(), result.active.candidates.end()),
                (std::set<Index>{0, 1}))
          << loss->name();
      EXPECT_LT(result.path.back().risk, risk);
      EXPECT_EQ(result.path.back().removed, std::vector<Index>{2});
    }
  }
}

TEST(Refine, NeverMakesTheObjectiveWorseAndIsTheSameForAnyNumberOfThreads) {
  Setting setting("linear + gaussian(order=2, sigma=1)");
  setting.candidates.normalise(setting.rows, true, setting.workers);
  std::vector<std::vector<Index>> chosen;
  for (const int threads : {1, 3}) {
    Workers workers(threads);
    const Problem problem{setting.rows, setting.y, squared_loss(), Intercept::kUnpenalised, workers};
    const GreedyOptions options{8, 4, 0, {1, 0}, {Rule::kGradient, 1}};
    const auto engine = make_engine(EngineKind::kLazy, problem, setting.candidates);
    GreedyResult result =
        run_greedy(problem, setting.candidates, *engine, *refits(problem, options.penalty)(), options, {});
    const auto objective = [&] {
      double sum = engine->loss_sum(result.active);
      for (const double theta : result.active.theta) sum += theta * theta;
      return sum;
    };
    const double before = objective();
    const std::size_t steps = result.path.size();
    refine(problem, setting.candidates, *engine, refits(problem, options.penalty), options, {}, result);
    EXPECT_LT(objective(), before);
    EXPECT_GT(result.path.size(), steps);
    EXPECT_EQ(result.active.size(), 8);
    chosen.push_back(result.active.candidates);
  }
  EXPECT_EQ(chosen[0], chosen[1]);
}

TEST(HardThresholding, FindsTheAtomsOfANoiselessTarget) {
  Setting setting("linear + gaussian(order=2, sigma=1)");
  setting.candidates.normalise(setting.rows, true, setting.workers);
  const Eigen::MatrixXd features = reference::materialise(setting.candidates, setting.x);
  const std::vector<Index> truth = {1, 3, 8, 15, 22};
  for (Index i = 0; i < setting.x.rows; ++i) {
    double& y = setting.y[static_cast<std::size_t>(i)];
    y = 2;
    for (std::size_t m = 0; m < truth.size(); ++m) y += (m % 2 == 0 ? 1.5 : -1.0) * features(i, truth[m]);
  }
  const Problem problem = setting.problem(squared_loss());
  for (const EngineKind kind : {EngineKind::kLazy, EngineKind::kGram}) {
    const auto engine = make_engine(kind, problem, setting.candidates);
    const GreedyResult result = run_hard_thresholding(problem, setting.candidates, *engine,
                                                      refits(problem, {1e-6, 0}), {5, 1, 0, {1e-6, 0}}, {});
    EXPECT_EQ(std::set<Index>(result.active.candidates.begin(), result.active.candidates.end()),
              std::set<Index>(truth.begin(), truth.end()));
    for (std::size_t i = 1; i < result.path.size(); ++i)
      EXPECT_LT(result.path[i].risk, result.path[i - 1].risk);
  }
}

TEST(HardThresholding, LearnsClasses) {
  Setting setting("linear + gaussian(order=2, sigma=1)");
  setting.make_classes();
  for (const Intercept intercept : {Intercept::kNone, Intercept::kUnpenalised}) {
    setting.candidates.normalise(setting.rows, intercept == Intercept::kUnpenalised, setting.workers);
    const Problem problem = setting.problem(logistic_loss(), intercept);
    const auto engine = make_engine(EngineKind::kLazy, problem, setting.candidates);
    const GreedyResult result = run_hard_thresholding(problem, setting.candidates, *engine,
                                                      refits(problem, {0.1, 0}), {6, 1, 0, {0.1, 0}}, {});
    EXPECT_EQ(result.active.size(), 6);
    EXPECT_LT(result.path.back().risk, 0.8 * result.initial_risk);
  }
}

TEST(KnownProducts, EqualThoseOfTheEngineForAnyOrderOfAsking) {
  Setting setting("linear + gaussian(order=2, sigma=2)");
  const Problem problem = setting.problem(squared_loss());
  const auto engine = make_engine(EngineKind::kLazyDouble, problem, setting.candidates);
  KnownProducts known(setting.candidates, *engine);
  for (const std::vector<Index>& list : std::vector<std::vector<Index>>{
           {3, 1, 7}, {7, 2}, {}, {9, 10, 11, 12, 13, 14, 15, 3}, {14}, {14, 20, 9}}) {
    const Matrix expected = engine->products({}, list, false).values;
    const Matrix products = known.of(list);
    ASSERT_EQ(products.rows, expected.rows);
    for (Index i = 0; i < products.rows; ++i) {
      for (Index j = 0; j < products.cols; ++j)
        EXPECT_NEAR(products(i, j), expected(i, j), 1e-9 * (1 + std::abs(expected(i, j))));
    }
  }
}

TEST(KernelWeights, ByNormMakesKernelsOfOneSize) {
  Setting setting("linear + gaussian(order=1, sigma=3) + gaussian(order=2, sigma=1)");
  const std::vector<double> weights = norm_weights(setting.problem(squared_loss()), setting.candidates);
  const Candidates weighted(Dictionary("linear + gaussian(order=1, sigma=3) + gaussian(order=2, sigma=1)"),
                            {kInputs, 1}, weights);
  const Eigen::MatrixXd features = reference::materialise(weighted, setting.x);
  double first = 0;
  for (std::size_t p = 0; p < 3; ++p) {
    const Index begin = weighted.offsets()[p];
    const double trace = features.middleCols(begin, weighted.offsets()[p + 1] - begin).squaredNorm();
    if (p == 0) first = trace;
    EXPECT_NEAR(trace, first, 1e-9 * first);
  }
}

TEST(KernelWeights, ByAlignmentAreThoseOfTheKernelMatrices) {
  Setting setting("linear + gaussian(order=2, sigma=1.5)", 300);
  const std::vector<double> weights =
      alignment_weights_of_kernels(setting.problem(squared_loss()), setting.candidates, 1);
  const std::vector<double> sizes = norm_weights(setting.problem(squared_loss()), setting.candidates);
  const Eigen::MatrixXd features = reference::materialise(setting.candidates, setting.x);
  const Eigen::MatrixXd centred = features.rowwise() - features.colwise().mean();
  const Eigen::Map<const Eigen::VectorXd> y(setting.y.data(), setting.x.rows);
  const Eigen::VectorXd target = y.array() - y.mean();
  for (std::size_t p = 0; p < 2; ++p) {
    const Index begin = setting.candidates.offsets()[p];
    const Eigen::MatrixXd own = centred.middleCols(begin, setting.candidates.offsets()[p + 1] - begin);
    const double expected = (own.transpose() * target).squaredNorm() / (own.transpose() * own).norm();
    EXPECT_NEAR(weights[p] / sizes[p], expected, 0.35 * expected);  // 120 random pairs
  }
}

}  // namespace
}  // namespace mfga
