// The exact kernel methods against the materialised kernel matrix and the conditions of optimality.
#include "baselines/kernel_machine.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include "core/blas.hpp"
#include "losses/logistic.hpp"
#include "losses/squared.hpp"
#include "mfga/error.hpp"
#include "reference_matrices.hpp"

namespace mfga {
namespace {

constexpr Index kInputs = 4;
constexpr double kSigma = 1.8;

double kernel(KernelKind kind, const double* a, const double* b) {
  double square = 0;
  double product = 0;
  for (Index j = 0; j < kInputs; ++j) {
    square += (a[j] - b[j]) * (a[j] - b[j]);
    product += a[j] * b[j];
  }
  const double gaussian = std::exp(-square / (2 * kSigma * kSigma));
  return kind == KernelKind::kGaussian ? gaussian : 0.5 * gaussian + 0.5 * product;
}

// Some rows of a table, not in its order, with a noisy target.
struct Setting {
  Matrix x;
  BlockedRows rows;
  std::vector<Index> chosen;
  std::vector<double> numbers;
  std::vector<double> classes;

  explicit Setting(Index size)
      : x(reference::random_matrix(size + 5, kInputs, 21)), rows(x.view(), reference::plain_inputs(kInputs)) {
    const std::vector<double> noise = reference::random_vector(size, 22);
    for (Index i = 0; i < size; ++i) {
      chosen.push_back(size + 4 - i);
      const double* row = x.row(chosen.back());
      numbers.push_back(1 + row[0] - row[1] * row[2] + 0.3 * noise[static_cast<std::size_t>(i)]);
      classes.push_back(numbers.back() > 1 ? 1 : -1);
    }
    classes[0] = -classes[1];  // both occur among three rows as well
  }
  [[nodiscard]] Index size() const { return static_cast<Index>(chosen.size()); }

