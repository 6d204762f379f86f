// Weights of rows: whole ones are copies, 0 is a row that is not there.
#include <gtest/gtest.h>

#include <cmath>

#include "mfga/mfga.hpp"
#include "model/plain_fit.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

constexpr Index kRows = 240;

// Rows with weights 0 to 3, and the same rows as often as that.
struct Sample {
  Matrix x = reference::random_matrix(kRows, 4, 1);
  std::vector<double> y;
  std::vector<double> weights;
  Matrix copied_x;
  std::vector<double> copied_y;

  Sample(bool classes, bool with_zeros) {
    const std::vector<double> noise = reference::random_vector(kRows, 2);
    Index copies = 0;
    for (Index i = 0; i < kRows; ++i) {
      const double value = x(i, 0) * x(i, 1) + std::abs(x(i, 2)) + 0.3 * noise[static_cast<std::size_t>(i)];
      y.push_back(classes ? (value > 0.7 ? 1 : 0) : value);
      weights.push_back(static_cast<double>(with_zeros ? i % 4 : 1 + i % 3));
      copies += static_cast<Index>(weights.back());
    }
    copied_x = Matrix(copies, x.cols);
    Index row = 0;
    for (Index i = 0; i < kRows; ++i) {
      for (Index copy = 0; copy < static_cast<Index>(weights[static_cast<std::size_t>(i)]); ++copy, ++row) {
        std::copy_n(x.row(i), x.cols, copied_x.row(row));
        copied_y.push_back(y[static_cast<std::size_t>(i)]);
      }
    }
  }
  [[nodiscard]] TrainingData weighted() const { return {.x = x.view(), .y = y, .weights = weights}; }
  [[nodiscard]] TrainingData copied() const { return {.x = copied_x.view(), .y = copied_y}; }
};

void expect_same(const FitResult& weighted, const FitResult& copied, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(weighted.model.terms.size(), copied.model.terms.size()) << what;
  const Matrix x = reference::random_matrix(50, 4, 3);
  const std::vector<double> first = weighted.model.scores(x.view());
  const std::vector<double> second = copied.model.scores(x.view());
  for (std::size_t n = 0; n < first.size(); ++n)
    EXPECT_NEAR(first[n], second[n], tolerance * (1 + std::abs(second[n]))) << what;
  EXPECT_NEAR(weighted.model.training.risk, copied.model.training.risk,
              tolerance * copied.model.training.risk)
      << what;
}

AllOptions options_with(const std::string& features, Index terms) {
  AllOptions options = plain_options();
  options.features = features;
  options.terms = terms;
  options.ridge = 0.3;
  return options;
}

TEST(Weights, WholeOnesAreCopiesAndZeroIsNoRow) {
  for (const bool classes : {false, true}) {
    for (const bool with_zeros : {false, true}) {
      const Sample sample(classes, with_zeros);
      for (const std::string features :
           {"linear + hinge(knots=7) + step(knots=5)", "linear + gaussian(order=2, sigma=2)",
            "polynomial(degree=2) + spline(knots=4)", "hinge(knots=3, interactions=2) + periodic(count=2)",
            "additive + fourier(count=30, sigma=2)"}) {
        for (const std::string select : {"gradient", "normalised", "gain"}) {
          for (const std::string engine : {"lazy", "gram"}) {
            if (engine == "gram" && classes) continue;
            AllOptions options = options_with(features, 7);
            set(options, "select", select);
            set(options, "engine", engine);
            expect_same(fit(sample.weighted(), options), fit(sample.copied(), options), 1e-7,
                        features + ", " + select + ", " + engine);
          }
        }
      }
    }
  }
}

TEST(Weights, CountInTuningScalesAndWidth) {
  for (const bool classes : {false, true}) {
    const Sample sample(classes, true);
    AllOptions options = options_with("linear + gaussian(order=1, sigma=auto)", 6);
    for (const std::string scale : {"standard", "robust", "quantile"}) {
      set(options, "scale", scale);
      const FitResult weighted = fit(sample.weighted(), options);
      const FitResult copied = fit(sample.copied(), options);
      EXPECT_NEAR(weighted.report.auto_sigma, copied.report.auto_sigma, 1e-9) << scale;
      expect_same(weighted, copied, 1e-7, scale);
    }
    options.scale = ScaleKind::kStandard;
    options.tune = Tuning::by_steps(6);
    expect_same(fit(sample.weighted(), options), fit(sample.copied(), options), 1e-4, "tuned");
  }
}

