#include "losses/loss.hpp"

namespace mfga {

double SeparableLoss::sum(const ScoredRows& rows) const {
  double total = 0;
  for (Index k = 0; k < rows.outputs; ++k)
    total += sum_of_one(rows.scores + k * rows.stride, rows.targets + k * rows.target_stride, rows.weights,
                        rows.rows);
  return total;
}

double SeparableLoss::gradient(const ScoredRows& rows, double* first) const {
  double total = 0;
  for (Index k = 0; k < rows.outputs; ++k)
    total += gradient_of_one(rows.scores + k * rows.stride, rows.targets + k * rows.target_stride,
                             rows.weights, rows.rows, first + k * rows.stride);
  return total;
}

double SeparableLoss::derivatives(const ScoredRows& rows, double* first, double* second) const {
  double total = 0;
  for (Index k = 0; k < rows.outputs; ++k)
    total += derivatives_of_one(rows.scores + k * rows.stride, rows.targets + k * rows.target_stride,
                                rows.weights, rows.rows, first + k * rows.stride, second + k * rows.stride);
  return total;
}

std::vector<double> SeparableLoss::best_constants(const TargetColumns& targets) const {
  std::vector<double> constants;
  for (Index k = 0; k < targets.columns; ++k) constants.push_back(constant_of_one(targets.column(k)));
  return constants;
}

std::vector<Expression> exponentials_of(std::span<const Expression> scores, ExpressionGraph& graph) {
  std::vector<Expression> result;
  for (const Expression score : scores) result.push_back(graph.exp(score));
  return result;
}

}  // namespace mfga
