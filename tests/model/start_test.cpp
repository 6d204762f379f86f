// Going on from a model.
#include <gtest/gtest.h>

#include "mfga/mfga.hpp"
#include "model/noisy_sample.hpp"
#include "model/plain_fit.hpp"

namespace mfga {
namespace {

AllOptions with_terms(Index terms) {
  AllOptions options = plain_options();
  options.features = "linear + hinge(knots=9) + gaussian(order=2, sigma=2)";
  options.terms = terms;
  options.engine = EngineKind::kLazy;
  options.ridge = 0.1;
  return options;
}

TEST(Start, GoesOnWhereTheSearchHadEnded) {
  for (const bool classes : {false, true}) {
    const NoisySample sample(400, classes);
    const Model whole = fit(sample.data(), with_terms(9)).model;
    const Model first = fit(sample.data(), with_terms(5)).model;
    AllOptions options = with_terms(9);
    options.engine = std::nullopt;
    options.start = &first;
    options.ridge = Ridge::automatic();  // that of the model
    const Model second = fit(sample.data(), options).model;
    ASSERT_EQ(second.terms.size(), 9U);
    EXPECT_EQ(second.training.ridge, 0.1);
    for (std::size_t i = 0; i < whole.terms.size(); ++i) {
      EXPECT_EQ(second.terms[i].atom, whole.terms[i].atom);
      EXPECT_NEAR(second.terms[i].coefficients[0], whole.terms[i].coefficients[0], 1e-6);
    }
    EXPECT_NEAR(second.outputs[0].intercept, whole.outputs[0].intercept, 1e-6);
  }
}

TEST(Start, KeepsTermsAndInputsThatWereMoved) {
  const NoisySample sample(400);
  AllOptions tuned = with_terms(6);
  tuned.scale = ScaleKind::kQuantile;
  tuned.tune = Tuning::by_steps(5);
  tuned.engine = std::nullopt;
  const Model first = fit(sample.data(), tuned).model;
  ASSERT_GT(first.training.tuning_steps, 0);
  AllOptions options = with_terms(8);
  options.start = &first;
  options.tune = Tuning::automatic();
  options.ridge = 1e-9;  // with a larger one, near copies of terms make the objective smaller, not the risk
  const FitResult second = fit(sample.data(), options);
  EXPECT_FALSE(second.report.tuning.is_tried);
  ASSERT_EQ(second.model.terms.size(), 8U);
  for (std::size_t i = 0; i < first.terms.size(); ++i)
    EXPECT_EQ(second.model.terms[i].atom, first.terms[i].atom);
  for (std::size_t j = 0; j < first.inputs.size(); ++j) {
    EXPECT_EQ(second.model.inputs[j].warp, first.inputs[j].warp);
    EXPECT_EQ(second.model.inputs[j].stretch, first.inputs[j].stretch);
  }
  EXPECT_LT(second.model.training.risk, first.training.risk);
}

TEST(Start, WithAllItsTermsFitsTheCoefficientsToOtherRows) {
  const NoisySample sample(400);
  const Model first = fit(sample.data(), with_terms(5)).model;
  std::vector<double> doubled = sample.y;
  for (double& y : doubled) y *= 2;
  AllOptions options = with_terms(5);
  options.start = &first;
  options.ridge = 1e-9;
  const Model second = fit({.x = sample.x.view(), .y = doubled}, options).model;
  ASSERT_EQ(second.terms.size(), 5U);
  EXPECT_GT(regression_metrics(second.predict(sample.x.view()), doubled).r2.value(),
            regression_metrics(first.predict(sample.x.view()), sample.y).r2.value() - 1e-3);
}

TEST(Start, FindsItsInputsByName) {
  const NoisySample sample(300);
  TrainingData data = sample.data();
  data.columns = {"a", "b", "c", "d"};
  const Model first = fit(data, with_terms(4)).model;
  Matrix turned(sample.x.rows, 4);
  for (Index i = 0; i < turned.rows; ++i) {
    for (Index j = 0; j < 4; ++j) turned(i, j) = sample.x(i, 3 - j);
  }
  TrainingData other{.x = turned.view(), .y = sample.y, .columns = {"d", "c", "b", "a"}};
  AllOptions options = with_terms(6);
  options.start = &first;
  const std::vector<double> expected = fit(data, options).model.scores(sample.x.view());
  const std::vector<double> found = fit(other, options).model.scores(turned.view());
  for (std::size_t n = 0; n < found.size(); ++n) EXPECT_NEAR(found[n], expected[n], 1e-9);
}

TEST(Start, StoppedAtOnceKeepsTheModel) {
  const NoisySample sample(300);
  const Model first = fit(sample.data(), with_terms(4)).model;
  AllOptions options = with_terms(6);
  options.start = &first;
  const FitResult second = fit(sample.data(), options, [](const Progress&) { return ProgressAction::kStop; });
  EXPECT_TRUE(second.report.stopped);
  EXPECT_GE(second.model.terms.size(), 4U);
}

TEST(Start, SaysWhatDoesNotFit) {
  const NoisySample sample(300);
  TrainingData data = sample.data();
  data.columns = {"a", "b", "c", "d"};
  const Model first = fit(data, with_terms(4)).model;
  AllOptions options = with_terms(6);
  options.start = &first;
  EXPECT_NE(error_of(NoisySample(300, true).data(), options).find("is for regression"), std::string::npos);
  data.columns[1] = "z";
  EXPECT_NE(error_of(data, options).find("are missing: b"), std::string::npos);
  options.refine = true;
  EXPECT_NE(error_of(sample.data(), options).find("`refine`"), std::string::npos);
  options.refine = false;
  options.method = paper::Method::kRks;
  options.features.clear();
  EXPECT_NE(error_of(sample.data(), options).find("`start` is for the method mfga"), std::string::npos);
}

}  // namespace
}  // namespace mfga
