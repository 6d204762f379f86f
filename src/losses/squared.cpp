// The squared loss L(f, y) = (f - y)^2 for regression.
#include "losses/squared.hpp"

namespace mfga {
namespace {

class SquaredLoss final : public Loss {
 public:
  [[nodiscard]] std::string_view name() const override { return "squared"; }
  [[nodiscard]] bool is_quadratic() const override { return true; }
  [[nodiscard]] double best_constant(double target_mean) const override { return target_mean; }

  [[nodiscard]] double sum(const double* scores, const double* targets, Index count) const override {
    double total = 0;
    for (Index n = 0; n < count; ++n) total += (scores[n] - targets[n]) * (scores[n] - targets[n]);
    return total;
  }
  double gradient(const double* scores, const double* targets, Index count, double* first) const override {
    for (Index n = 0; n < count; ++n) first[n] = 2 * (scores[n] - targets[n]);
    return sum(scores, targets, count);
  }
  double derivatives(const double* scores, const double* targets, Index count, double* first,
                     double* second) const override {
    for (Index n = 0; n < count; ++n) second[n] = 2;
    return gradient(scores, targets, count, first);
  }
};

}  // namespace

const Loss& squared_loss() {
  static const SquaredLoss loss;
  return loss;
}

}  // namespace mfga
