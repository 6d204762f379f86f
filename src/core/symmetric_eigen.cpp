#include "core/symmetric_eigen.hpp"

#include <Eigen/Dense>

namespace mfga {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

SymmetricEigen decompose(const Matrix& matrix, int parts) {
  const Eigen::MatrixXd copy = Eigen::Map<const RowMajor>(matrix.values.data(), matrix.rows, matrix.cols);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(copy, parts);
  SymmetricEigen result;
  result.values.assign(solver.eigenvalues().begin(), solver.eigenvalues().end());
  if (parts == Eigen::EigenvaluesOnly) return result;
  result.vectors = Matrix(matrix.rows, matrix.rows);
  Eigen::Map<RowMajor>(result.vectors.values.data(), matrix.rows, matrix.rows) =
      solver.eigenvectors().transpose();
  return result;
}

}  // namespace

SymmetricEigen symmetric_eigen(const Matrix& matrix) { return decompose(matrix, Eigen::ComputeEigenvectors); }

std::vector<double> symmetric_eigenvalues(const Matrix& matrix) {
  return decompose(matrix, Eigen::EigenvaluesOnly).values;
}

}  // namespace mfga
