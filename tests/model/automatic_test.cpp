// What is chosen where nothing was said.
#include "model/automatic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mfga/fit.hpp"
#include "model/plain_fit.hpp"
#include "model/plan.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

std::string features_for(const Matrix& x) {
  Workers workers(2);
  return automatic_features({x.view(), reference::plain_inputs(x.cols)}, workers);
}

Matrix binary(Index rows, Index cols) {
  Matrix x = reference::random_matrix(rows, cols, 3);
  for (double& value : x.values) value = value > 0 ? 1 : 0;
  return x;
}

TEST(Automatic, FeaturesFollowTheKindsAndTheNumbersOfColumns) {
  EXPECT_EQ(features_for(reference::random_matrix(100, 3, 1)),
            "linear + step(knots=32) + hinge(knots=32) + polynomial(degree=2, offset=0) + gaussian(order=2) "
            "+ landmark(count=25)");
  EXPECT_EQ(features_for(reference::random_matrix(3000, 1, 1)),
            "linear + step(knots=200) + hinge(knots=200)");
  EXPECT_EQ(features_for(binary(3000, 4)),
            "linear + polynomial(degree=2, offset=0) + gaussian(order=2) + landmark(count=500)");
  EXPECT_EQ(features_for(reference::random_matrix(3, 300, 1)),
            "linear + step(knots=32) + hinge(knots=32) + gaussian(order=1)");
  // Candidates are bounded for any number of columns.
  EXPECT_EQ(features_for(reference::random_matrix(3, 2000, 1)),
            "linear + step(knots=10) + hinge(knots=10) + gaussian(order=1)");
  EXPECT_EQ(features_for(reference::random_matrix(3, 6000, 1)), "linear + gaussian(order=1)");
  Matrix x = binary(1000, 4);
  x(999, 2) = 7;  // one number at the very end
  EXPECT_NE(features_for(x).find("step"), std::string::npos);
}

TEST(Automatic, DictionariesBeginWithTheSimplest) {
  const auto dictionaries_for = [](const Matrix& x) {
    Workers workers(2);
    const AutomaticDictionaries found =
        automatic_dictionaries({x.view(), reference::plain_inputs(x.cols)}, workers);
    EXPECT_EQ(found.list.at(found.whole), features_for(x));
    return found.list;
  };
  using Texts = std::vector<std::string>;
  const Matrix numbers = reference::random_matrix(100, 3, 1);
  EXPECT_EQ(dictionaries_for(numbers),
            (Texts{"linear + step(knots=32) + hinge(knots=32)",
                   "linear + step(knots=32) + hinge(knots=32) + polynomial(degree=2, offset=0)",
                   "linear + step(knots=32) + hinge(knots=32) + hinge(knots=6, interactions=2)",
                   "linear + step(knots=32) + hinge(knots=32) + landmark(count=25, sigma=[auto*0.3, auto])",
                   features_for(numbers), "linear + landmark(count=25)"}));
  // More inputs leave fewer knots to each, and at last none.
  const Texts wide = dictionaries_for(reference::random_matrix(100, 20, 1));
  EXPECT_NE(wide.at(2).find("hinge(knots=3, interactions=2)"), std::string::npos) << wide.at(2);
  for (const std::string& features : dictionaries_for(reference::random_matrix(100, 40, 1)))
    EXPECT_EQ(features.find("interactions"), std::string::npos) << features;
  EXPECT_EQ(
      dictionaries_for(binary(100, 4)),
      (Texts{"linear + polynomial(degree=2, offset=0)", "linear + landmark(count=25, sigma=[auto*0.3, auto])",
             features_for(binary(100, 4)), "linear + landmark(count=25)"}));
  EXPECT_EQ(dictionaries_for(reference::random_matrix(100, 1, 1)),
            (Texts{"linear + step(knots=32) + hinge(knots=32)"}));
}