TEST(Weights, CountForEveryLossAndSearch) {
  const Sample sample(false, true);
  AllOptions options = options_with("linear + hinge(knots=7)", 6);
  for (const std::string loss : {"squared", "huber(0.5)"}) {
    options.loss = loss;
    expect_same(fit(sample.weighted(), options), fit(sample.copied(), options), 1e-6, loss);
  }
  options.loss = "";
  options.refine = true;
  expect_same(fit(sample.weighted(), options), fit(sample.copied(), options), 1e-7, "refine");
  options.refine = false;
  options.search = Search::kHardThresholding;
  expect_same(fit(sample.weighted(), options), fit(sample.copied(), options), 1e-7, "htp");
  options.search = Search::kGreedy;
  options.nu = KernelWeights::kAlignment;
  options.select = Selection::kGradient;
  options.features = "linear + hinge(knots=7)";
  EXPECT_EQ(fit(sample.weighted(), options).model.terms.size(), 6U);
  Sample counts(false, true);
  for (double& value : counts.y) value = std::floor(std::exp(0.5 * value));
  for (double& value : counts.copied_y) value = std::floor(std::exp(0.5 * value));
  AllOptions poisson = options_with("linear + hinge(knots=7)", 6);
  poisson.loss = "poisson";
  expect_same(fit(counts.weighted(), poisson), fit(counts.copied(), poisson), 1e-6, "poisson");
}

TEST(Weights, TheOtherMethodsHaveThemToo) {
  for (const bool classes : {false, true}) {
    const Sample sample(classes, true);
    AllOptions options = plain_options();
    options.terms = 12;
    options.sigma = "2";
    options.candidates = 40;
    for (const std::string method : {"rks", "lkrf", "eerf"}) {
      set(options, "method", method);
      expect_same(fit(sample.weighted(), options), fit(sample.copied(), options), 1e-6, method);
    }
    options.method = paper::Method::kGk;  // of the copies of a row each has a term
    const Matrix x = reference::random_matrix(50, 4, 3);
    const std::vector<double> first = fit(sample.weighted(), options).model.scores(x.view());
    const std::vector<double> second = fit(sample.copied(), options).model.scores(x.view());
    for (std::size_t n = 0; n < first.size(); ++n) EXPECT_NEAR(first[n], second[n], 1e-5);
  }
}

TEST(Weights, MetricsCountThemAsCopies) {
  const Sample sample(true, true);
  const std::vector<double> scores = reference::random_vector(kRows, 5);
  std::vector<double> copied;
  for (std::size_t n = 0; n < scores.size(); ++n) {
    for (int copy = 0; copy < static_cast<int>(sample.weights[n]); ++copy) copied.push_back(scores[n]);
  }
  const ClassificationMetrics a = classification_metrics(scores, sample.y, sample.weights);
  const ClassificationMetrics b = classification_metrics(copied, sample.copied_y);
  EXPECT_NEAR(a.error_percent, b.error_percent, 1e-10);
  EXPECT_NEAR(a.log_loss, b.log_loss, 1e-12);
  EXPECT_NEAR(a.auc.value(), b.auc.value(), 1e-12);
  EXPECT_NEAR(a.average_precision.value(), b.average_precision.value(), 1e-12);
  EXPECT_NEAR(a.precision.value(), b.precision.value(), 1e-12);
  EXPECT_NEAR(a.recall.value(), b.recall.value(), 1e-12);
  const RegressionMetrics c = regression_metrics(scores, sample.y, sample.weights);
  const RegressionMetrics d = regression_metrics(copied, sample.copied_y);
  EXPECT_NEAR(c.rmse, d.rmse, 1e-12);
  EXPECT_NEAR(c.mae, d.mae, 1e-12);
  EXPECT_NEAR(c.r2.value(), d.r2.value(), 1e-12);
  EXPECT_THROW(static_cast<void>(regression_metrics(scores, sample.y, std::vector<double>(kRows, 0.0))),
               Error);
  std::vector<double> negative = sample.weights;
  negative[3] = -1;
  EXPECT_THROW(static_cast<void>(regression_metrics(scores, sample.y, negative)), Error);
}

