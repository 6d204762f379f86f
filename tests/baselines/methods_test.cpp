// Every method through fit(): it learns, is saved and loaded, predicts, and refuses what it cannot do.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "mfga/error.hpp"
#include "mfga/fit.hpp"
#include "mfga/metrics.hpp"
#include "model/plain_fit.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

const std::vector<std::string> kMethods = {"mfga", "rks", "lkrf", "eerf", "gk", "glk"};

bool is_random(const std::string& method) { return method == "rks" || method == "lkrf" || method == "eerf"; }
bool is_kernel(const std::string& method) { return method == "gk" || method == "glk"; }

struct Sample {
  Matrix x = reference::random_matrix(400, 3, 51);
  std::vector<double> numbers;
  std::vector<double> classes;

  Sample() {
    const std::vector<double> noise = reference::random_vector(x.rows, 52);
    for (Index i = 0; i < x.rows; ++i) {
      numbers.push_back(20 + 2 * x(i, 0) + x(i, 0) * x(i, 1) - x(i, 2) +
                        0.2 * noise[static_cast<std::size_t>(i)]);
      classes.push_back(numbers.back() > 20 ? 1 : 0);
    }
  }
  [[nodiscard]] TrainingData regression() const { return {x.view(), numbers}; }
  [[nodiscard]] TrainingData classification() const { return {x.view(), classes}; }
};

AllOptions with_method(const std::string& method) {
  AllOptions options = plain_options();
  set(options, "method", method);
  options.terms = 30;
  options.ridge = 0.1;
  return options;
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
}

// What a saved model says is what the fitted one says, to the last bit.
void expect_round_trip(const Model& model, const Matrix& x) {
  const Model loaded = model_from_json(model_to_json(model), "test");
  EXPECT_EQ(loaded.scores(x.view()), model.scores(x.view()));
  EXPECT_EQ(loaded.predict(x.view()), model.predict(x.view()));
  EXPECT_EQ(model_to_json(loaded), model_to_json(model));
}

TEST(FitMethods, LearnARegression) {
  const Sample sample;
  for (const std::string& method : kMethods) {
    for (const std::string preset : {"none", "paper"}) {
      SCOPED_TRACE(testing::Message() << method << ", preset " << preset);
      AllOptions options = with_method(method);
      set(options, "preset", preset);
      const FitResult result = fit(sample.regression(), options);
      EXPECT_EQ(result.model.task, Task::kRegression);
      expect_round_trip(result.model, sample.x);
      const RegressionMetrics metrics =
          regression_metrics(result.model.predict(sample.x.view()), sample.numbers);
      EXPECT_GT(metrics.r2.value(), 0.8);
      // The risk is the mean loss of the training rows, in the units that were fitted.
      const double scale = result.model.outputs[0].scale;
      EXPECT_NEAR(result.model.training.risk, metrics.mse / (scale * scale), 1e-7 * metrics.mse);
      EXPECT_EQ(preset == "paper", result.model.outputs[0].intercept == 0);
    }
  }
}

TEST(FitMethods, LearnAClassification) {
  const Sample sample;
  for (const std::string& method : kMethods) {
    SCOPED_TRACE(method);
    const FitResult result = fit(sample.classification(), with_method(method));
    EXPECT_EQ(result.model.task, Task::kClassification);
    EXPECT_EQ(result.model.labels, (std::vector<std::string>{"0", "1"}));
    EXPECT_NE(result.model.outputs[0].intercept, 0);
    expect_round_trip(result.model, sample.x);
    const ClassificationMetrics metrics =
        classification_metrics(result.model.scores(sample.x.view()), sample.classes);
    EXPECT_LT(metrics.error_percent, 10);
    EXPECT_NEAR(result.model.training.risk, metrics.log_loss, 1e-9);
    EXPECT_EQ(result.report.warnings, std::vector<std::string>());
  }
}

TEST(FitMethods, ReportWhatTheyDid) {
  const Sample sample;
  for (const std::string& method : kMethods) {
    SCOPED_TRACE(method);
    const FitReport report = fit(sample.regression(), with_method(method)).report;
    EXPECT_EQ(report.rows, 400);
    EXPECT_GT(report.auto_sigma, 0);
    EXPECT_GT(report.fit_seconds, 0);
    EXPECT_EQ(report.score_seconds > 0, method == "lkrf" || method == "eerf");
    EXPECT_EQ(report.path.size() == 1, method != "mfga");
    if (method == "rks") {
      EXPECT_EQ(report.candidates, 30);
    }
    if (method == "lkrf" || method == "eerf") {
      EXPECT_EQ(report.candidates, 300);
    }
    if (is_kernel(method)) {
      EXPECT_EQ(report.candidates, 400);
      EXPECT_EQ(report.engine, "exact");
    }
  }
}

