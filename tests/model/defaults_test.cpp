// fit(): what is chosen where nothing is said, and what is not where something speaks against it.
#include "mfga/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mfga/error.hpp"
#include "mfga/paper.hpp"
#include "model/plan.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

struct Data {
  Matrix x = reference::random_matrix(300, 3, 4);
  std::vector<double> y;
  Data() {
    const std::vector<double> noise = reference::random_vector(300, 5);
    for (Index i = 0; i < x.rows; ++i)
      y.push_back(std::sin(2 * x(i, 0)) + x(i, 1) + 0.3 * noise[static_cast<std::size_t>(i)]);
  }
  [[nodiscard]] TrainingData rows() const { return {x.view(), y}; }
};

FitOptions small_options() {
  FitOptions options;
  options.terms = 3;
  options.features = "linear + gaussian(order=1)";
  return options;
}

TEST(Defaults, ChooseTheRidgeOnHeldOutRowsAndTryToTune) {
  const Data data;
  const FitResult result = fit(data.rows(), small_options());
  ASSERT_TRUE(result.cross_validation.has_value());
  EXPECT_EQ(result.cross_validation->ridges, quick_validation().ridges);
  EXPECT_TRUE(result.report.tuning.is_tried);
  EXPECT_GT(result.report.tuning.held_out_without, 0);
}

TEST(Defaults, AGivenRidgeAndAGivenTuningAreThose) {
  const Data data;
  FitOptions options = small_options();
  options.ridge = 0.3;
  options.tune = Tuning::none();
  const FitResult result = fit(data.rows(), options);
  EXPECT_FALSE(result.cross_validation.has_value());
  EXPECT_FALSE(result.report.tuning.is_tried);
  EXPECT_EQ(result.model.training.ridge, 0.3);
  EXPECT_EQ(result.model.training.tuning_steps, 0);
}

TEST(Defaults, ThePaperAndANormBoundAreLeftAlone) {
  const Data data;
  for (const paper::Options& paper : {paper::Options{.preset = true}, paper::Options{.norm_bound = 1}}) {
    const FitResult result = paper::fit(data.rows(), small_options(), paper);
    EXPECT_FALSE(result.report.tuning.is_tried);
    EXPECT_FALSE(result.cross_validation.has_value());
  }
}

TEST(Defaults, WithoutARidgeNothingIsTuned) {
  const Data data;
  const auto may_tune = [&](const Ridge& ridge) {
    FitOptions options = small_options();
    options.ridge = ridge;
    return make_plan(data.rows(), options, {}).may_tune;
  };
  EXPECT_TRUE(may_tune(Ridge::automatic()));
  EXPECT_FALSE(may_tune(0));
  EXPECT_TRUE(may_tune(Ridge::cross_validated()));
  EXPECT_FALSE(may_tune(Ridge::cross_validated({.ridges = {0, 1, 10}})));
}

TEST(Defaults, AnotherSearchIsNotTunedWhereNobodyAskedForIt) {
  const Data data;
  FitOptions options = small_options();
  options.refine = true;
  EXPECT_FALSE(make_plan(data.rows(), options, {}).may_tune);
  EXPECT_NO_THROW(options.validate());
  options.tune = Tuning::by_steps(3);
  EXPECT_THROW(options.validate(), Error);
}

}  // namespace
}  // namespace mfga