// Folds cannot keep copies together, so that weights of one number are compared with none: they change the
// objective as a smaller ridge does.
TEST(Weights, CrossValidationFollowsThem) {
  for (const bool classes : {false, true}) {
    const Sample sample(classes, false);
    const std::vector<double> twos(sample.y.size(), 2.0);
    AllOptions options = options_with("linear + hinge(knots=7)", 5);
    for (const std::string engine : {"lazy", "gram"}) {
      if (engine == "gram" && classes) continue;
      set(options, "engine", engine);
      const ValidatedFit plain =
          cross_validate({.x = sample.x.view(), .y = sample.y}, options, {4, {0.1, 1, 10}});
      const ValidatedFit weighted =
          cross_validate({.x = sample.x.view(), .y = sample.y, .weights = twos}, options, {4, {0.2, 2, 20}});
      for (std::size_t i = 0; i < plain.cross_validation.mean.values.size(); ++i) {
        EXPECT_NEAR(plain.cross_validation.mean.values[i], weighted.cross_validation.mean.values[i],
                    1e-6 * plain.cross_validation.mean.values[i]);
      }
      EXPECT_EQ(2 * plain.cross_validation.chosen.ridge, weighted.cross_validation.chosen.ridge);
    }
    // Rows without weight are in no fold.
    std::vector<double> zeros(sample.y.size(), 1.0);
    Matrix kept_x(kRows - 40, 4);
    std::copy_n(sample.x.row(40), kept_x.values.size(), kept_x.row(0));
    std::fill_n(zeros.begin(), 40, 0.0);
    options.engine = std::nullopt;
    const ValidatedFit without =
        cross_validate({.x = kept_x.view(), .y = std::span(sample.y).subspan(40)}, options, {4, {0.1, 1}});
    const ValidatedFit zero =
        cross_validate({.x = sample.x.view(), .y = sample.y, .weights = zeros}, options, {4, {0.1, 1}});
    for (std::size_t i = 0; i < without.cross_validation.mean.values.size(); ++i) {
      EXPECT_NEAR(without.cross_validation.mean.values[i], zero.cross_validation.mean.values[i],
                  1e-7 * without.cross_validation.mean.values[i]);
    }
  }
}

// Weights of a thousandth, with a ridge of a thousandth, are the same problem.
TEST(Weights, TheirSizeMattersToTheRidgeOnly) {
  constexpr double kPart = 1e-3;
  Sample sample(false, true);
  for (Index i = 0; i < kRows; ++i) sample.x(i, 3) = std::pow(sample.x(i, 3), 5);  // heavy tails
  std::vector<double> small = sample.weights;
  for (double& weight : small) weight *= kPart;
  for (const std::string scale : {"auto", "robust", "quantile"}) {
    AllOptions options = options_with("linear + hinge(knots=6) + gaussian(order=1, sigma=auto)", 6);
    set(options, "scale", scale);
    const FitResult whole = fit(sample.weighted(), options);
    options.ridge = 0.3 * kPart;
    const FitResult part = fit({.x = sample.x.view(), .y = sample.y, .weights = small}, options);
    EXPECT_NEAR(part.report.auto_sigma, whole.report.auto_sigma, 1e-9) << scale;
    expect_same(part, whole, 1e-6, scale);
  }
  AllOptions automatic;
  automatic.terms = 4;
  automatic.features = "linear + landmark(count=20)";
  EXPECT_GT(
      fit({.x = sample.x.view(), .y = sample.y, .weights = small}, automatic).report.tuning.held_out_with, 0);
}

TEST(Weights, RowsWithoutAnyDecideNothing) {
  Sample sample(true, false);
  sample.weights[0] = 0;
  for (Index j = 0; j < 4; ++j) sample.x(0, j) = 1e9;  // an outlier that was switched off
  EXPECT_EQ(fit(sample.weighted(), options_with("linear", 4)).report.dropped_columns.size(), 0U);
  // All rows that count are of one class.
  for (std::size_t n = 0; n < sample.y.size(); ++n) sample.weights[n] = sample.y[n] > 0 ? 0 : 1;
  try {
    static_cast<void>(fit(sample.weighted(), options_with("linear", 2)));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData) << error.what();
  }
  Sample few(false, false);
  for (std::size_t n = 5; n < few.weights.size(); ++n) few.weights[n] = 0;
  EXPECT_THROW(static_cast<void>(cross_validate(few.weighted(), options_with("linear", 2), {10, {1, 2}})),
               Error);
}

TEST(Weights, WrongOnesAreRefused) {
  const Sample sample(false, false);
  TrainingData data = sample.weighted();
  const std::vector<double> few(3, 1.0);
  data.weights = few;
  EXPECT_THROW(static_cast<void>(fit(data, plain_options())), Error);
  std::vector<double> wrong = sample.weights;
  for (const double value : {-1.0, std::nan(""), HUGE_VAL}) {
    wrong[7] = value;
    data.weights = wrong;
    try {
      static_cast<void>(fit(data, plain_options()));
      FAIL() << value;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("row 7"), std::string::npos) << error.what();
    }
  }
  const std::vector<double> nothing(sample.y.size(), 0.0);
  data.weights = nothing;
  EXPECT_THROW(static_cast<void>(fit(data, plain_options())), Error);
}

}  // namespace
}  // namespace mfga
