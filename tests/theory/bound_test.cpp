// The bound's formulas against values worked out by hand, and what is measured on the rows against a
// materialised Hessian.
#include "theory/bound.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "mfga/error.hpp"
#include "mfga/fit.hpp"
#include "model/plain_fit.hpp"
#include "reference_matrices.hpp"

namespace mfga {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

Atom linear_atom(Index input, double nu) { return {"linear", nu, {input}, {1}, {}}; }

// A regression model over inputs that need no standardisation, with coefficients for the first inputs.
Model linear_model(Index n_inputs, const std::vector<double>& coefficients, const std::string& features) {
  Model model;
  model.n_columns = n_inputs;
  for (Index j = 0; j < n_inputs; ++j) model.inputs.push_back({"x" + std::to_string(j), j, 0, 1});
  for (std::size_t j = 0; j < coefficients.size(); ++j) {
    model.terms.push_back({linear_atom(static_cast<Index>(j), 1), {coefficients[j]}});
  }
  model.training.features = features;
  return model;
}

// Four rows on the axes: A^T A / N = diag(1/2 a^2, 1/2 b^2).
Matrix axes(double a, double b) {
  Matrix x(4, 2);
  x(0, 0) = a;
  x(1, 0) = -a;
  x(2, 1) = b;
  x(3, 1) = -b;
  return x;
}

Bound made_bound(Index terms, Index kernels, double condition) {
  Bound bound;
  bound.terms = terms;
  bound.kernels = kernels;
  bound.kernel_bound = 1;
  bound.lipschitz = 1;
  bound.condition = condition;
  bound.norm = kInfinite;
  return bound;
}

TEST(BoundFormulas, LogOfKernelsIsAtLeastOne) {
  EXPECT_EQ(log_kernels(1), 1);
  EXPECT_EQ(log_kernels(2), 1);
  EXPECT_EQ(log_kernels(3), 2);  // log 3 = 1.0986
  EXPECT_EQ(log_kernels(7), 2);
  EXPECT_EQ(log_kernels(8), 3);
}

TEST(BoundFormulas, ByHand) {
  Bound bound;
  bound.rows = 300;
  bound.kernel_bound = 2;
  bound.norm = 5;
  bound.lipschitz = 1;
  bound.loss_at_zero = std::log(2.0);
  bound.delta = std::exp(-6.0);
  for (const Index kernels : {1, 2}) {
    bound.kernels = kernels;
    EXPECT_NEAR(rademacher_bound(bound), 1, 1e-14);  // 10 sqrt(3 / 300)
    // 8 + 4 log 2 / sqrt(300) + 20 sqrt(6 / 600)
    EXPECT_NEAR(lipschitz_estimation(bound), 8 + 4 * std::log(2.0) / std::sqrt(300.0) + 2, 1e-13);
  }
  bound.kernels = 20;  // ceil(log 20) = 3
  EXPECT_NEAR(rademacher_bound(bound), std::sqrt(3.0), 1e-14);
  bound.rows = 400;
  bound.delta = std::exp(-8.0);
  EXPECT_NEAR(quadratic_estimation(bound), 16 * 100 / 20.0 * 2, 1e-11);
  EXPECT_NEAR(approximation_error(6, 3), std::exp(-2.0), 1e-16);
  EXPECT_EQ(approximation_error(6, kInfinite), 1);
}

TEST(BoundFormulas, SpectralTermCountsFromTheShareOfEachKernel) {
  Bound bound = made_bound(16, 2, 1);
  bound.lipschitz = 3;
  bound.kernel_bound = 2;
  bound.tails = {{"a", {16, 9, 4}, 1, 0}, {"b", {1, 1}, 1, 5}};
  EXPECT_NEAR(spectral_error(bound, 1), 6 * std::sqrt(36.0), 1e-13);  // floor(1 / 2) = 0: everything
  EXPECT_NEAR(spectral_error(bound, 3), 6 * std::sqrt(36.0), 1e-13);  // from m = 1: everything
  EXPECT_NEAR(spectral_error(bound, 4), 6 * std::sqrt(9.0 + 4 + 1 + 5), 1e-13);
  EXPECT_NEAR(spectral_error(bound, 6), 6 * std::sqrt(4.0 + 5), 1e-13);
  EXPECT_NEAR(spectral_error(bound, 8), 6 * std::sqrt(5.0), 1e-13);
  bound.norm = 2;  // no more than the class allows
  EXPECT_NEAR(spectral_error(bound, 1), 6 * 2, 1e-13);
}

TEST(BoundTails, GeometricSquaresAreContinuedExactly) {
  KernelTail tail{"k", {8, 4, 2, 1}, 1, 0};
  extrapolate(tail, kInfinite);
  EXPECT_NEAR(tail.decay, 0.5, 1e-14);
  EXPECT_NEAR(tail.beyond, 1, 1e-13);  // 1/2 + 1/4 + ...
  extrapolate(tail, 2);
  EXPECT_NEAR(tail.beyond, 0.75, 1e-13);
  extrapolate(tail, 0);
  EXPECT_EQ(tail.beyond, 0);

  KernelTail gap{"k", {8, 4, 0, 1}, 1, 0};  // a zero says nothing about the decay
  extrapolate(gap, kInfinite);
  EXPECT_NEAR(gap.decay, 0.5, 1e-14);
}

TEST(BoundTails, WithoutDecayTheyAreUnbounded) {
  KernelTail one{"k", {3}, 1, 0};
  extrapolate(one, kInfinite);
  EXPECT_EQ(one.decay, 1);
  EXPECT_EQ(one.beyond, kInfinite);
  extrapolate(one, 4);  // four more like it
  EXPECT_NEAR(one.beyond, 12, 1e-13);
  KernelTail growing{"k", {1, 2}, 1, 0};
  extrapolate(growing, 3);
  EXPECT_NEAR(growing.decay, 2, 1e-13);
  EXPECT_NEAR(growing.beyond, 4 + 8 + 16, 1e-12);
  extrapolate(growing, kInfinite);
  EXPECT_EQ(growing.beyond, kInfinite);
  KernelTail zero{"k", {0, 0}, 1, 0};
  extrapolate(zero, kInfinite);
  EXPECT_EQ(zero.beyond, 0);
}

TEST(BoundEpsilon, TradesRoundsForTail) {
  // A tail that vanishes from the fourth coefficient on: four terms of the competitor, 16 / 4 rounds.
  Bound bound = made_bound(16, 1, 1);
  bound.tails = {{"k", {100, 100, 100}, 1, 0}};
  optimise_epsilon(bound);
  EXPECT_EQ(bound.sparsity, 4);
  EXPECT_EQ(bound.rounds, 4);
  EXPECT_NEAR(bound.epsilon, 0.5, 1e-14);
  EXPECT_EQ(bound.spectral, 0);
  EXPECT_NEAR(bound.approximation, std::exp(-4.0), 1e-16);
  // With two kernels, twice as many terms are needed for the same tail.
  bound.kernels = 2;
  optimise_epsilon(bound);
  EXPECT_EQ(bound.sparsity, 8);
  EXPECT_EQ(bound.rounds, 2);
  // No tail at all: epsilon as small as possible, though not 0.
  bound.tails = {{"k", {}, 1, 0}};
  optimise_epsilon(bound);
  EXPECT_EQ(bound.sparsity, 1);
  EXPECT_EQ(bound.rounds, 15);
  EXPECT_GT(bound.epsilon, 0);
}

TEST(BoundEpsilon, NoPointOfAGridIsBetter) {
  for (const Index terms : {1, 2, 3, 7, 20, 64, 100}) {
    for (const double condition : {1.0, 4.0, 50.0}) {
      Bound bound = made_bound(terms, 2, condition);
      bound.tails = {{"a", {}, 1, 0}, {"b", {}, 1, 0}};
      for (Index m = 0; m < terms / 2; ++m) {
        bound.tails[0].squares.push_back(std::pow(0.6, m));
        bound.tails[1].squares.push_back(0.5 * std::pow(0.8, m));
      }
      optimise_epsilon(bound);
      const auto at = [&](double epsilon) {
        const auto m = static_cast<double>(terms);
        return approximation_error(static_cast<Index>(std::floor(std::pow(m, 1 - epsilon))), condition) +
               spectral_error(bound, static_cast<Index>(std::floor(std::pow(m, epsilon))));
      };
      for (int i = 1; i < 2000; ++i) {
        EXPECT_GE(at(i / 2000.0), bound.approximation + bound.spectral - 1e-12)
            << "M=" << terms << " epsilon=" << i / 2000.0;
      }
      EXPECT_GT(bound.epsilon, 0);
      EXPECT_LT(bound.epsilon, 1);
      // The floors are those of the epsilon that is reported, but for rounding at an integer.
      const double power = std::pow(static_cast<double>(terms), bound.epsilon);
      const double other = std::pow(static_cast<double>(terms), 1 - bound.epsilon);
      EXPECT_EQ(static_cast<Index>(std::floor(power * (1 + 1e-12))), bound.sparsity);
      EXPECT_EQ(static_cast<Index>(std::floor(other * (1 + 1e-12))), bound.rounds);
    }
  }
}

TEST(LearningBound, SquaredLossOnTheAxes) {
  // Targets in [-1, 1] already: 4 rows, Hessian 2 A^T A / N = diag(a^2, b^2).
  const Matrix x = axes(2, 1);
  const std::vector<double> y = {1, -1, 0.5, -0.5};
  const Model model = linear_model(2, {0.3, 0.4}, "linear");
  const Bound bound = learning_bound(model, {x.view(), y, {}});
  EXPECT_EQ(bound.rows, 4);
  EXPECT_EQ(bound.terms, 2);
  EXPECT_EQ(bound.kernels, 1);
  EXPECT_NEAR(bound.kernel_bound, 2, 1e-14);
  EXPECT_NEAR(bound.norm, 0.5, 1e-14);
  EXPECT_NEAR(bound.lipschitz, 4, 1e-14);  // 2 (1 + 2 * 0.5)
  EXPECT_NEAR(bound.smoothness, 4, 1e-13);
  EXPECT_NEAR(bound.strong_convexity, 1, 1e-13);
  EXPECT_NEAR(bound.condition, 4, 1e-12);
  EXPECT_NEAR(bound.rademacher, std::sqrt(3.0 / 4), 1e-14);
  EXPECT_NEAR(bound.estimation, 8 * (1 + 0.5 * std::sqrt(-std::log(0.05) / 2)), 1e-12);
  EXPECT_NEAR(bound.approximation, std::exp(-0.25), 1e-12);  // M = 2: one round
  EXPECT_NEAR(bound.spectral, 4 * 2 * 0.5, 1e-12);           // G B C: all coefficients
  EXPECT_NEAR(bound.train_risk, (0.16 + 0.16 + 0.01 + 0.01) / 4, 1e-14);
  EXPECT_NEAR(bound.constant_risk, (1 + 1 + 0.25 + 0.25) / 4, 1e-14);
  EXPECT_TRUE(bound.vacuous());
  EXPECT_NEAR(bound.total(), bound.estimation + bound.approximation + bound.spectral, 1e-14);
}

TEST(LearningBound, TwoKernelsAndTheRidge) {
  // The largest row has a square norm of 1/4: the Gaussian kernel has the larger K(x, x), 1.
  const Matrix x = axes(0.5, 0.25);
  const std::vector<double> y = {1, -1, 0.5, -0.5};
  Model model = linear_model(2, {3, 4}, "linear + gaussian(order=1)");
  model.training.ridge = 6;
  Bound bound = learning_bound(model, {x.view(), y, {}});
  EXPECT_EQ(bound.kernels, 2);
  EXPECT_NEAR(bound.kernel_bound, 1, 1e-15);
  EXPECT_NEAR(bound.smoothness, 0.25 + 3, 1e-14);  // + 2 ridge / N
  EXPECT_NEAR(bound.strong_convexity, 0.0625 + 3, 1e-14);
  EXPECT_EQ(bound.condition, 2);
  model.training.norm_bound = 5;  // then the ridge is a multiplier
  bound = learning_bound(model, {x.view(), y, {}});
  EXPECT_NEAR(bound.smoothness, 0.25, 1e-14);
}

TEST(LearningBound, LogisticLossAtZeroScores) {
  // With coefficients 0 every weight p (1 - p) is 1/4: the Hessian is A^T A / 4 N = diag(a^2, b^2) / 8.
  const Matrix x = axes(2, 1);
  const std::vector<double> y = {1, 0, 1, 0};
  Model model = linear_model(2, {0, 0}, "linear");
  model.task = Task::kClassification;
  model.labels = {"no", "yes"};
  const Bound bound = learning_bound(model, {x.view(), y, {}}, {0.1, 1});
  EXPECT_NEAR(bound.smoothness, 0.5, 1e-14);
  EXPECT_NEAR(bound.strong_convexity, 0.125, 1e-14);
  EXPECT_EQ(bound.lipschitz, 1);
  EXPECT_EQ(bound.loss_smoothness, 0.25);
  EXPECT_NEAR(bound.train_risk, std::log(2.0), 1e-15);
  EXPECT_NEAR(bound.constant_risk, std::log(2.0), 1e-15);
  EXPECT_NEAR(bound.estimation, 2 * std::log(2.0), 1e-14);  // 4 log 2 / sqrt(4); C = 0
  EXPECT_EQ(bound.spectral, 0);
}

TEST(LearningBound, AnInterceptTakesCurvatureAway) {
  // One input with values 1 and 3: second moment 5, variance 1.
  Matrix x(2, 1);
  x(0, 0) = 1;
  x(1, 0) = 3;
  const std::vector<double> y = {-1, 1};
  Model model = linear_model(1, {1}, "linear");
  EXPECT_NEAR(learning_bound(model, {x.view(), y, {}}).strong_convexity, 10, 1e-13);
  model.outputs[0].intercept = -2;
  const Bound bound = learning_bound(model, {x.view(), y, {}});
  EXPECT_NEAR(bound.strong_convexity, 2, 1e-13);
  EXPECT_NEAR(bound.train_risk, 0, 1e-30);
}

struct Example {
  Matrix x;
  std::vector<double> y;
  Model model;
};

Example fitted(const std::string& task, const std::string& intercept, const std::string& scale_target) {
  Example example{reference::random_matrix(1500, 4, 1), reference::random_vector(1500, 2), {}};
  for (Index i = 0; i < example.x.rows; ++i) {
    const double* x = example.x.row(i);
    double& y = example.y[static_cast<std::size_t>(i)];
    y = 10 + 3 * x[0] - 2 * x[1] * x[2] + y;
    if (task == "classification") y = y > 10 ? 1 : 0;
  }
  AllOptions options = plain_options();
  set(options, "task", task);
  options.features = "linear + gaussian(order=2, sigma=2)";
  options.terms = 8;
  options.ridge = 0.7;
  set(options, "intercept", intercept);
  set(options, "scale_target", scale_target);
  example.model = fit({example.x.view(), example.y}, options).model;
  return example;
}

// The Hessian of the mean loss + ridge / N |theta|^2, straight from the definition.
Eigen::MatrixXd materialised_hessian(const Example& example) {
  const Model& model = example.model;
  const Index rows = example.x.rows;
  const auto terms = static_cast<Index>(model.terms.size());
  const std::vector<double> scores = model.scores(example.x.view());
  Eigen::MatrixXd a(rows, terms);
  Eigen::VectorXd weights(rows);
  std::vector<double> x(model.inputs.size());
  for (Index i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      x[j] = (example.x(i, static_cast<Index>(j)) - model.inputs[j].mean) / model.inputs[j].deviation;
    }
    for (Index m = 0; m < terms; ++m) {
      a(i, m) = reference::atom_value(model.terms[static_cast<std::size_t>(m)].atom, x.data(),
                                      static_cast<Index>(x.size()));
    }
    const double p = 1 / (1 + std::exp(-scores[static_cast<std::size_t>(i)]));
    weights[i] = model.task == Task::kRegression ? 2 : p * (1 - p);
  }
  if (model.outputs[0].intercept != 0) {  // weighted centring: the best constant for each direction
    const Eigen::RowVectorXd mean = weights.transpose() * a / weights.sum();
    a.rowwise() -= mean;
  }
  Eigen::MatrixXd hessian = a.transpose() * weights.asDiagonal() * a;
  hessian.diagonal().array() += 2 * model.training.ridge;
  return hessian / static_cast<double>(rows);
}

