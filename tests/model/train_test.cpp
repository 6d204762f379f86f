// train(): what is chosen where nothing is said, and what is not where something speaks against it.
#include "mfga/train.hpp"

#include <gtest/gtest.h>

#include <cmath>

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

TrainOptions small_options() {
  TrainOptions options;
  options.fit.terms = 3;
  options.fit.features = "linear + gaussian(order=1)";
  return options;
}

TEST(Train, ChoosesTheRidgeOnHeldOutRowsAndTriesToTune) {
  const Data data;
  const TrainResult result = train(data.rows(), small_options());
  ASSERT_TRUE(result.cross_validation.has_value());
  EXPECT_EQ(result.cross_validation->ridges, quick_validation().ridges);
  EXPECT_GT(result.fit.report.tuning.held_out_without, 0);
}

TEST(Train, AGivenRidgeAndAGivenTuningAreThose) {
  const Data data;
  TrainOptions options = small_options();
  options.ridge_rule = RidgeRule::kGiven;
  options.fit.ridge = 0.3;
  options.automatic_tuning = false;
  const TrainResult result = train(data.rows(), options);
  EXPECT_FALSE(result.cross_validation.has_value());
  EXPECT_EQ(result.fit.model.training.ridge, 0.3);
  EXPECT_EQ(result.fit.model.training.tuning_steps, 0);
  EXPECT_EQ(result.fit.model.scores(data.x.view()),
            fit(data.rows(), options.fit).model.scores(data.x.view()));
}

TEST(Train, ThePaperAndANormBoundAreLeftAlone) {
  const Data data;
  TrainOptions options = small_options();
  options.fit.preset = "paper";
  EXPECT_EQ(options.resolved().tune, "no");
  EXPECT_FALSE(train(data.rows(), options).cross_validation.has_value());
  options = small_options();
  options.fit.norm_bound = 1;
  EXPECT_EQ(options.resolved().tune, "no");
  EXPECT_EQ(options.resolved().ridge, 0);
  EXPECT_FALSE(train(data.rows(), options).cross_validation.has_value());
}

TEST(Train, WithoutARidgeNothingIsTuned) {
  TrainOptions options = small_options();
  options.ridge_rule = RidgeRule::kGiven;
  options.fit.ridge = 0;
  EXPECT_EQ(options.resolved().tune, "no");
  options.ridge_rule = RidgeRule::kCrossValidated;
  EXPECT_EQ(options.resolved().tune, "auto");
  options.validation.ridges = {0, 1, 10};
  EXPECT_EQ(options.resolved().tune, "no");
}

}  // namespace
}  // namespace mfga
