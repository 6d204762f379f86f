// The squared hinge for two classes, y = -1 or +1: L = max(0, 1 - y f)^2. Rows that are well on their side
// cost nothing. Its best score is 2 p - 1 where p is the probability of the second class, so that p can be
// read off.
#include "losses/squared_hinge.hpp"

#include <algorithm>
#include <array>

namespace mfga {
namespace {

class SquaredHingeLoss final : public SeparableLoss {
 public:
  [[nodiscard]] std::string name() const override { return "squared_hinge"; }
  [[nodiscard]] Task task() const override { return Task::kClassification; }

  [[nodiscard]] double sum_of_one(const double* scores, const double* targets, const double* weights,
                                  Index count) const override {
    double total = 0;
    for (Index n = 0; n < count; ++n) {
      const double lack = std::max(0.0, 1 - targets[n] * scores[n]);
      total += (weights == nullptr ? 1 : weights[n]) * lack * lack;
    }
    return total;
  }
  double gradient_of_one(const double* scores, const double* targets, const double* weights, Index count,
                         double* first) const override {
    for (Index n = 0; n < count; ++n) {
      const double lack = std::max(0.0, 1 - targets[n] * scores[n]);
      first[n] = (weights == nullptr ? 1 : weights[n]) * -2 * targets[n] * lack;
    }
    return sum_of_one(scores, targets, weights, count);
  }
  // A little curvature where there is none keeps Newton steps finite.
  double derivatives_of_one(const double* scores, const double* targets, const double* weights, Index count,
                            double* first, double* second) const override {
    constexpr double kSpareCurvature = 2e-3;
    for (Index n = 0; n < count; ++n)
      second[n] = (weights == nullptr ? 1 : weights[n]) * (targets[n] * scores[n] < 1 ? 2 : kSpareCurvature);
    return gradient_of_one(scores, targets, weights, count, first);
  }

  [[nodiscard]] double constant_of_one(const TargetColumn& targets) const override { return targets.mean(); }
  [[nodiscard]] double prediction(double score) const override {
    return std::clamp(0.5 * (1 + score), kLeast, 1 - kLeast);
  }
  [[nodiscard]] std::vector<Expression> link(std::span<const Expression> scores,
                                             ExpressionGraph& graph) const override {
    const Expression half = graph.sum(scores, std::array{0.5}, 0.5);
    return {graph.max(graph.constant(kLeast), graph.min(graph.constant(1 - kLeast), half))};
  }
  [[nodiscard]] std::string_view prediction_text() const override {
    return "max(0.000001, min(0.999999, (1 + score) / 2))";
  }
  [[nodiscard]] std::string score_text(const std::string& target) const override {
    return "score of " + target;
  }
  [[nodiscard]] std::string_view measure() const override { return "squared_hinge_loss"; }
  [[nodiscard]] double of_likelihood(double /*mean_loss*/) const override { return 1; }

 private:
  static constexpr double kLeast = 1e-6;  // no probability is 0, for there would be no log-loss
};

}  // namespace

const Loss& squared_hinge_loss() {
  static const SquaredHingeLoss loss;
  return loss;
}

}  // namespace mfga
