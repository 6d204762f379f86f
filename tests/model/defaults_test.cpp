// fit(): what is chosen where nothing is said, and what is not where something speaks against it.
#include "mfga/fit.hpp"

#include <gtest/gtest.h>

#include "mfga/error.hpp"
#include "mfga/paper.hpp"
#include "model/noisy_sample.hpp"
#include "model/plan.hpp"

namespace mfga {
namespace {

FitOptions small_options() {
  FitOptions options;
  options.terms = 3;
  options.features = "linear + gaussian(order=1)";
  return options;
}

TEST(Defaults, ChooseTheRidgeOnHeldOutRowsAndTryToTune) {
  const NoisySample sample(300);
  for (const Effort effort : {Effort::kQuick, Effort::kNormal, Effort::kThorough}) {
    FitOptions options = small_options();
    options.effort = effort;
    const FitResult result = fit(sample.data(), options);
    const std::vector<double> ridges = quick_validation().ridges;
    EXPECT_NE(std::ranges::find(ridges, result.model.training.ridge), ridges.end());
    // A race has no surface of losses to show.
    EXPECT_EQ(result.cross_validation.has_value(), effort == Effort::kThorough);
    EXPECT_TRUE(result.report.tuning.is_tried);
    EXPECT_GT(result.report.tuning.held_out_without, 0);
  }
}

TEST(Defaults, AGivenRidgeAndAGivenTuningAreThose) {
  const NoisySample sample(300);
  FitOptions options = small_options();
  options.ridge = 0.3;
  options.tune = Tuning::none();
  const FitResult result = fit(sample.data(), options);
  EXPECT_FALSE(result.cross_validation.has_value());
  EXPECT_FALSE(result.report.tuning.is_tried);
  EXPECT_EQ(result.model.training.ridge, 0.3);
  EXPECT_EQ(result.model.training.tuning_steps, 0);
}

TEST(Defaults, ThePaperAndANormBoundAreLeftAlone) {
  const NoisySample sample(300);
  for (const paper::Options& paper : {paper::Options{.preset = true}, paper::Options{.norm_bound = 1}}) {
    const FitResult result = paper::fit(sample.data(), small_options(), paper);
    EXPECT_FALSE(result.report.tuning.is_tried);
    EXPECT_FALSE(result.cross_validation.has_value());
  }
}

TEST(Defaults, WithoutARidgeNothingIsTuned) {
  const NoisySample sample(300);
  const auto may_tune = [&](const Ridge& ridge) {
    FitOptions options = small_options();
    options.ridge = ridge;
    return make_plan(sample.data(), options, {}).may_tune;
  };
  EXPECT_TRUE(may_tune(Ridge::automatic()));
  EXPECT_FALSE(may_tune(0));
  EXPECT_TRUE(may_tune(Ridge::cross_validated()));
  EXPECT_FALSE(may_tune(Ridge::cross_validated({.ridges = {0, 1, 10}})));
}

TEST(Defaults, AnotherSearchIsNotTunedWhereNobodyAskedForIt) {
  const NoisySample sample(300);
  FitOptions options = small_options();
  options.refine = true;
  EXPECT_FALSE(make_plan(sample.data(), options, {}).may_tune);
  EXPECT_NO_THROW(options.validate());
  options.tune = Tuning::by_steps(3);
  EXPECT_THROW(options.validate(), Error);
  options.refine = false;
  EXPECT_NO_THROW(options.validate());
  options.tune = Tuning::by_steps(-1);  // is not automatic
  EXPECT_THROW(options.validate(), Error);
}

}  // namespace
}  // namespace mfga