  [[nodiscard]] Eigen::MatrixXd gram(KernelKind kind) const {
    Eigen::MatrixXd gram(size(), size());
    for (Index i = 0; i < size(); ++i) {
      for (Index j = 0; j < size(); ++j)
        gram(i, j) = kernel(kind, x.row(chosen[static_cast<std::size_t>(i)]),
                            x.row(chosen[static_cast<std::size_t>(j)]));
    }
    return gram;
  }
};

struct Trial {
  Index size;
  KernelKind kind;
  Intercept intercept;
};

std::vector<Trial> trials() {
  std::vector<Trial> all;
  for (const Index size : {3, 50, 300, 700}) {
    for (const KernelKind kind : {KernelKind::kGaussian, KernelKind::kGaussianAndLinear}) {
      for (const Intercept intercept : {Intercept::kNone, Intercept::kUnpenalised})
        all.push_back({size, kind, intercept});
    }
  }
  return all;
}

std::string name(const Trial& trial) {
  return std::to_string(trial.size) + (trial.kind == KernelKind::kGaussian ? " gaussian" : " both kernels") +
         (trial.intercept == Intercept::kNone ? "" : " with intercept");
}

KernelMachine make_machine(const Setting& setting, KernelKind kind, Workers& workers) {
  KernelMachine machine(setting.rows, setting.chosen, kSigma, workers);
  if (kind == KernelKind::kGaussianAndLinear) machine.add_linear_kernel();
  EXPECT_EQ(machine.kind(), kind);
  EXPECT_EQ(machine.size(), setting.size());
  return machine;
}

Eigen::VectorXd as_vector(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Index>(values.size()));
}

TEST(KernelMachine, RidgeRegressionSolvesTheBorderedSystem) {
  const SingleThreadedBlas blas;
  Workers workers(2);
  const double ridge = 0.4;
  for (const Trial& trial : trials()) {
    SCOPED_TRACE(name(trial));
    const Setting setting(trial.size);
    KernelMachine machine = make_machine(setting, trial.kind, workers);
    const KernelSolution solution = machine.solve(setting.numbers, squared_loss(), ridge, trial.intercept);
    const Eigen::VectorXd alpha = as_vector(solution.alpha);
    const Eigen::VectorXd y = as_vector(setting.numbers);
    const Eigen::MatrixXd gram = setting.gram(trial.kind);
    const Eigen::VectorXd fitted = (gram * alpha).array() + solution.intercept;
    EXPECT_LT((fitted + ridge * alpha - y).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_NEAR(solution.loss_sum, (fitted - y).squaredNorm(), 1e-9 * y.squaredNorm());
    EXPECT_TRUE(solution.converged);

    const bool bordered = trial.intercept == Intercept::kUnpenalised;
    if (bordered) {
      EXPECT_NEAR(alpha.sum(), 0, 1e-9);
    } else {
      EXPECT_EQ(solution.intercept, 0);
    }
    if (trial.size > 300) continue;
    const Index border = bordered ? 1 : 0;
    Eigen::MatrixXd system = Eigen::MatrixXd::Ones(trial.size + border, trial.size + border);
    system.topLeftCorner(trial.size, trial.size) =
        gram + ridge * Eigen::MatrixXd::Identity(trial.size, trial.size);
    Eigen::VectorXd right = Eigen::VectorXd::Zero(trial.size + border);
    right.head(trial.size) = y;
    if (bordered) system(trial.size, trial.size) = 0;
    const Eigen::VectorXd expected = system.partialPivLu().solve(right);
    EXPECT_LT((alpha - expected.head(trial.size)).cwiseAbs().maxCoeff(), 1e-9);
    if (bordered) {
      EXPECT_NEAR(solution.intercept, expected[trial.size], 1e-9);
    }
  }
}

TEST(KernelMachine, LogisticRegressionHasNoGradient) {
  const SingleThreadedBlas blas;
  Workers workers(2);
  const double ridge = 0.2;
  for (const Trial& trial : trials()) {
    SCOPED_TRACE(name(trial));
    const Setting setting(trial.size);
    KernelMachine machine = make_machine(setting, trial.kind, workers);
    const KernelSolution solution = machine.solve(setting.classes, logistic_loss(), ridge, trial.intercept);
    EXPECT_TRUE(solution.converged);
    EXPECT_GT(solution.newton_steps, 0);
    // The gradient of the objective is K (L' + 2 ridge alpha) for alpha, and the sum of L' for the intercept.
    const Eigen::VectorXd alpha = as_vector(solution.alpha);
    const Eigen::VectorXd scores = (setting.gram(trial.kind) * alpha).array() + solution.intercept;
    double loss = 0;
    Eigen::VectorXd slope(trial.size);
    for (Index i = 0; i < trial.size; ++i) {
      const double y = setting.classes[static_cast<std::size_t>(i)];
      loss += std::log1p(std::exp(-y * scores[i]));
      slope[i] = -y / (1 + std::exp(y * scores[i]));
    }
    EXPECT_LT((slope + 2 * ridge * alpha).cwiseAbs().maxCoeff(), 1e-7);
    EXPECT_NEAR(solution.loss_sum, loss, 1e-9 * loss);
    if (trial.intercept == Intercept::kUnpenalised) {
      EXPECT_NEAR(slope.sum(), 0, 1e-7);
    } else {
      EXPECT_EQ(solution.intercept, 0);
    }
  }
}

TEST(KernelMachine, ScoresNewRowsAsTheFormulaAndAsTheModelDo) {
  const SingleThreadedBlas blas;
  Workers workers(2);
  const Matrix x_new = reference::random_matrix(530, kInputs, 31);  // two blocks of rows
  const BlockedRows new_rows(x_new.view(), reference::plain_inputs(kInputs));
  for (const Trial& trial : trials()) {
    SCOPED_TRACE(name(trial));
    const Setting setting(trial.size);
    KernelMachine machine = make_machine(setting, trial.kind, workers);
    const std::vector<KernelSolution> solutions = {
        machine.solve(setting.numbers, squared_loss(), 0.4, trial.intercept),
        machine.solve(setting.numbers, squared_loss(), 4, trial.intercept)};
    const Matrix scores = machine.scores(new_rows, solutions);
    ASSERT_EQ(scores.rows, 2);
    ASSERT_EQ(scores.cols, x_new.rows);
    for (Index s = 0; s < 2; ++s) {
      const KernelSolution& solution = solutions[static_cast<std::size_t>(s)];
      Model model;
      model.n_columns = kInputs;
      for (Index j = 0; j < kInputs; ++j) model.inputs.push_back({"c" + std::to_string(j), j, 0, 1});
      model.outputs[0].intercept = solution.intercept;
      model.terms = machine.terms(solution);
      EXPECT_EQ(static_cast<Index>(model.terms.size()),
                trial.size + (trial.kind == KernelKind::kGaussian ? 0 : kInputs));
      const std::vector<double> from_model = model.scores(x_new.view(), 2);
      double worst = 0;
      for (Index n = 0; n < x_new.rows; ++n) {
        double expected = solution.intercept;
        for (std::size_t i = 0; i < setting.chosen.size(); ++i)
          expected += solution.alpha[i] * kernel(trial.kind, setting.x.row(setting.chosen[i]), x_new.row(n));
        worst = std::max({worst, std::abs(scores(s, n) - expected),
                          std::abs(from_model[static_cast<std::size_t>(n)] - expected)});
      }
      EXPECT_LT(worst, 1e-9);
    }
  }
}

TEST(KernelMachine, SameForAnyThreads) {
  const SingleThreadedBlas blas;
  const Setting setting(700);
  for (const KernelKind kind : {KernelKind::kGaussian, KernelKind::kGaussianAndLinear}) {
    std::vector<double> numbers;
    std::vector<double> classes;
    std::vector<double> scores;
    for (const int threads : {1, 2, 5}) {
      Workers workers(threads);
      KernelMachine machine = make_machine(setting, kind, workers);
      const std::vector<KernelSolution> solutions = {
          machine.solve(setting.numbers, squared_loss(), 0.3, Intercept::kUnpenalised),
          machine.solve(setting.classes, logistic_loss(), 0.3, Intercept::kUnpenalised)};
      const Matrix computed = machine.scores(setting.rows, solutions);
      const std::vector<double> found(computed.values.begin(), computed.values.end());
      if (threads == 1) {
        numbers = solutions[0].alpha;
        classes = solutions[1].alpha;
        scores = found;
      }
      EXPECT_TRUE(solutions[0].alpha == numbers) << threads << " threads";
      EXPECT_TRUE(solutions[1].alpha == classes) << threads << " threads";
      EXPECT_TRUE(found == scores) << threads << " threads";
    }
  }
}

TEST(KernelMachine, StartsFromAnotherSolution) {
  const SingleThreadedBlas blas;
  Workers workers(2);
  const Setting setting(300);
  KernelMachine machine = make_machine(setting, KernelKind::kGaussian, workers);
  const auto solve = [&](double ridge, const KernelSolution* start) {
    return machine.solve(setting.classes, logistic_loss(), ridge, Intercept::kUnpenalised, start);
  };
  const KernelSolution cold = solve(0.2, nullptr);
  for (const double other : {20.0, 0.3, 0.01}) {
    const KernelSolution near = solve(other, nullptr);
    const KernelSolution warm = solve(0.2, &near);
    EXPECT_TRUE(warm.converged);
    EXPECT_LT((as_vector(warm.alpha) - as_vector(cold.alpha)).cwiseAbs().maxCoeff(), 1e-7) << other;
    EXPECT_NEAR(warm.intercept, cold.intercept, 1e-6);
  }
  EXPECT_LE(solve(0.2, &cold).newton_steps, 2);
}

TEST(KernelMachine, OneMatrixServesManyRidges) {
  // The factor is written into the matrix itself; the kernel must survive it.
  const SingleThreadedBlas blas;
  Workers workers(2);
  const Setting setting(300);
  KernelMachine machine = make_machine(setting, KernelKind::kGaussian, workers);
  const auto solve = [&](double ridge) {
    return machine.solve(setting.numbers, squared_loss(), ridge, Intercept::kUnpenalised).alpha;
  };
  const std::vector<double> first = solve(0.1);
  static_cast<void>(solve(10));
  EXPECT_TRUE(solve(0.1) == first);
  machine.add_linear_kernel();
  KernelMachine fresh = make_machine(setting, KernelKind::kGaussianAndLinear, workers);
  EXPECT_TRUE(solve(0.1) == fresh.solve(setting.numbers, squared_loss(), 0.1, Intercept::kUnpenalised).alpha);
}

TEST(KernelMachine, SaysThatAKernelMatrixIsSingular) {
  const SingleThreadedBlas blas;
  Workers workers(1);
  Matrix x(4, kInputs);  // four equal rows
  const BlockedRows rows(x.view(), reference::plain_inputs(kInputs));
  KernelMachine machine(rows, std::vector<Index>{0, 1, 2, 3}, kSigma, workers);
  EXPECT_THROW(
      static_cast<void>(machine.solve(std::vector<double>{1, 2, 3, 4}, squared_loss(), 0, Intercept::kNone)),
      Error);
}

}  // namespace
}  // namespace mfga
