// What becomes of a fit whose time is over: there is a model, and what it went without is named.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mfga/mfga.hpp"
#include "model/noisy_sample.hpp"

namespace mfga {
namespace {

constexpr double kNoTime = 1e-9;
constexpr double kAges = 1e8;

struct Sample : NoisySample {
  explicit Sample(bool classes = false) : NoisySample(400, classes) {}
};

bool names(const FitReport& report, const std::string& what) {
  return std::ranges::any_of(report.cut_short,
                             [&](const std::string& text) { return text.find(what) != std::string::npos; });
}

TEST(TimeLimit, ThereIsAModelInAnyCaseAndWhatIsMissingIsNamed) {
  for (const bool classes : {false, true}) {
    const Sample sample(classes);
    TrainOptions options;
    options.fit.time_limit = kNoTime;
    const TrainResult result = train(sample.data(), options);
    const FitReport& report = result.fit.report;
    EXPECT_EQ(result.fit.model.terms.size(), 1U);
    EXPECT_FALSE(result.cross_validation);
    EXPECT_EQ(result.fit.model.training.ridge, 1);
    EXPECT_FALSE(report.tuning.is_used);
    EXPECT_NE(report.tuning.reason.find("time limit"), std::string::npos) << report.tuning.reason;
    EXPECT_LT(report.stability, 0);
    for (const std::string what : {"ridge", "tuning", "1 of 40 terms", "stability", "decide their own fit"})
      EXPECT_TRUE(names(report, what)) << what;
  }
}

TEST(TimeLimit, OtherSearchesEndToo) {
  const Sample sample;
  FitOptions options;
  options.features = "linear + gaussian(order=2)";
  options.terms = 8;
  options.time_limit = kNoTime;
  options.tune = "5";
  EXPECT_TRUE(names(fit(sample.data(), options).report, "tuning"));
  options.tune = "no";
  options.metric = "diagonal";
  EXPECT_TRUE(names(fit(sample.data(), options).report, "metric"));
  options.metric = "none";
  options.nu = "cv";
  options.select = "gradient";
  EXPECT_TRUE(names(fit(sample.data(), options).report, "weights"));
  options.nu = "uniform";
  options.select = "auto";
  options.refine = "yes";
  EXPECT_TRUE(names(fit(sample.data(), options).report, "--refine"));
  options.refine = "no";
  options.search = "htp";
  const FitResult cut = fit(sample.data(), options);
  EXPECT_GT(cut.model.terms.size(), 0U);
  EXPECT_TRUE(names(cut.report, "the terms were still changing"));
  options.search = "greedy";
  // The sums of the gram engine are not begun again.
  for (const std::string engine : {"auto", "lazy"}) {
    options.engine = engine;
    const CrossValidatedFit validated = cross_validate(sample.data(), options, {});
    EXPECT_TRUE(names(validated.fit.report, "ridge"));
    EXPECT_TRUE(validated.cross_validation.ridges.empty());
    EXPECT_EQ(validated.fit.report.engine, "lazy");
  }
}

TEST(TimeLimit, ALongOneChangesNothing) {
  const Sample sample;
  TrainOptions options;
  options.fit.terms = 8;
  const TrainResult without = train(sample.data(), options);
  options.fit.time_limit = kAges;
  const TrainResult with = train(sample.data(), options);
  EXPECT_TRUE(with.fit.report.cut_short.empty());
  EXPECT_EQ(model_to_json(with.fit.model), model_to_json(without.fit.model));
}

TEST(TimeLimit, EveryPhaseIsTimed) {
  const Sample sample;
  TrainOptions options;
  options.fit.terms = 8;
  const FitReport tuned = train(sample.data(), options).fit.report;
  for (const double seconds :
       {tuned.prepare_seconds, tuned.validate_seconds, tuned.tune_seconds, tuned.fit_seconds})
    EXPECT_GT(seconds, 0);
  options.automatic_tuning = false;
  options.fit.tune = "no";
  const FitReport plain = train(sample.data(), options).fit.report;
  EXPECT_EQ(plain.tune_seconds, 0);
  for (const double seconds : {plain.prepare_seconds, plain.validate_seconds, plain.fit_seconds,
                               plain.leverage_seconds, plain.stability_seconds})
    EXPECT_GT(seconds, 0);
}

}  // namespace
}  // namespace mfga
