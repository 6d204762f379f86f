// Tuning with coefficients that move along with the atoms: one look at the rows per step, where fitting them
// would take many. The coefficients are moved in coordinates in which the objective is round at the start if
// the curvature of the loss is the same for all rows (FactoredRefit).
#include <cblas.h>

#include <algorithm>
#include <cmath>

#include "solve/tuning_objective.hpp"

namespace mfga {
namespace {

class JointTuningObjective final : public TuningObjective {
 public:
  JointTuningObjective(const Problem& problem, const ActiveSet& active, const TuneOptions& options)
      : TuningObjective(problem, active, options),
        offset_(problem.intercept == Intercept::kUnpenalised ? 1 : 0),
        start_(last_.active) {
    const FittedCoefficients at_start = fit_coefficients(
        problem, options.ridge, refit_products(problem, active.atoms), start_, Accuracy::kGood);
    from_round_ = at_start.refit->orthonormal_combinations(0);
    const double unit = 1 / std::sqrt(*curvature_of_all_rows(problem) * scale_);
    for (double& value : from_round_.values) value *= unit;
  }

  [[nodiscard]] std::size_t size() const override {
    return n_moves() + static_cast<std::size_t>(from_round_.rows) * start_.outputs();
  }

  double evaluate(std::span<const double> moves, std::span<double> gradient) override {
    const BlockedRows rows = move(moves);
    const Problem there = problem_.with_rows(rows);
    const Index n_values = from_round_.rows;  // the intercept and the atoms
    const auto outputs = static_cast<Index>(start_.outputs());
    const Matrix coefficients = moved_coefficients(moves.subspan(n_moves()));
    const AtomValues atoms(last_.active.atoms);
    const DerivativesOfAtoms of_atoms(last_.active.atoms);
    // By the coordinates and stretches, by the coefficients, and the loss itself.
    const auto first_coefficient = static_cast<Index>(n_moves());
    std::vector<double> sums(n_moves() + static_cast<std::size_t>(outputs * n_values) + 1);
    sum_over_blocks(rows, there.workers, sums, [&](const RowBlock& block, Arena& arena, double* out) {
      const auto stride = static_cast<int>(block.stride);
      double* values = arena.take(n_values * block.stride);
      double* scores = arena.take(outputs * block.stride);
      double* first = arena.take(outputs * block.stride);
      if (offset_ == 1) std::fill_n(values, block.rows, 1.0);
      atoms.evaluate(block, 0, atoms.size(), values + offset_ * block.stride, block.stride, arena);
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(outputs),
                  static_cast<int>(block.rows), static_cast<int>(n_values), 1.0, coefficients.values.data(),
                  static_cast<int>(n_values), values, stride, 0.0, scores, stride);
      out[first_coefficient + outputs * n_values] += there.gradient_of(block, scores, first);
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(outputs),
                  static_cast<int>(n_values), static_cast<int>(block.rows), 1.0, first, stride, values,
                  stride, 1.0, out + first_coefficient, static_cast<int>(n_values));
      pull_back(block, of_atoms, first, out, arena);
    });
    last_.objective = sums.back();
    Matrix slopes(outputs, n_values);
    std::copy_n(sums.begin() + first_coefficient, slopes.values.size(), slopes.values.begin());
    for (Index k = 0; k < outputs; ++k) {
      for (Index m = offset_; m < n_values; ++m) {
        last_.objective += options_.ridge * problem_.cost.value(coefficients(k, m));
        slopes(k, m) += options_.ridge * problem_.cost.slope(coefficients(k, m));
      }
      cblas_dgemv(CblasRowMajor, CblasNoTrans, static_cast<int>(n_values), static_cast<int>(n_values), scale_,
                  from_round_.values.data(), static_cast<int>(n_values), slopes.row(k), 1, 0.0,
                  gradient.data() + first_coefficient + k * n_values, 1);
    }
    return with_pull(moves.first(n_moves()), sums, gradient.first(n_moves()));
  }

 private:
  // [outputs x (intercept + atoms)]; also sets those of last().
  [[nodiscard]] Matrix moved_coefficients(std::span<const double> moves) {
    const Index n_values = from_round_.rows;
    const auto outputs = static_cast<Index>(start_.outputs());
    Matrix result(outputs, n_values);
    for (Index k = 0; k < outputs; ++k) {
      cblas_dgemv(CblasRowMajor, CblasTrans, static_cast<int>(n_values), static_cast<int>(n_values), 1.0,
                  from_round_.values.data(), static_cast<int>(n_values), moves.data() + k * n_values, 1, 0.0,
                  result.row(k), 1);
      const auto output = static_cast<std::size_t>(k);
      if (offset_ == 1) last_.active.intercepts[output] = result(k, 0) += start_.intercepts[output];
      for (std::size_t m = 0; m < start_.atoms.size(); ++m) {
        double& theta = result(k, offset_ + static_cast<Index>(m));
        theta += start_.theta_of(m)[output];
        last_.active.theta[m * start_.outputs() + output] = theta;
      }
    }
    return result;
  }

  Index offset_;  // 1 if there is an intercept
  ActiveSet start_;
  Matrix from_round_;  // its transpose turns moves of an output into changes of its coefficients
};

}  // namespace

std::unique_ptr<TuningObjective> make_tuning_objective(const Problem& problem, const ActiveSet& active,
                                                       const TuneOptions& options) {
  if (make_refit(problem, {options.ridge, 0})->can_be_rough())
    return std::make_unique<JointTuningObjective>(problem, active, options);
  return std::make_unique<TuningObjective>(problem, active, options);
}

}  // namespace mfga
