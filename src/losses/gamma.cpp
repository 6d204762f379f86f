// Half the gamma deviance for amounts above 0 whose spread grows with their mean, with a logarithmic link:
// with m = exp(f),
//
//   L = y / m - 1 - log(y / m).
#include "losses/gamma.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mfga {
namespace {

class GammaLoss final : public SeparableLoss {
 public:
  [[nodiscard]] std::string name() const override { return "gamma"; }
  [[nodiscard]] Task task() const override { return Task::kRegression; }
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
    return target > 0 ? "" : "a number above 0";
  }
  [[nodiscard]] std::string_view measure() const override { return "half_gamma_deviance"; }
  [[nodiscard]] double of_likelihood(double /*mean_loss*/) const override { return 0.5; }

 protected:
  [[nodiscard]] double sum_of_one(const double* scores, const double* targets, const double* weights,
                                  Index count) const override {
    double total = 0;
    for (Index n = 0; n < count; ++n)
      total += weight(weights, n) * value(scores[n], ratio(scores[n], targets[n]), targets[n]);
    return total;
  }
  double gradient_of_one(const double* scores, const double* targets, const double* weights, Index count,
                         double* first) const override {
    double total = 0;
    for (Index n = 0; n < count; ++n) {
      const double r = ratio(scores[n], targets[n]);
      total += weight(weights, n) * value(scores[n], r, targets[n]);
      first[n] = weight(weights, n) * (1 - r);
    }
    return total;
  }
  double derivatives_of_one(const double* scores, const double* targets, const double* weights, Index count,
                            double* first, double* second) const override {
    for (Index n = 0; n < count; ++n) second[n] = weight(weights, n) * ratio(scores[n], targets[n]);
    return gradient_of_one(scores, targets, weights, count, first);
  }
  [[nodiscard]] double constant_of_one(const TargetColumn& targets) const override {
    return std::log(std::max(targets.mean(), std::numeric_limits<double>::min()));
  }

 private:
  static double weight(const double* weights, Index n) { return weights == nullptr ? 1 : weights[n]; }
  static double ratio(double score, double target) { return target * std::exp(-score); }
  static double value(double score, double ratio, double target) {
    return ratio - 1 + score - std::log(target);
  }
};

}  // namespace

const Loss& gamma_loss() {
  static const GammaLoss loss;
  return loss;
}

}  // namespace mfga
