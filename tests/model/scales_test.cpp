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

// Mostly 0, and else anything up to 10 or, `wild`, up to e^10: of the first kind distances matter, of the
// second their logarithms.
struct SpikySample {
  explicit SpikySample(bool wild) : x(1200, 4) {
    for (Index i = 0; i < x.rows; ++i) {
      for (Index j = 0; j < x.cols; ++j) {
        const double u = random();
        const double place = 10 * random();
        const double value = u < 0.85 ? 0.0 : place;
        x(i, j) = wild ? std::exp(place) : value;
      }
      const auto seen = [&](Index j) { return wild ? std::log(x(i, j)) : x(i, j); };
      y.push_back(std::sin(seen(0) + seen(1)) + std::cos(seen(2) - seen(3)));
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
  const SpikySample spikes(false);
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

  const SpikySample wild(true);
  const FitResult quantile = fit(wild.data(), options_of());
  ASSERT_TRUE(quantile.report.scales);
  EXPECT_FALSE(quantile.report.scales->is_standard);
  EXPECT_TRUE(has_quantiles(quantile.model));
}

TEST(Scales, AreNotAskedAboutWithoutHeavyTailsOrTuning) {
  const NoisySample sample(300);
  FitOptions options = options_of();
  options.terms = 3;
  EXPECT_FALSE(fit(sample.data(), options).report.scales);
  const SpikySample spikes(false);
  options.tune = Tuning::none();
  EXPECT_FALSE(fit(spikes.data(), options).report.scales);
}

TEST(Scales, DoNotDependOnTheNumberOfThreads) {
  const SpikySample spikes(false);
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
