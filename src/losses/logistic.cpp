// The logistic loss L(f, y) = log(1 + exp(-y f)) with y in {-1, +1}, for two classes. Written so that no
// exponential of a positive number is taken: it cannot overflow.
#include "losses/logistic.hpp"

#include <algorithm>
#include <cmath>

#include "core/row_kernels.hpp"
#include "core/vectorise.hpp"

namespace mfga {
namespace {

constexpr Index kChunk = 256;  // rows at a time, whose margins and exponentials are kept on the stack

// The margins m = y f of some rows, and exp(-|m|), from which all of the loss's quantities follow without
// overflow.
struct Margins {
  double value[kChunk];
  double small[kChunk];

  void compute(const double* scores, const double* targets, Index count) {
    for (Index n = 0; n < count; ++n) {
      value[n] = scores[n] * targets[n];
      small[n] = std::abs(value[n]);
    }
    exponentials(small, -1, count, small);
  }

  // The sum of weight * (max(-m, 0) + log(1 + exp(-|m|))).
  [[nodiscard]] double loss_sum(const double* weights, Index count) const {
    if (weights == nullptr) return loss_sum(count);
    double total = 0;
    for (Index n = 0; n < count; ++n) total += weights[n] * (std::max(-value[n], 0.0) + std::log1p(small[n]));
    return total;
  }

  // The same for weights of 1. Logarithms are slow: one is taken of a product of a few
  // factors 1 + s, which is kept as what it is above 1, so that also small losses keep all their digits.
  [[nodiscard]] double loss_sum(Index count) const {
    constexpr Index kFactors = 16;
    double total = 0;
    for (Index first = 0; first < count; first += kFactors) {
      double above_one = 0;
      for (Index n = first; n < std::min(count, first + kFactors); ++n) {
        total += std::max(-value[n], 0.0);
        above_one += small[n] * (1 + above_one);
      }
      total += std::log1p(above_one);
    }
    return total;
  }
};

// -y / (1 + exp(m)): minus the target times the probability of the other class.
MFGA_VECTORISED void first_derivatives(const Margins& margins, const double* targets, Index count,
                                       double* first) {
  for (Index n = 0; n < count; ++n) {
    const double small = margins.small[n];
    first[n] = -targets[n] * (margins.value[n] >= 0 ? small : 1.0) / (1.0 + small);
  }
}

MFGA_VECTORISED void second_derivatives(const Margins& margins, Index count, double* second) {
  for (Index n = 0; n < count; ++n) {
    const double small = margins.small[n];
    second[n] = small / ((1.0 + small) * (1.0 + small));
  }
}

class LogisticLoss final : public SeparableLoss {
 public:
  [[nodiscard]] std::string name() const override { return "logistic"; }
  [[nodiscard]] Task task() const override { return Task::kClassification; }
  [[nodiscard]] std::optional<DeviceLoss> on_device() const override { return DeviceLoss::kLogistic; }

  [[nodiscard]] double sum_of_one(const double* scores, const double* targets, const double* weights,
                                  Index count) const override {
    return in_chunks(scores, targets, weights, count, [](const Margins&, Index, Index) {});
  }
  double gradient_of_one(const double* scores, const double* targets, const double* weights, Index count,
                         double* first) const override {
    const double total =
        in_chunks(scores, targets, weights, count, [&](const Margins& margins, Index begin, Index size) {
          first_derivatives(margins, targets + begin, size, first + begin);
        });
    if (weights != nullptr) multiply_by(weights, count, first);
    return total;
  }
  double derivatives_of_one(const double* scores, const double* targets, const double* weights, Index count,
                            double* first, double* second) const override {
    const double total =
        in_chunks(scores, targets, weights, count, [&](const Margins& margins, Index begin, Index size) {
          first_derivatives(margins, targets + begin, size, first + begin);
          second_derivatives(margins, size, second + begin);
        });
    if (weights != nullptr) {
      multiply_by(weights, count, first);
      multiply_by(weights, count, second);
    }
    return total;
  }

  // Of one class alone any large number is best.
  [[nodiscard]] double constant_of_one(const TargetColumn& targets) const override {
    constexpr double kLarge = 100;
    const double mean = targets.mean();
    return std::clamp(std::log((1 + mean) / (1 - mean)), -kLarge, kLarge);
  }
  [[nodiscard]] double prediction(double score) const override { return logistic_probability(score); }
  // No exponential of a positive number here, either.
  [[nodiscard]] std::vector<Expression> link(std::span<const Expression> scores,
                                             ExpressionGraph& graph) const override {
    const Expression small = graph.exp(graph.times(graph.abs(scores[0]), -1));
    const Expression is_positive = graph.at_least(scores[0], graph.constant(0));
    return {graph.quotient(graph.select(is_positive, graph.constant(1), small), graph.plus(small, 1))};
  }
  [[nodiscard]] std::string_view measure() const override { return "log_loss"; }
  [[nodiscard]] double of_likelihood(double /*mean_loss*/) const override { return 0.5; }

 private:
  // Visits the margins, chunk by chunk, and returns the sum of the losses.
  template <typename Visit>
  static double in_chunks(const double* scores, const double* targets, const double* weights, Index count,
                          const Visit& visit) {
    Margins margins;
    double total = 0;
    for (Index begin = 0; begin < count; begin += kChunk) {
      const Index size = std::min(kChunk, count - begin);
      margins.compute(scores + begin, targets + begin, size);
      total += margins.loss_sum(weights == nullptr ? nullptr : weights + begin, size);
      visit(margins, begin, size);
    }
    return total;
  }
};

}  // namespace

double logistic_probability(double score) {
  const double small = std::exp(-std::abs(score));
  return (score >= 0 ? 1.0 : small) / (1.0 + small);
}

const Loss& logistic_loss() {
  static const LogisticLoss loss;
  return loss;
}

}  // namespace mfga
