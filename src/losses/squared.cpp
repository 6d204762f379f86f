// The squared loss L(f, y) = (f - y)^2 for regression.
#include "losses/squared.hpp"

namespace mfga {
namespace {

class SquaredLoss final : public SeparableLoss {
 public:
  [[nodiscard]] std::string name() const override { return "squared"; }
  [[nodiscard]] Task task() const override { return Task::kRegression; }

  [[nodiscard]] double sum_of_one(const double* scores, const double* targets, const double* weights,
                                  Index count) const override {
    double total = 0;
    if (weights == nullptr) {
      for (Index n = 0; n < count; ++n) total += (scores[n] - targets[n]) * (scores[n] - targets[n]);
    } else {
      for (Index n = 0; n < count; ++n)
        total += weights[n] * (scores[n] - targets[n]) * (scores[n] - targets[n]);
    }
    return total;
  }
  double gradient_of_one(const double* scores, const double* targets, const double* weights, Index count,
                         double* first) const override {
    for (Index n = 0; n < count; ++n) first[n] = 2 * (scores[n] - targets[n]);
    if (weights != nullptr) multiply_by(weights, count, first);
    return sum_of_one(scores, targets, weights, count);
  }
  double derivatives_of_one(const double* scores, const double* targets, const double* weights, Index count,
                            double* first, double* second) const override {
    for (Index n = 0; n < count; ++n) second[n] = kCurvature;
    if (weights != nullptr) multiply_by(weights, count, second);
    return gradient_of_one(scores, targets, weights, count, first);
  }
  [[nodiscard]] std::optional<double> constant_curvature() const override { return kCurvature; }
  [[nodiscard]] std::optional<DeviceLoss> on_device() const override { return DeviceLoss::kSquared; }

  [[nodiscard]] double constant_of_one(const TargetColumn& targets) const override { return targets.mean(); }
  [[nodiscard]] bool is_of_differences() const override { return true; }
  [[nodiscard]] double unit(double scale) const override { return scale * scale; }
  [[nodiscard]] std::string_view measure() const override { return "mse"; }
  // Half the squared error in units of its mean.
  [[nodiscard]] double of_likelihood(double mean_loss) const override { return mean_loss; }

 private:
  static constexpr double kCurvature = 2;
};

}  // namespace

const Loss& squared_loss() {
  static const SquaredLoss loss;
  return loss;
}

}  // namespace mfga