TEST(FitMethods, TakeTheWidthAndTheCandidatesGiven) {
  const Sample sample;
  for (const std::string& method : kMethods) {
    if (method == "mfga") continue;
    SCOPED_TRACE(method);
    AllOptions options = with_method(method);
    options.sigma = "2.5";
    if (method == "lkrf" || method == "eerf") options.candidates = 77;
    const FitResult result = fit(sample.regression(), options);
    EXPECT_EQ(result.report.sigmas, std::vector<double>{2.5});
    EXPECT_EQ(result.report.auto_sigma, 0);
    if (options.candidates > 0) {
      EXPECT_EQ(result.report.candidates, 77);
    }
  }
}

TEST(FitMethods, RandomOnesDependOnTheSeedAlone) {
  const Sample sample;
  for (const std::string& method : kMethods) {
    SCOPED_TRACE(method);
    const auto fitted = [&](std::uint64_t seed, int threads) {
      AllOptions options = with_method(method);
      if (method != "mfga") options.sigma = "2";
      options.seed = seed;
      options.threads = threads;
      return model_to_json(fit(sample.classification(), options).model);
    };
    const std::string first = fitted(1, 1);
    EXPECT_EQ(fitted(1, 2), first);
    EXPECT_EQ(fitted(1, 5), first);
    if (is_random(method)) {
      EXPECT_NE(fitted(2, 1), first);
    }
  }
}

TEST(FitMethods, KernelsMayUsePartOfTheRows) {
  const Sample sample;
  for (const std::string method : {"gk", "glk"}) {
    for (const TrainingData& data : {sample.regression(), sample.classification()}) {
      AllOptions options = with_method(method);
      options.subsample = 0.25;
      const FitResult result = fit(data, options);
      EXPECT_EQ(result.model.terms.size(), method == "gk" ? 100U : 103U);
      EXPECT_EQ(result.report.candidates, 100);
      expect_round_trip(result.model, sample.x);
      // Landmarks are different rows, and others with another seed.
      std::set<std::vector<double>> centres;
      for (std::size_t i = 0; i < 100; ++i) centres.insert(result.model.terms[i].atom.parameters);
      EXPECT_EQ(centres.size(), 100U);
      options.seed = 1;
      EXPECT_NE(fit(data, options).model.terms[0].atom.parameters, result.model.terms[0].atom.parameters);
    }
  }
}

TEST(FitMethods, RandomOnesMeetANormBound) {
  const Sample sample;
  for (const std::string method : {"rks", "lkrf", "eerf"}) {
    SCOPED_TRACE(method);
    AllOptions options = with_method(method);
    options.norm_bound = 0.5;
    for (const TrainingData& data : {sample.regression(), sample.classification()}) {
      double square = 0;
      for (const Term& term : fit(data, options).model.terms)
        square += term.coefficients[0] * term.coefficients[0];
      EXPECT_NEAR(std::sqrt(square), 0.5, 1e-6);
    }
  }
}

TEST(FitMethods, RefuseFeaturesAndWidthsOfOthers) {
  const Sample sample;
  for (const std::string& method : kMethods) {
    if (method == "mfga") continue;
    AllOptions options = with_method(method);
    options.features = "linear";
    expect_contains(error_of(sample.regression(), options), "`features` is for the method mfga; " + method);
  }
  AllOptions options = with_method("mfga");
  options.sigma = "2";
  expect_contains(error_of(sample.regression(), options), "`sigma` is for the other methods");
  try {
    static_cast<void>(with_method("svm"));
    ADD_FAILURE();
  } catch (const Error& error) {
    expect_contains(error.what(), "mfga|rks|lkrf|eerf|gk|glk");
  }
  for (const std::string sigma : {"0", "-1", "wide"}) {
    options = with_method("gk");
    options.sigma = sigma;
    expect_contains(error_of(sample.regression(), options), "sigma");
  }
}

TEST(FitMethods, RefuseFewerCandidatesThanTerms) {
  const Sample sample;
  for (const std::string method : {"lkrf", "eerf"}) {
    AllOptions options = with_method(method);
    options.candidates = 29;
    expect_contains(error_of(sample.regression(), options), "`candidates` is 29; expected at least");
    options.candidates = 30;
    EXPECT_EQ(fit(sample.regression(), options).report.candidates, 30);
  }
}

TEST(FitMethods, KernelsRefuseWhatTheyCannotDo) {
  const Sample sample;
  for (const std::string method : {"gk", "glk"}) {
    AllOptions options = with_method(method);
    options.ridge = 0;
    expect_contains(error_of(sample.regression(), options), "`ridge` must be positive");
    options = with_method(method);
    options.norm_bound = 1;
    expect_contains(error_of(sample.regression(), options), "`norm_bound` is not possible");
    options = with_method(method);
    options.subsample = 0.005;
    expect_contains(error_of(sample.regression(), options), "`subsample=0.005` leaves 2 rows; at least 3");
    options = with_method(method);
    options.memory_limit = 1;
    // 8 * 400 * (400 + 3 + 8) bytes.
    expect_contains(error_of(sample.regression(), options),
                    "the kernel matrix of 400 rows needs 1.3 MiB; the limit is 1.0 MiB");
    options.subsample = 0.5;
    EXPECT_EQ(fit(sample.regression(), options).report.candidates, 200);
  }
}

}  // namespace
}  // namespace mfga
