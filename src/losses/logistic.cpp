// The logistic loss L(f, y) = log(1 + exp(-y f)) with y in {-1, +1}, for two classes. Written so that no
// exponential of a positive number is taken: it cannot overflow.
#include "losses/logistic.hpp"

#include <algorithm>
#include <cmath>

namespace mfga {
namespace {

// exp(-|m|), from which all of the loss's quantities follow without overflow.
double small_exponential(double margin) { return std::exp(-std::abs(margin)); }

double loss_of(double margin, double small) { return std::max(-margin, 0.0) + std::log1p(small); }

// 1 / (1 + exp(m)): the probability of the other class.
double other_class(double margin, double small) { return (margin >= 0 ? small : 1.0) / (1.0 + small); }

class LogisticLoss final : public Loss {
 public:
  [[nodiscard]] std::string_view name() const override { return "logistic"; }
  [[nodiscard]] bool is_quadratic() const override { return false; }
  [[nodiscard]] double best_constant(double target_mean) const override {
    return std::log((1 + target_mean) / (1 - target_mean));
  }

  [[nodiscard]] double sum(const double* scores, const double* targets, Index count) const override {
    double total = 0;
    for (Index n = 0; n < count; ++n) {
      const double margin = scores[n] * targets[n];
      total += loss_of(margin, small_exponential(margin));
    }
    return total;
  }
  double gradient(const double* scores, const double* targets, Index count, double* first) const override {
    double total = 0;
    for (Index n = 0; n < count; ++n) {
      const double margin = scores[n] * targets[n];
      const double small = small_exponential(margin);
      total += loss_of(margin, small);
      first[n] = -targets[n] * other_class(margin, small);
    }
    return total;
  }
  double derivatives(const double* scores, const double* targets, Index count, double* first,
                     double* second) const override {
    double total = 0;
    for (Index n = 0; n < count; ++n) {
      const double margin = scores[n] * targets[n];
      const double small = small_exponential(margin);
      total += loss_of(margin, small);
      first[n] = -targets[n] * other_class(margin, small);
      second[n] = small / ((1.0 + small) * (1.0 + small));
    }
    return total;
  }
};

}  // namespace

const Loss& logistic_loss() {
  static const LogisticLoss loss;
  return loss;
}

}  // namespace mfga