TEST(LearningBound, MeasuresTheEigenvaluesOfTheHessian) {
  for (const char* task : {"regression", "classification"}) {
    for (const char* intercept : {"yes", "no"}) {
      const Example example = fitted(task, intercept, "none");
      const Bound bound = learning_bound(example.model, {example.x.view(), example.y, {}});
      const Eigen::VectorXd expected =
          Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(materialised_hessian(example)).eigenvalues();
      EXPECT_NEAR(bound.strong_convexity, expected[0], 1e-10 * expected[0]) << task << " " << intercept;
      EXPECT_NEAR(bound.smoothness, expected[expected.size() - 1], 1e-10 * bound.smoothness);
    }
  }
}

TEST(LearningBound, DoesNotDependOnThreadsNorOnTheTargetsUnits) {
  for (const char* task : {"regression", "classification"}) {
    const Example example = fitted(task, "yes", "none");
    const Bound one = learning_bound(example.model, {example.x.view(), example.y, {}}, {0.05, 1});
    const Bound five = learning_bound(example.model, {example.x.view(), example.y, {}}, {0.05, 5});
    EXPECT_EQ(one.total(), five.total());  // to the last bit
    EXPECT_EQ(one.strong_convexity, five.strong_convexity);
    EXPECT_EQ(one.train_risk, five.train_risk);
  }
  // A model of the scaled target is the same model.
  const Example plain = fitted("regression", "yes", "none");
  const Example scaled = fitted("regression", "yes", "range");
  const Bound one = learning_bound(plain.model, {plain.x.view(), plain.y, {}});
  const Bound other = learning_bound(scaled.model, {scaled.x.view(), scaled.y, {}});
  EXPECT_NEAR(one.norm, other.norm, 1e-9 * one.norm);
  EXPECT_NEAR(one.train_risk, other.train_risk, 1e-9);
  EXPECT_NEAR(one.total(), other.total(), 1e-8 * one.total());
  EXPECT_NEAR(other.train_risk, scaled.model.training.risk, 1e-12);
}

