#include "solve/factored_refit.hpp"

#include <algorithm>

#include "mfga/error.hpp"

namespace mfga {

FactoredRefit::FactoredRefit(const Problem& problem, const Penalty& penalty, double curvature)
    : problem_(problem),
      penalty_(penalty),
      offset_(problem.intercept == Intercept::kUnpenalised ? 1 : 0),
      curvature_(curvature) {
  if (offset_ == 1) append_row({problem.count()}, 0);
}

void FactoredRefit::append(std::span<const double> products) {
  std::vector<double> row;
  if (offset_ == 1) row.push_back(products[0]);
  row.insert(row.end(), products.begin() + 1 + problem_.target_columns(), products.end());
  append_row(std::move(row), 2 * penalty_.ridge / curvature_);
}

void FactoredRefit::append_row(std::vector<double> row, double ridge) {
  rows_.push_back(row);
  row.back() += ridge;
  // The atom is independent of the others, which was tested without the ridge.
  if (factor_.append(row, 0)) return;
  throw Error(
      ErrorKind::kNumerical,
      penalty_.norm_bound > 0
          ? "the least-squares problem became singular; use fewer terms, or a ridge in place of the norm "
            "bound"
          : "the least-squares problem became singular; use a larger ridge");
}

bool FactoredRefit::is_of(Index atoms) const {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].size() != i + 1) return false;
  }
  return size() == offset_ + atoms && factor_.size() == size();
}

Matrix FactoredRefit::explained(const Matrix& cross) {
  Matrix whitened = cross;
  for (Index i = 0; i < cross.rows; ++i)
    factor_.solve_lower({whitened.row(i), static_cast<std::size_t>(cross.cols)});
  return scaled_gram(whitened, 1 / curvature_);
}

std::vector<double> FactoredRefit::drop_costs(const ActiveSet& active) {
  const Matrix inverse_rows = orthonormal_combinations(0);
  std::vector<double> costs;
  for (Index i = 0; i < active.size(); ++i) {
    // The diagonal of (L L^T)^-1 = L^-T L^-1.
    double inverse = 0;
    const Index column = offset_ + i;
    for (Index m = column; m < inverse_rows.rows; ++m)
      inverse += inverse_rows(m, column) * inverse_rows(m, column);
    double square = 0;
    for (const double theta : active.theta_of(static_cast<std::size_t>(i))) square += theta * theta;
    costs.push_back(0.5 * curvature_ * square / inverse);
  }
  return costs;
}

Matrix FactoredRefit::orthonormal_combinations(Index first) const {
  // The rows of L^-1.
  Matrix result(factor_.size() - first, factor_.size());
  for (Index m = 0; m < result.rows; ++m) {
    result(m, first + m) = 1;
    factor_.solve_upper({result.row(m), static_cast<std::size_t>(result.cols)});
  }
  return result;
}

std::vector<double> FactoredRefit::hessian(double ridge) const {
  const std::size_t size = rows_.size();
  std::vector<double> result(size * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) result[i * size + j] = curvature_ * rows_[i][j];
    if (i >= static_cast<std::size_t>(offset_)) result[i * size + i] += 2 * ridge;
  }
  return result;
}

}  // namespace mfga