TEST(Automatic, WideTablesAndLargeModelsAreChosenForWithFewerRows) {
  EXPECT_EQ(affordable_rows(25000, 13000, 40), 25000);
  EXPECT_EQ(affordable_rows(25000, 28000, 200), 4464);
  EXPECT_EQ(affordable_rows(25000, 1000000, 1000), 2000);
  EXPECT_EQ(affordable_rows(100, 1000000, 1000), 100);
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
  const ValidatedFit result = cross_validate({table.x.view(), table.y}, plain_options(), quick_validation());
  EXPECT_EQ(result.fit.report.select, "gain");
  EXPECT_EQ(result.cross_validation.folds, 1);
  double noise_and_signal = 0;
  double mean = 0;
  for (const double y : table.y) mean += y / 600;
  for (const double y : table.y) noise_and_signal += (y - mean) * (y - mean) / 600;
  EXPECT_LT(result.cross_validation.chosen.mean, 0.2 * noise_and_signal);  // on rows held out
}

// a * b + max(0, c), with two inputs that say nothing.
double product_and_bend(const double* x) { return x[0] * x[1] + std::max(0.0, x[2]); }

TEST(Automatic, MoreRowsDoNotMakeItWorse) {
  const Matrix test = reference::random_matrix(2000, 5, 100);
  double mean = 0;
  for (Index i = 0; i < test.rows; ++i) mean += product_and_bend(test.row(i)) / 2000;
  const auto r2 = [&](Index n_rows) {
    const Matrix x = reference::random_matrix(n_rows, 5, 9);
    std::vector<double> y = reference::random_vector(n_rows, 10);
    for (Index i = 0; i < n_rows; ++i) {
      double& value = y[static_cast<std::size_t>(i)];
      value = 0.3 * value + product_and_bend(x.row(i));
    }
    AllOptions options = plain_options();
    options.terms = 5;
    const std::vector<double> scores = fit({x.view(), y}, options).model.scores(test.view());
    double left = 0;
    double all = 0;
    for (Index i = 0; i < test.rows; ++i) {
      const double truth = product_and_bend(test.row(i));
      left += std::pow(scores[static_cast<std::size_t>(i)] - truth, 2);
      all += std::pow(truth - mean, 2);
    }
    return 1 - left / all;
  };
  const double few = r2(1000);
  EXPECT_GT(few, 0.95);
  EXPECT_GT(r2(5000), few - 0.01);
  EXPECT_GT(r2(20000), few - 0.01);
}

TEST(Automatic, TwoColumnsOfTwoValuesAreEnough) {
  const Matrix x = binary(500, 2);
  std::vector<double> y;
  for (Index i = 0; i < x.rows; ++i) y.push_back(x(i, 0) + 2 * x(i, 0) * x(i, 1));
  AllOptions options = plain_options();
  options.terms = 4;
  for (const std::string tune : {"no", "auto"}) {
    set(options, "tune", tune);
    const std::vector<double> scores =
        cross_validate({x.view(), y}, options, quick_validation()).fit.model.scores(x.view());
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(scores[i], y[i], 0.01);
  }
}

// 2 a + max(0, b - 5) + 3 [c = red]: functions of single columns, whether or not tuning is found to help.
TEST(Automatic, SimpleTruthsHaveNoTermsOfAllInputs) {
  for (const Index n_rows : {600, 2000}) {
    Matrix x = reference::random_matrix(n_rows, 5, 11);
    std::vector<double> y = reference::random_vector(n_rows, 12);
    for (Index i = 0; i < n_rows; ++i) {
      const Index color = i % 3;
      for (Index j = 0; j < 2; ++j) x(i, j) = 5 + 2 * x(i, j);
      for (Index j = 0; j < 3; ++j) x(i, 2 + j) = color == j ? 1 : 0;
      double& value = y[static_cast<std::size_t>(i)];
      value = 0.5 * value + 2 * x(i, 0) + std::max(0.0, x(i, 1) - 5) + (color == 0 ? 3 : 0);
    }
    TrainingData data{x.view(), y};
    data.text_columns = {{"c", 2, {"red", "green", "blue"}}};
    AllOptions options = plain_options();
    options.terms = 12;
    options.tune = Tuning::automatic();
    // Held-out rows can be wrong by chance, but not often.
    int simple = 0;
    constexpr int kSeeds = 3;
    for (options.seed = 0; options.seed < kSeeds; ++options.seed) {
      const FitResult result = cross_validate(data, options, quick_validation()).fit;
      simple += std::ranges::all_of(result.model.terms, [](const Term& term) {
        return term.atom.family == "linear" || term.atom.family == "step" || term.atom.family == "hinge";
      });
    }
    EXPECT_GE(simple, kSeeds - 1) << n_rows << " rows";
  }
}