TEST(LearningBound, ReadsInputsFromGivenColumns) {
  const Example example = fitted("regression", "yes", "none");
  Matrix swapped(example.x.rows, 5);
  const std::vector<Index> columns = {4, 3, 2, 1};
  for (Index i = 0; i < example.x.rows; ++i) {
    for (Index j = 0; j < 4; ++j) swapped(i, columns[static_cast<std::size_t>(j)]) = example.x(i, j);
  }
  EXPECT_EQ(learning_bound(example.model, {example.x.view(), example.y, {}}).total(),
            learning_bound(example.model, {swapped.view(), example.y, columns}).total());
}

TEST(LearningBound, SaysWhenTheRowsAreOthers) {
  Example example = fitted("regression", "yes", "none");
  const auto says = [](const Bound& bound, const std::string& text) {
    return std::any_of(bound.notes.begin(), bound.notes.end(),
                       [&](const std::string& note) { return note.find(text) != std::string::npos; });
  };
  const Bound own = learning_bound(example.model, {example.x.view(), example.y, {}});
  EXPECT_FALSE(says(own, "other rows"));
  EXPECT_FALSE(says(own, "was trained on"));
  example.y[3] += 1;
  EXPECT_TRUE(says(learning_bound(example.model, {example.x.view(), example.y, {}}), "other rows"));
  const std::span<const double> fewer(example.y.data(), 1000);
  EXPECT_TRUE(says(learning_bound(example.model, {example.x.view().middle_rows(0, 1000), fewer, {}}),
                   "was trained on 1500 rows"));
}

