// fit(): held-out rows decide about the scales of columns with heavy tails.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "mfga/fit.hpp"
#include "model/noisy_sample.hpp"

namespace mfga {
namespace {

// `wild`: numbers of which the logarithms matter; else a part is 0, the others are small or up to 10, and
// distances matter.
struct HeavySample {
  explicit HeavySample(bool wild, double zeros = 0.85) : x(1200, 4) {
    for (Index i = 0; i < x.rows; ++i) {
      for (Index j = 0; j < x.cols; ++j) {
        const double chance = random();
        const double part = random();
        x(i, j) = wild ? std::exp(10 * part) : chance < zeros ? 0.0 : 10 * part * part * part;
      }
      y.push_back(wild ? std::sin(std::log(x(i, 0) * x(i, 1))) + std::cos(std::log(x(i, 2) / x(i, 3)))
                       : std::abs(x(i, 0) - x(i, 1) - x(i, 2)));
    }
  }
  [[nodiscard]] TrainingData data() const { return {.x = x.view(), .y = y}; }

  Matrix x;
  std::vector<double> y;

 private:
  double random() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11U) * 0x1p-53;
  }
  std::uint64_t state_ = 1;
};

FitOptions options_of(std::optional<ScaleKind> scale = {}) {
  FitOptions options;
  options.terms = 12;
  options.scale = scale;
  return options;
}

bool has_quantiles(const Model& model) {
  return std::ranges::any_of(model.inputs, [](const ModelInput& input) { return !input.warp.knots.empty(); });
}

TEST(Scales, AreThoseThatHeldOutRowsClearlyPrefer) {
  const HeavySample spikes(false, 0.6);  // of more zeros a few rows say all, and chance decides
  const FitResult standard = fit(spikes.data(), options_of());
  ASSERT_TRUE(standard.report.scales);
  EXPECT_TRUE(standard.report.scales->is_standard);
  EXPECT_LT(standard.report.scales->held_out_standard, standard.report.scales->held_out_quantile);
  EXPECT_FALSE(has_quantiles(standard.model));
  EXPECT_EQ(standard.model.inputs.size(), 4U);
  // The model is the one of whoever gives these scales.
  const FitResult given = fit(spikes.data(), options_of(ScaleKind::kStandard));
  EXPECT_FALSE(given.report.scales);
  EXPECT_EQ(given.model.predict(spikes.x.view()), standard.model.predict(spikes.x.view()));

  const HeavySample wild(true);
  const FitResult quantile = fit(wild.data(), options_of());
  ASSERT_TRUE(quantile.report.scales);
  EXPECT_FALSE(quantile.report.scales->is_standard);
  EXPECT_TRUE(has_quantiles(quantile.model));
}

// What there is to learn is a function of single columns, and their thresholds are the same in all scales;
// landmarks do better in the others on average, but by less than chance.
TEST(Scales, StayWhereTheOthersAreNotBetterBeyondChance) {
  HeavySample sample(false);
  for (Index i = 0; i < sample.x.rows; ++i) {
    double& y = sample.y[static_cast<std::size_t>(i)];
    y = 0;
    for (Index j = 0; j < sample.x.cols; ++j) y += sample.x(i, j) > 0.5 ? 1 + static_cast<double>(j) : 0;
  }
  FitOptions options = options_of();
  const FitResult free = fit(sample.data(), options);
  ASSERT_TRUE(free.report.scales);
  EXPECT_FALSE(free.report.scales->is_standard);
  options.features = "linear + landmark(count=300)";
  const FitResult landmarks = fit(sample.data(), options);
  ASSERT_TRUE(landmarks.report.scales);
  EXPECT_LT(landmarks.report.scales->held_out_standard, landmarks.report.scales->held_out_quantile);
  EXPECT_FALSE(landmarks.report.scales->is_standard);
}

TEST(Scales, AreNotAskedAboutWithoutHeavyTailsOrTuning) {
  const NoisySample sample(300);
  FitOptions options = options_of();
  options.terms = 3;
  EXPECT_FALSE(fit(sample.data(), options).report.scales);
  const HeavySample spikes(false);
  options.tune = Tuning::none();
  EXPECT_FALSE(fit(spikes.data(), options).report.scales);
}

TEST(Scales, DoNotDependOnTheNumberOfThreads) {
  const HeavySample spikes(false);
  FitOptions options = options_of();
  options.threads = 1;
  const FitResult one = fit(spikes.data(), options);
  options.threads = 3;
  const FitResult three = fit(spikes.data(), options);
  EXPECT_EQ(one.report.scales->held_out_standard, three.report.scales->held_out_standard);
  EXPECT_EQ(one.model.predict(spikes.x.view()), three.model.predict(spikes.x.view()));
}

}  // namespace
}  // namespace mfga
