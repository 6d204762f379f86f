#include "solve/refit.hpp"

#include <cblas.h>

namespace mfga {

Matrix scaled_gram(const Matrix& rows, double factor) {
  Matrix result(rows.rows, rows.rows);
  if (rows.rows == 0 || rows.cols == 0) return result;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(rows.rows),
              static_cast<int>(rows.rows), static_cast<int>(rows.cols), factor, rows.values.data(),
              static_cast<int>(rows.cols), rows.values.data(), static_cast<int>(rows.cols), 0.0,
              result.values.data(), static_cast<int>(rows.rows));
  return result;
}

std::unique_ptr<Refit> make_refit(const Problem& problem, const Penalty& penalty) {
  const bool is_quadratic = problem.loss.constant_curvature().has_value();
  if (is_quadratic && problem.cost.is_square()) return make_least_squares_refit(problem, penalty);
  return problem.outputs() == 1 && !is_quadratic ? make_newton_refit(problem, penalty)
                                                 : make_descent_refit(problem, penalty);
}

}  // namespace mfga