TEST(LearningBound, OfATunedModelIsThatOfTheUntunedDictionary) {
  const Matrix x = axes(2, 1);
  const std::vector<double> y = {1, -1, 0.5, -0.5};
  Model model = linear_model(2, {0.3, 0.4}, "linear");
  model.inputs[0].stretch = 5;  // x0 counts five times as much in the model
  const Bound bound = learning_bound(model, {x.view(), y, {}});
  EXPECT_TRUE(bound.is_tuned);
  EXPECT_NEAR(bound.kernel_bound, 2, 1e-14);
  EXPECT_NEAR(bound.spectral, bound.lipschitz * bound.kernel_bound * bound.norm, 1e-12);
  EXPECT_NEAR(bound.smoothness, 100, 1e-11);  // of the model's own terms
}

TEST(LearningBound, RefusesWhatItCannotBound) {
  const Matrix x = axes(2, 1);
  const std::vector<double> y = {1, -1, 0.5, -0.5};
  const std::vector<double> constant(4, 2.0);
  const Model model = linear_model(2, {1, 1}, "linear");
  EXPECT_THROW(static_cast<void>(learning_bound(model, {x.view(), y, {}}, {0, 1})), Error);
  EXPECT_THROW(static_cast<void>(learning_bound(model, {x.view(), y, {}}, {1, 1})), Error);
  EXPECT_THROW(static_cast<void>(learning_bound(model, {x.view(), constant, {}})), Error);
  EXPECT_THROW(static_cast<void>(learning_bound(model, {x.view().middle_rows(0, 3), y, {}})), Error);
  const std::vector<double> unknown = {1, -1, 0.5, std::nan("")};
  EXPECT_THROW(static_cast<void>(learning_bound(model, {x.view(), unknown, {}})), Error);
  EXPECT_THROW(static_cast<void>(learning_bound(linear_model(2, {}, "linear"), {x.view(), y, {}})), Error);
  EXPECT_THROW(static_cast<void>(learning_bound(linear_model(2, {1}, ""), {x.view(), y, {}})), Error);
  EXPECT_THROW(static_cast<void>(learning_bound(linear_model(3, {1}, "linear"), {x.view(), y, {}})), Error);
}

}  // namespace
}  // namespace mfga
