// The Huber loss for regression with outliers: with r = f - y,
//
//   L = r^2  if |r| <= delta,  else  delta (2 |r| - delta).
#include "losses/huber.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mfga/error.hpp"

namespace mfga {
namespace {

class HuberLoss final : public SeparableLoss {
 public:
  explicit HuberLoss(double delta) : delta_(delta) {}

  [[nodiscard]] std::string name() const override { return fmt::format("huber({})", delta_); }
  [[nodiscard]] Task task() const override { return Task::kRegression; }

  [[nodiscard]] double sum_of_one(const double* scores, const double* targets, const double* weights,
                                  Index count) const override {
    double total = 0;
    for (Index n = 0; n < count; ++n) total += weight(weights, n) * value(scores[n] - targets[n]);
    return total;
  }
  double gradient_of_one(const double* scores, const double* targets, const double* weights, Index count,
                         double* first) const override {
    for (Index n = 0; n < count; ++n)
      first[n] = weight(weights, n) * 2 * std::clamp(scores[n] - targets[n], -delta_, delta_);
    return sum_of_one(scores, targets, weights, count);
  }
  // Beyond delta the loss has no curvature. A little of that of the parabola which touches it there,
  // 2 delta / |r|, keeps Newton steps finite where most rows are far out.
  double derivatives_of_one(const double* scores, const double* targets, const double* weights, Index count,
                            double* first, double* second) const override {
    for (Index n = 0; n < count; ++n) {
      const double size = std::abs(scores[n] - targets[n]);
      second[n] = weight(weights, n) * 2 * (size <= delta_ ? 1 : kLittle * delta_ / size);
    }
    return gradient_of_one(scores, targets, weights, count, first);
  }

  // A weighted mean, again and again, where far rows count less (iteratively reweighted least squares).
  [[nodiscard]] double constant_of_one(const TargetColumn& targets) const override {
    constexpr int kMostSteps = 200;
    constexpr double kSmallestStep = 1e-12;
    double constant = targets.mean();
    for (int step = 0; step < kMostSteps; ++step) {
      double slope = 0;
      double curvature = 0;
      for (Index n = 0; n < targets.size(); ++n) {
        const double w = weight(targets.weights_from(0), n);
        const double r = constant - targets.values[static_cast<std::size_t>(n)];
        slope += w * std::clamp(r, -delta_, delta_);
        curvature += w * (std::abs(r) <= delta_ ? 1 : delta_ / std::abs(r));
      }
      if (!(curvature > 0)) break;
      constant -= slope / curvature;
      if (std::abs(slope / curvature) <= kSmallestStep * (std::abs(constant) + delta_)) break;
    }
    return constant;
  }
  [[nodiscard]] bool is_of_differences() const override { return true; }
  [[nodiscard]] double unit(double scale) const override { return scale * scale; }
  [[nodiscard]] std::string_view measure() const override { return "huber_loss"; }
  [[nodiscard]] double of_likelihood(double mean_loss) const override { return mean_loss; }

 private:
  static double weight(const double* weights, Index n) { return weights == nullptr ? 1 : weights[n]; }
  [[nodiscard]] double value(double r) const {
    const double size = std::abs(r);
    return size <= delta_ ? r * r : delta_ * (2 * size - delta_);
  }

  static constexpr double kLittle = 1e-3;

  double delta_;
};

}  // namespace

std::shared_ptr<const Loss> huber_loss(double delta) {
  if (!(delta > 0) || !std::isfinite(delta)) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("the delta of the Huber loss is {}; expected a number above 0", delta));
  }
  return std::make_shared<HuberLoss>(delta);
}

}  // namespace mfga