TEST(Automatic, ProductsOfTwoLevelsAreNotOffered) {
  Matrix x = binary(300, 4);
  for (Index i = 0; i < x.rows; ++i) {
    for (Index j = 1; j < 4; ++j) x(i, j) = i % 3 == j - 1 ? 1 : 0;
  }
  const std::vector<double> y = reference::random_vector(300, 13);
  TrainingData data{x.view(), y};
  AllOptions options = plain_options();
  options.features = "linear + polynomial(offset=0)";
  options.terms = 2;
  const Index all = fit(data, options).report.candidates;
  data.text_columns = {{"color", 1, {"blue", "green", "red"}}};
  EXPECT_EQ(fit(data, options).report.candidates, all - 3);
  options.tune = Tuning::by_steps(2);
  EXPECT_EQ(fit(data, options).report.candidates, all - 3);
  options.tune = Tuning::none();
  options.preset = true;  // the paper has all products
  EXPECT_EQ(fit(data, options).report.candidates, all);
}

TEST(Automatic, AQuickValidationUsesOneFoldOfSomeRows) {
  const Table table;
  CrossValidationOptions quick = quick_validation();
  quick.most_rows = 100;
  AllOptions options = plain_options();
  options.features = "linear";
  options.terms = 3;
  for (const std::string engine : {"lazy", "gram"}) {
    set(options, "engine", engine);
    const ValidatedFit result = cross_validate({table.x.view(), table.y}, options, quick);
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

TEST(Automatic, AQuickValidationClimbsToARidgeBetweenWorseOnes) {
  const Table table;
  AllOptions options = plain_options();
  options.features = "linear + hinge(knots=20) + step(knots=20)";
  options.terms = 20;
  set(options, "engine", "lazy");
  CrossValidationOptions quick = quick_validation();
  const CrossValidation some = cross_validate({table.x.view(), table.y}, options, quick).cross_validation;
  const std::vector<double>& ridges = some.ridges;
  EXPECT_TRUE(std::ranges::is_sorted(ridges));
  EXPECT_GE(ridges.size(), 3U);
  EXPECT_LT(ridges.size(), quick.ridges.size());
  EXPECT_EQ(some.mean.rows, std::ssize(ridges));
  // Whatever the engine.
  set(options, "engine", "gram");
  EXPECT_EQ(cross_validate({table.x.view(), table.y}, options, quick).cross_validation.ridges, ridges);
  set(options, "engine", "lazy");
  // The first two, which are far apart, and those beside the best one.
  for (const double first : {0.01, 10.0}) EXPECT_TRUE(std::ranges::count(ridges, first)) << first;
  const auto best = std::ranges::find(quick.ridges, some.chosen.ridge);
  ASSERT_NE(best, quick.ridges.end());
  if (best != quick.ridges.begin()) {
    EXPECT_TRUE(std::ranges::count(ridges, *(best - 1)));
  }
  if (best + 1 != quick.ridges.end()) {
    EXPECT_TRUE(std::ranges::count(ridges, *(best + 1)));
  }
  // Each as if it were the only one.
  for (std::size_t i = 0; i < ridges.size(); ++i) {
    CrossValidationOptions one = quick;
    one.ridges = {ridges[i]};
    const CrossValidation alone = cross_validate({table.x.view(), table.y}, options, one).cross_validation;
    EXPECT_NEAR(some.mean(static_cast<Index>(i), some.mean.cols - 1), alone.chosen.mean,
                1e-9 * alone.chosen.mean);
  }
}

TEST(Automatic, TermsThatAreNotFoundAgainInTheOtherHalfAreAWarning) {
  const Table table;
  AllOptions options = plain_options();
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
