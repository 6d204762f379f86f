// What becomes of a fit whose time is over: there is a model, and what it went without is named.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mfga/mfga.hpp"
#include "model/noisy_sample.hpp"
#include "model/plain_fit.hpp"

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
    AllOptions options;
    options.time_limit = kNoTime;
    const FitResult result = fit(sample.data(), options);
    const FitReport& report = result.report;
    EXPECT_EQ(result.model.terms.size(), 1U);
    EXPECT_FALSE(result.cross_validation);
    EXPECT_EQ(result.model.training.ridge, 1);
    EXPECT_FALSE(report.tuning.is_used);
    EXPECT_NE(report.tuning.reason.find("time limit"), std::string::npos) << report.tuning.reason;
    EXPECT_LT(report.stability, 0);
    for (const std::string what : {"ridge", "tuning", "1 of 40 terms", "stability", "decide their own fit"})
      EXPECT_TRUE(names(report, what)) << what;
  }
}

TEST(TimeLimit, WhatARaceHasFoundIsFittedToAllRows) {
  const Sample sample;
  AllOptions options;
  options.terms = 8;
  Progress last;
  // A stop is the end of time as well. It comes after the first heat has a model.
  const FitResult result = fit(sample.data(), options, [&](const Progress& state) {
    const bool is_found = state.phase.find("first heat, dictionary 2") != std::string::npos;
    last = state;
    return is_found ? ProgressAction::kStop : ProgressAction::kContinue;
  });
  EXPECT_TRUE(result.report.stopped);
  EXPECT_GE(last.done, 0);
  EXPECT_GT(result.model.terms.size(), 1U);
  EXPECT_TRUE(names(result.report, "tuning"));
}

TEST(TimeLimit, OtherSearchesEndToo) {
  const Sample sample;
  AllOptions options = plain_options();
  options.features = "linear + gaussian(order=2)";
  options.terms = 8;
  options.time_limit = kNoTime;
  options.tune = Tuning::by_steps(5);
  EXPECT_TRUE(names(fit(sample.data(), options).report, "tuning"));
  options.tune = Tuning::none();
  options.metric = Metric::kDiagonal;
  EXPECT_TRUE(names(fit(sample.data(), options).report, "metric"));
  options.metric = Metric::kNone;
  options.nu = KernelWeights::kCrossValidated;
  options.select = Selection::kGradient;
  EXPECT_TRUE(names(fit(sample.data(), options).report, "weights"));
  options.nu = KernelWeights::kUniform;
  options.select = std::nullopt;
  options.refine = true;
  EXPECT_TRUE(names(fit(sample.data(), options).report, "`refine`"));
  options.refine = false;
  options.search = Search::kHardThresholding;
  const FitResult cut = fit(sample.data(), options);
  EXPECT_GT(cut.model.terms.size(), 0U);
  EXPECT_TRUE(names(cut.report, "the terms were still changing"));
  options.search = Search::kGreedy;
  // The sums of the gram engine are not begun again.
  for (const std::string engine : {"auto", "lazy"}) {
    set(options, "engine", engine);
    const ValidatedFit validated = cross_validate(sample.data(), options, {});
    EXPECT_TRUE(names(validated.fit.report, "ridge"));
    EXPECT_TRUE(validated.cross_validation.ridges.empty());
    EXPECT_EQ(validated.fit.report.engine, "lazy");
  }
}

TEST(TimeLimit, ALongOneChangesNothing) {
  const Sample sample;
  AllOptions options;
  options.terms = 8;
  const FitResult without = fit(sample.data(), options);
  options.time_limit = kAges;
  const FitResult with = fit(sample.data(), options);
  EXPECT_TRUE(with.report.cut_short.empty());
  EXPECT_EQ(model_to_json(with.model), model_to_json(without.model));
}

TEST(TimeLimit, EveryPhaseIsTimed) {
  const Sample sample;
  AllOptions options;
  options.terms = 8;
  const FitReport raced = fit(sample.data(), options).report;
  for (const double seconds : {raced.prepare_seconds, raced.tune_seconds, raced.fit_seconds})
    EXPECT_GT(seconds, 0);
  EXPECT_EQ(raced.validate_seconds, 0);  // the race chooses the ridge
  options.effort = Effort::kThorough;
  const FitReport tuned = fit(sample.data(), options).report;
  for (const double seconds :
       {tuned.prepare_seconds, tuned.validate_seconds, tuned.tune_seconds, tuned.fit_seconds})
    EXPECT_GT(seconds, 0);
  options.tune = Tuning::none();
  const FitReport plain = fit(sample.data(), options).report;
  EXPECT_EQ(plain.tune_seconds, 0);
  for (const double seconds : {plain.prepare_seconds, plain.validate_seconds, plain.fit_seconds,
                               plain.leverage_seconds, plain.stability_seconds})
    EXPECT_GT(seconds, 0);
}

}  // namespace
}  // namespace mfga
