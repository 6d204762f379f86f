#include "solve/coefficient_cost.hpp"

#include <gtest/gtest.h>

#include "mfga/predictor.hpp"
#include "model/noisy_sample.hpp"
#include "model/plain_fit.hpp"

namespace mfga {
namespace {

TEST(CoefficientCost, HasItsDerivatives) {
  for (const CoefficientCost cost : {CoefficientCost{}, CoefficientCost{0.3}}) {
    for (const double theta : {-2.0, -0.1, 0.0, 0.05, 0.7}) {
      constexpr double kStep = 1e-5;
      EXPECT_NEAR(cost.slope(theta), (cost.value(theta + kStep) - cost.value(theta - kStep)) / (2 * kStep),
                  1e-8);
      EXPECT_NEAR(cost.curvature(theta),
                  (cost.slope(theta + kStep) - cost.slope(theta - kStep)) / (2 * kStep), 1e-8);
    }
  }
}

TEST(CoefficientCost, LogCoshIsASquareNearZeroAndLinearFarAway) {
  const CoefficientCost cost{0.3};
  EXPECT_NEAR(cost.value(1e-3), 1e-6, 1e-11);
  EXPECT_NEAR(cost.value(1e-9), 1e-18, 1e-30);
  EXPECT_NEAR(cost.value(0.15 * (1 - 1e-12)), cost.value(0.15), 1e-12);
  EXPECT_NEAR(cost.value(1001) - cost.value(1000), 2 * 0.3, 1e-9);
  EXPECT_EQ(cost.value(1e300), 2 * 0.3 * 1e300);
}

// The objective of the rows, by the definition.
double objective(const Model& model, const NoisySample& sample, double ridge) {
  const std::vector<double> scores = Predictor(model).scores(sample.x.view());
  const bool has_classes = model.task == Task::kClassification;
  double sum = 0;
  for (std::size_t n = 0; n < scores.size(); ++n) {
    const double y = sample.y[n];
    sum +=
        has_classes ? std::log1p(std::exp((y > 0 ? -1 : 1) * scores[n])) : (scores[n] - y) * (scores[n] - y);
  }
  for (const Term& term : model.terms)
    sum += ridge * CoefficientCost{model.training.bend}.value(term.coefficients.front());
  return sum;
}

TEST(CoefficientCost, FitsAreMinimaOfTheObjective) {
  constexpr double kRidge = 20;
  for (const bool has_classes : {false, true}) {
    const NoisySample sample(300, has_classes);
    AllOptions options = plain_options();
    options.features = "linear + hinge(knots=8)";
    options.terms = 6;
    options.ridge = kRidge;
    options.penalty = PenaltyKind::kLogCosh;
    Model model = fit(sample.data(), options).model;
    ASSERT_EQ(model.terms.size(), 6U);
    EXPECT_GT(model.training.bend, 0);
    if (has_classes) {
      EXPECT_EQ(model.training.bend, 0.1);
    }
    const double least = objective(model, sample, kRidge);
    for (Term& term : model.terms) {
      double& theta = term.coefficients.front();
      const double fitted = theta;
      constexpr double kStep = 1e-4;
      theta = fitted + kStep;
      const double above = objective(model, sample, kRidge);
      theta = fitted - kStep;
      const double below = objective(model, sample, kRidge);
      theta = fitted;
      EXPECT_LT(least, above);
      EXPECT_LT(least, below);
      // The vertex of the parabola through the three is where the coefficient is, but for what L-BFGS leaves:
      // 1e-11 of the objective.
      EXPECT_NEAR(0.5 * kStep * (below - above) / (below + above - 2 * least), 0, 1e-5);
    }
    options.penalty = PenaltyKind::kRidge;
    EXPECT_EQ(fit(sample.data(), options).model.training.bend, 0);
  }
}

TEST(CoefficientCost, WorksWithTuningSizesAndSeveralClasses) {
  const NoisySample sample(400);
  AllOptions options;
  options.penalty = PenaltyKind::kLogCosh;
  const FitResult chosen = fit(sample.data(), options);
  const double initial = chosen.report.initial_risk;
  EXPECT_LT(chosen.model.training.risk, 0.3 * initial);
  options.tune = Tuning::by_steps(5);
  options.terms = 10;
  options.ridge = 1;
  EXPECT_LT(fit(sample.data(), options).model.training.risk, 0.3 * initial);
  NoisySample classes(400);
  for (double& y : classes.y) y = y < 0.3 ? 0 : y < 1.2 ? 1 : 2;
  options.task = Task::kClassification;
  const FitResult several = fit(classes.data(), options);
  EXPECT_LT(several.model.training.risk, 0.7 * several.report.initial_risk);
}

TEST(CoefficientCost, IsRefusedWhereItMeansNothing) {
  const NoisySample sample(100);
  AllOptions options = plain_options();
  options.penalty = PenaltyKind::kLogCosh;
  options.norm_bound = 1;
  EXPECT_NE(error_of(sample.data(), options).find("`norm_bound` is not possible with `penalty`"),
            std::string::npos);
  options.norm_bound = 0;
  options.engine = EngineKind::kGram;
  EXPECT_NE(error_of(sample.data(), options).find("use `engine=lazy` for `penalty=logcosh`"),
            std::string::npos);
}

}  // namespace
}  // namespace mfga
