#include "theory/curvature.hpp"

#include <cblas.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "core/symmetric_eigen.hpp"

namespace mfga {

RowMeasurements measure_rows(const BlockedRows& rows, std::span<const double> targets, const Loss& loss,
                             const Combination& model, Intercept intercept, double ridge, Workers& workers) {
  const AtomValues values(model.atoms);
  const ScoreFunction score(model.atoms, model.theta, {&model.intercept, 1});
  const Index offset = intercept == Intercept::kUnpenalised ? 1 : 0;
  const Index size = offset + values.size();
  // The upper triangle of sum_n L''(f(x_n), y_n) a_n a_n^T with a_n = (1, phi(x_n)), and the loss.
  std::vector<double> sums(static_cast<std::size_t>(size * size + 1));
  sum_over_blocks(rows, workers, sums, [&](const RowBlock& block, Arena& arena, double* out) {
    double* features = arena.take(size * block.stride);
    double* scores = arena.take(block.rows);
    double* first = arena.take(block.rows);
    double* second = arena.take(block.rows);
    score.evaluate(block, scores, arena);
    out[size * size] +=
        loss.derivatives(scores, targets.data() + block.first_row, block.weights, block.rows, first, second);
    if (offset == 1) std::fill(features, features + block.rows, 1.0);
    values.evaluate(block, 0, values.size(), features + offset * block.stride, block.stride, arena);
    for (Index n = 0; n < block.rows; ++n) second[n] = std::sqrt(second[n]);
    for (Index i = 0; i < size; ++i) {
      double* value = features + i * block.stride;
      for (Index n = 0; n < block.rows; ++n) value[n] *= second[n];
    }
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, static_cast<int>(size), static_cast<int>(block.rows),
                1.0, features, static_cast<int>(block.stride), 1.0, out, static_cast<int>(size));
  });

  // The upper triangle of a row-major matrix is the lower one of a column-major matrix.
  const Eigen::MatrixXd joint =
      Eigen::Map<const Eigen::MatrixXd>(sums.data(), size, size).selfadjointView<Eigen::Lower>();
  Eigen::MatrixXd hessian = joint.bottomRightCorner(values.size(), values.size());
  if (offset == 1 && joint(0, 0) > 0) {
    // Hessian of theta -> min over the intercept: the Schur complement.
    const Eigen::VectorXd mixed = joint.col(0).tail(values.size());
    hessian -= mixed * mixed.transpose() / joint(0, 0);
  }
  hessian.diagonal().array() += 2 * ridge;
  const double n_rows = rows.total_weight();
  Matrix mean_hessian(hessian.rows(), hessian.cols());
  for (Index i = 0; i < mean_hessian.rows; ++i) {
    for (Index j = 0; j < mean_hessian.cols; ++j) mean_hessian(i, j) = hessian(i, j) / n_rows;
  }
  const std::vector<double> eigenvalues = symmetric_eigenvalues(mean_hessian);
  RowMeasurements result;
  result.risk = sums.back() / n_rows;
  // Rounding may leave a little less than zero, or than the ridge alone.
  result.smallest_curvature = std::max(eigenvalues.front(), 2 * ridge / n_rows);
  result.largest_curvature = eigenvalues.back();
  return result;
}

}  // namespace mfga
