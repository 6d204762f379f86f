// Models side by side: means are those of evaluate, differences are paired.
#include "mfga/compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mfga/error.hpp"
#include "mfga/fit.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

struct Sample {
  Matrix x = reference::random_matrix(400, 3, 1);
  std::vector<double> y;
  std::vector<double> weights;
  explicit Sample(int classes) {
    for (Index n = 0; n < x.rows; ++n) {
      const double signal = x(n, 0) + x(n, 1) * x(n, 2) + 0.3 * std::sin(static_cast<double>(7 * n));
      y.push_back(classes == 0 ? signal
                               : std::floor(std::clamp(signal + 0.5 * classes, 0.0, classes - 0.01)));
      weights.push_back(1 + static_cast<double>(n % 4));
    }
  }
  [[nodiscard]] Model fitted(int terms, const std::string& loss = "", bool is_classes = false) const {
    FitOptions options;
    options.features = "linear + hinge(knots=4, interactions=2)";
    options.terms = terms;
    options.loss = loss;
    options.task = is_classes ? Task::kClassification : Task::kRegression;
    return fit(TrainingData{.x = x.view(), .y = y}, options).model;
  }
};

TEST(Compare, MeansAndDifferencesAreThoseOfTheRows) {
  const Sample sample(0);
  const std::vector<Model> models = {sample.fitted(2), sample.fitted(12)};
  const Comparison comparison = compare(models, sample.x.view(), sample.y, 1, sample.weights);
  EXPECT_EQ(comparison.measure, "squared error");
  EXPECT_EQ(comparison.best, 1U);
  std::vector<double> differences;
  const std::vector<double> first = models[0].predict(sample.x.view());
  const std::vector<double> second = models[1].predict(sample.x.view());
  double sum = 0;
  double total = 0;
  for (std::size_t n = 0; n < first.size(); ++n) {
    differences.push_back(std::pow(first[n] - sample.y[n], 2) - std::pow(second[n] - sample.y[n], 2));
    sum += sample.weights[n] * differences[n];
    total += sample.weights[n];
  }
  double squares = 0;
  for (std::size_t n = 0; n < first.size(); ++n)
    squares += std::pow(sample.weights[n] * (differences[n] - sum / total), 2);
  const double rows = static_cast<double>(first.size());
  EXPECT_NEAR(comparison.models[0].difference, sum / total, 1e-12);
  EXPECT_NEAR(comparison.models[0].standard_error, std::sqrt(squares * rows / (rows - 1)) / total, 1e-12);
  EXPECT_FALSE(comparison.models[0].is_within_chance);
  EXPECT_EQ(comparison.models[1].difference, 0);
  EXPECT_EQ(comparison.models[1].standard_error, 0);
  for (const ComparedModel& model : comparison.models)
    EXPECT_NEAR(model.mean_loss, model.evaluation.regression->mse, 1e-12);
}

TEST(Compare, AModelIsWithinChanceOfItself) {
  const Sample sample(0);
  const Model model = sample.fitted(5);
  const Comparison comparison = compare(std::vector{model, model}, sample.x.view(), sample.y);
  EXPECT_TRUE(comparison.models[1].is_within_chance);
  EXPECT_EQ(comparison.models[1].difference, 0);
}

TEST(Compare, LossesOfClassesAreLogLosses) {
  for (const int classes : {2, 3}) {
    const Sample sample(classes);
    const std::vector<Model> models = {sample.fitted(3, "", true), sample.fitted(10, "", true)};
    const Comparison comparison = compare(models, sample.x.view(), sample.y);
    EXPECT_EQ(comparison.measure, "log loss");
    for (const ComparedModel& model : comparison.models) {
      const double expected =
          classes == 2 ? model.evaluation.classification->log_loss : model.evaluation.classes->log_loss;
      EXPECT_NEAR(model.mean_loss, expected, 1e-12) << classes;
    }
  }
}

TEST(Compare, ModelsOfTheSameOtherLossAreComparedByIt) {
  const Sample sample(0);
  const std::vector<Model> same = {sample.fitted(3, "quantile(0.7)"), sample.fitted(10, "quantile(0.7)")};
  const Comparison own = compare(same, sample.x.view(), sample.y);
  for (const ComparedModel& model : own.models)
    EXPECT_NEAR(model.mean_loss, *model.evaluation.own_loss, 1e-12);
  const std::vector<Model> others = {same[0], sample.fitted(10)};
  EXPECT_EQ(compare(others, sample.x.view(), sample.y).measure, "squared error");
}

TEST(Compare, ModelsOfDifferentTargetsAreRefused) {
  const Sample numbers(0);
  const Model model = numbers.fitted(3);
  Model other = model;
  other.target_name = "another";
  const Sample classes(2);
  const Model classifier = classes.fitted(3, "", true);
  Model renamed = classifier;
  renamed.labels = {"a", "b"};
  const auto message = [](const std::vector<Model>& models) -> std::string {
    try {
      check_comparable(models);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message({model, other}).find("its target is \"another\""), std::string::npos);
  EXPECT_NE(message({model, classifier}).find("it is for classification"), std::string::npos);
  EXPECT_NE(message({classifier, renamed}).find("other labels"), std::string::npos);
  EXPECT_NE(message({}).find("no model"), std::string::npos);
  EXPECT_EQ(message({model, model}), "");
}

}  // namespace
}  // namespace mfga
