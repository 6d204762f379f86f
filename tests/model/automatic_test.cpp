// What is chosen where nothing was said.
#include "model/automatic.hpp"

#include <gtest/gtest.h>

#include "mfga/cross_validate.hpp"
#include "mfga/fit.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

std::string features_for(const Matrix& x) {
  return automatic_features({x.view(), reference::plain_inputs(x.cols)});
}

Matrix binary(Index rows, Index cols) {
  Matrix x = reference::random_matrix(rows, cols, 3);
  for (double& value : x.values) value = value > 0 ? 1 : 0;
  return x;
}

TEST(Automatic, FeaturesFollowTheKindsAndTheNumbersOfColumns) {
  EXPECT_EQ(features_for(reference::random_matrix(100, 3, 1)),
            "linear + step(knots=32) + hinge(knots=32) + gaussian(order=2) + landmark(count=25)");
  EXPECT_EQ(features_for(reference::random_matrix(3000, 1, 1)),
            "linear + step(knots=200) + hinge(knots=200)");
  EXPECT_EQ(features_for(binary(3000, 4)), "linear + gaussian(order=2) + landmark(count=500)");
  EXPECT_EQ(features_for(reference::random_matrix(3, 300, 1)),
            "linear + step(knots=32) + hinge(knots=32) + gaussian(order=1)");
  Matrix x = binary(1000, 4);
  x(999, 2) = 7;  // one number at the very end
  EXPECT_NE(features_for(x).find("step"), std::string::npos);
}

TEST(Automatic, ColumnsWithHeavyTailsGetTheQuantileScale) {
  Matrix x = reference::random_matrix(2000, 3, 4);
  x(5, 1) = 60;                                                         // one value far out
  for (Index i = 0; i < x.rows; ++i) x(i, 2) = std::sinh(2 * x(i, 2));  // many
  Workers workers(2);
  const std::vector<double> deviations = {1, std::sqrt(1 + 60 * 60 / 2000.0), 13};
  std::vector<InputColumn> inputs = reference::plain_inputs(3);
  for (std::size_t j = 0; j < 3; ++j) inputs[j].deviation = deviations[j];
  EXPECT_EQ(automatic_scales({x.view(), inputs}, workers),
            (std::vector<ScaleKind>{ScaleKind::kStandard, ScaleKind::kQuantile, ScaleKind::kQuantile}));
}

struct Table {
  Matrix x = reference::random_matrix(600, 4, 7);
  std::vector<double> y;
  Table() {
    const std::vector<double> noise = reference::random_vector(600, 8);
    for (Index i = 0; i < x.rows; ++i)
      y.push_back(std::abs(x(i, 0)) + (x(i, 1) > 0.3 ? 1 : 0) + x(i, 2) * x(i, 3) +
                  0.3 * noise[static_cast<std::size_t>(i)]);
  }
};

TEST(Automatic, DefaultsLearnHingesStepsAndProducts) {
  const Table table;
  const CrossValidatedFit result = cross_validate({table.x.view(), table.y}, {}, quick_validation());
  EXPECT_EQ(result.fit.report.select, "gain");
  EXPECT_EQ(result.cross_validation.folds, 1);
  double noise_and_signal = 0;
  double mean = 0;
  for (const double y : table.y) mean += y / 600;
  for (const double y : table.y) noise_and_signal += (y - mean) * (y - mean) / 600;
  EXPECT_LT(result.cross_validation.chosen.mean, 0.2 * noise_and_signal);  // on rows held out
}

TEST(Automatic, AQuickValidationUsesOneFoldOfSomeRows) {
  const Table table;
  CrossValidationOptions quick = quick_validation();
  quick.most_rows = 100;
  FitOptions options;
  options.features = "linear";
  options.terms = 3;
  for (const std::string engine : {"lazy", "gram"}) {
    options.engine = engine;
    const CrossValidatedFit result = cross_validate({table.x.view(), table.y}, options, quick);
    EXPECT_EQ(result.fit.report.rows, 600);  // the model is learned from all
    options.ridge = result.cross_validation.chosen.ridge;
    const FitResult expected = fit({table.x.view(), table.y}, options);
    EXPECT_NEAR(result.fit.model.training.risk, expected.model.training.risk, 1e-12);
  }
  EXPECT_TRUE(can_validate_quickly({table.x.view(), table.y}));
  EXPECT_FALSE(can_validate_quickly({table.x.view(), std::span(table.y).first(40)}));
  std::vector<double> classes(600);
  classes[3] = classes[4] = 1;
  EXPECT_FALSE(can_validate_quickly({table.x.view(), classes}));
}

TEST(Automatic, TermsThatAreNotFoundAgainInTheOtherHalfAreAWarning) {
  const Table table;
  FitOptions options;
  options.features = "linear + gaussian(order=2)";
  options.terms = 3;
  const FitResult stable = fit({table.x.view(), table.y}, options);
  EXPECT_GE(stable.report.stability, 0.5);
  const auto warns = [](const FitResult& result) {
    for (const std::string& warning : result.report.warnings) {
      if (warning.find("not stable") != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_FALSE(warns(stable));
  const std::vector<double> noise = reference::random_vector(600, 12);
  options.features = "fourier(count=300, sigma=0.5)";
  options.terms = 10;
  const FitResult unstable = fit({table.x.view(), noise}, options);
  EXPECT_GE(unstable.report.stability, 0);
  EXPECT_LT(unstable.report.stability, 0.5);
  EXPECT_TRUE(warns(unstable));
}

}  // namespace
}  // namespace mfga
