#include "solve/tiled_cholesky.hpp"

#include <cblas.h>

#include <Eigen/Dense>
#include <algorithm>

namespace mfga {
namespace {

constexpr Index kFactorTile = 384;

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

bool factorise_tile(double* tile, Index size, Index stride) {
  Eigen::Map<RowMajor, 0, Eigen::OuterStride<>> map(tile, size, size, Eigen::OuterStride<>(stride));
  const Eigen::LLT<Eigen::MatrixXd> factor(Eigen::MatrixXd(map.selfadjointView<Eigen::Lower>()));
  // Eigen takes a NaN for a positive pivot.
  if (factor.info() != Eigen::Success || !factor.matrixLLT().diagonal().allFinite()) return false;
  map.triangularView<Eigen::Lower>() = Eigen::MatrixXd(factor.matrixL());
  return true;
}

}  // namespace

bool factorise_in_place(Matrix& matrix, Workers& workers) {
  const Index n_tiles = (matrix.rows + kFactorTile - 1) / kFactorTile;
  const auto stride = static_cast<int>(matrix.cols);
  const auto tile = [&](Index i, Index j) { return matrix.row(i * kFactorTile) + j * kFactorTile; };
  const auto size = [&](Index i) { return std::min(kFactorTile, matrix.rows - i * kFactorTile); };
  for (Index k = 0; k < n_tiles; ++k) {
    if (!factorise_tile(tile(k, k), size(k), matrix.cols)) return false;
    const auto width = static_cast<int>(size(k));
    workers.run(n_tiles - k - 1, [&](Index task) {
      const Index i = k + 1 + task;
      cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, static_cast<int>(size(i)),
                  width, 1.0, tile(k, k), stride, tile(i, k), stride);
    });
    // Rows of tiles from the bottom, the longest first, so that threads end together.
    workers.run(n_tiles - k - 1, [&](Index task) {
      const Index i = n_tiles - 1 - task;
      if (i > k + 1) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(size(i)),
                    static_cast<int>((i - k - 1) * kFactorTile), width, -1.0, tile(i, k), stride,
                    tile(k + 1, k), stride, 1.0, tile(i, k + 1), stride);
      }
      cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, static_cast<int>(size(i)), width, -1.0, tile(i, k),
                  stride, 1.0, tile(i, i), stride);
    });
  }
  return true;
}

void solve_factorised(const Matrix& factor, double* right, Index columns) {
  const auto size = static_cast<int>(factor.rows);
  const auto stride = static_cast<int>(factor.cols);
  const auto n_right = static_cast<int>(columns);
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, size, n_right, 1.0,
              factor.values.data(), stride, right, n_right);
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, size, n_right, 1.0,
              factor.values.data(), stride, right, n_right);
}

}  // namespace mfga
