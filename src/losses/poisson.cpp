// Half the Poisson deviance for counts, with a logarithmic link: with m = exp(f),
//
//   L = m - y + y log(y / m),  and  L = m  if y = 0.
#include "losses/poisson.hpp"

#include <cmath>

namespace mfga {
namespace {

class PoissonLoss final : public SeparableLoss {
 public:
  [[nodiscard]] std::string name() const override { return "poisson"; }
  [[nodiscard]] Task task() const override { return Task::kRegression; }

  [[nodiscard]] double sum_of_one(const double* scores, const double* targets, const double* weights,
                                  Index count) const override {
    double total = 0;
    for (Index n = 0; n < count; ++n)
      total += weight(weights, n) * value(scores[n], std::exp(scores[n]), targets[n]);
    return total;
  }
  double gradient_of_one(const double* scores, const double* targets, const double* weights, Index count,
                         double* first) const override {
    double total = 0;
    for (Index n = 0; n < count; ++n) {
      const double mean = std::exp(scores[n]);
      total += weight(weights, n) * value(scores[n], mean, targets[n]);
      first[n] = weight(weights, n) * (mean - targets[n]);
    }
    return total;
  }
  double derivatives_of_one(const double* scores, const double* targets, const double* weights, Index count,
                            double* first, double* second) const override {
    double total = 0;
    for (Index n = 0; n < count; ++n) {
      const double mean = std::exp(scores[n]);
      total += weight(weights, n) * value(scores[n], mean, targets[n]);
      first[n] = weight(weights, n) * (mean - targets[n]);
      second[n] = weight(weights, n) * mean;
    }
    return total;
  }

  // Where nothing was counted at all, any very negative number is best.
  [[nodiscard]] double constant_of_one(const TargetColumn& targets) const override {
    constexpr double kSmallest = 1e-30;
    return std::log(std::max(targets.mean(), kSmallest));
  }
  [[nodiscard]] double prediction(double score) const override { return std::exp(score); }
  [[nodiscard]] std::vector<Expression> link(std::span<const Expression> scores,
                                             ExpressionGraph& graph) const override {
    return exponentials_of(scores, graph);
  }
  [[nodiscard]] std::string_view prediction_text() const override { return "exp(score)"; }
  [[nodiscard]] std::string score_text(const std::string& target) const override {
    return "log of the mean of " + target;
  }
  [[nodiscard]] std::string_view required_of(double target) const override {
    return target < 0 ? "a number that is not negative" : "";
  }
  [[nodiscard]] std::string_view measure() const override { return "half_poisson_deviance"; }
  [[nodiscard]] double of_likelihood(double /*mean_loss*/) const override { return 0.5; }

 private:
  static double weight(const double* weights, Index n) { return weights == nullptr ? 1 : weights[n]; }
  static double value(double score, double mean, double target) {
    return target > 0 ? mean - target + target * (std::log(target) - score) : mean;
  }
};

}  // namespace

const Loss& poisson_loss() {
  static const PoissonLoss loss;
  return loss;
}

}  // namespace mfga
