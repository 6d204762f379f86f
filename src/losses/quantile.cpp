// The pinball loss for quantiles: with r = y - f and q the part of the targets that are to be below,
//
//   L = q r  if r >= h,  (q - 1) r  if r <= -h,  and between  (q - 1/2) r + r^2 / 4h + h/4,
//
// which is the pinball loss but for its corner, averaged over a width of 2h: without a corner there is a
// gradient everywhere. Targets are in units of their spread.
#include "losses/quantile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mfga/error.hpp"

namespace mfga {
namespace {

// Of the target's spread: too little to move a quantile unless nearly all of the target is explained, and
// enough for rows to lie within.
constexpr double kHalfWidth = 0.02;

class QuantileLoss final : public SeparableLoss {
 public:
  explicit QuantileLoss(double part) : part_(part) {}

  [[nodiscard]] std::string name() const override { return fmt::format("quantile({})", part_); }
  [[nodiscard]] Task task() const override { return Task::kRegression; }

  [[nodiscard]] double sum_of_one(const double* scores, const double* targets, const double* weights,
                                  Index count) const override {
    double total = 0;
    for (Index n = 0; n < count; ++n) total += weight_of(weights, n) * value(targets[n] - scores[n]);
    return total;
  }
  double gradient_of_one(const double* scores, const double* targets, const double* weights, Index count,
                         double* first) const override {
    for (Index n = 0; n < count; ++n) first[n] = weight_of(weights, n) * slope(scores[n] - targets[n]);
    return sum_of_one(scores, targets, weights, count);
  }
  // Beyond the width the loss has no curvature; a little of that of a parabola keeps Newton steps finite.
  double derivatives_of_one(const double* scores, const double* targets, const double* weights, Index count,
                            double* first, double* second) const override {
    constexpr double kSpare = 1e-3;
    for (Index n = 0; n < count; ++n) {
      const double size = std::abs(scores[n] - targets[n]);
      second[n] =
          weight_of(weights, n) * (size <= kHalfWidth ? 1 : kSpare * kHalfWidth / size) / (2 * kHalfWidth);
    }
    return gradient_of_one(scores, targets, weights, count, first);
  }

  // Where the slope, which rises, is 0.
  [[nodiscard]] double constant_of_one(const TargetColumn& targets) const override {
    constexpr int kHalvings = 200;
    auto [low, high] = std::ranges::minmax(targets.values);
    low -= kHalfWidth;
    high += kHalfWidth;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = std::midpoint(low, high);
      if (middle <= low || middle >= high) break;
      double sum = 0;
      for (Index n = 0; n < targets.size(); ++n)
        sum += weight_of(targets.weights_from(0), n) *
               slope(middle - targets.values[static_cast<std::size_t>(n)]);
      (sum < 0 ? low : high) = middle;
    }
    return std::midpoint(low, high);
  }
  [[nodiscard]] bool is_of_differences() const override { return true; }
  [[nodiscard]] bool needs_units_of_spread() const override { return true; }
  [[nodiscard]] double unit(double scale) const override { return scale; }
  [[nodiscard]] std::string_view measure() const override { return "pinball_loss"; }
  [[nodiscard]] std::string score_text(const std::string& target) const override {
    return fmt::format("quantile of {}", target);
  }
  [[nodiscard]] double of_likelihood(double mean_loss) const override { return mean_loss; }

 private:
  static double weight_of(const double* weights, Index n) { return weights == nullptr ? 1 : weights[n]; }
  [[nodiscard]] double value(double r) const {
    if (std::abs(r) >= kHalfWidth) return r > 0 ? part_ * r : (part_ - 1) * r;
    return (part_ - 0.5) * r + r * r / (4 * kHalfWidth) + kHalfWidth / 4;
  }
  // By the score, at f - y.
  [[nodiscard]] double slope(double difference) const {
    return std::clamp(difference / kHalfWidth, -1.0, 1.0) / 2 + 0.5 - part_;
  }

  double part_;
};

}  // namespace

std::shared_ptr<const Loss> quantile_loss(double part) {
  if (!(part > 0 && part < 1)) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("the quantile of the loss is {}; expected a number between 0 and 1, such as "
                            "quantile(0.9)",
                            part));
  }
  return std::make_shared<QuantileLoss>(part);
}

}  // namespace mfga
