// The tiled factorisation against Eigen's, around the sizes of its tiles.
#include "solve/tiled_cholesky.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include "core/blas.hpp"
#include "reference_matrices.hpp"

namespace mfga {
namespace {

constexpr double kUntouched = 1e30;  // above the diagonal: neither read nor written

// A positive definite matrix.
Eigen::MatrixXd positive_matrix(Index size) {
  const Matrix b = reference::random_matrix(size, size, 11);
  const Eigen::Map<const Eigen::MatrixXd> map(b.values.data(), size, size);
  return map * map.transpose() / static_cast<double>(size) + Eigen::MatrixXd::Identity(size, size);
}

Matrix lower_part(const Eigen::MatrixXd& full) {
  Matrix matrix(full.rows(), full.cols());
  for (Index i = 0; i < matrix.rows; ++i) {
    for (Index j = 0; j < matrix.cols; ++j) matrix(i, j) = j <= i ? full(i, j) : kUntouched;
  }
  return matrix;
}

TEST(TiledCholesky, IsTheFactorOfAnySize) {
  const SingleThreadedBlas blas;
  Workers workers(2);
  for (const Index size : {1, 5, 191, 192, 193, 600}) {
    SCOPED_TRACE(size);
    const Eigen::MatrixXd full = positive_matrix(size);
    Matrix factor = lower_part(full);
    ASSERT_TRUE(factorise_in_place(factor, workers));
    const Eigen::MatrixXd expected = full.llt().matrixL();
    double error = 0;
    for (Index i = 0; i < size; ++i) {
      for (Index j = 0; j <= i; ++j) error = std::max(error, std::abs(factor(i, j) - expected(i, j)));
      for (Index j = i + 1; j < size; ++j) ASSERT_EQ(factor(i, j), kUntouched);
    }
    EXPECT_LT(error, 1e-12);
  }
}

TEST(TiledCholesky, SolvesForSeveralRightHandSides) {
  const SingleThreadedBlas blas;
  Workers workers(2);
  for (const Index size : {1, 5, 193, 400}) {
    const Eigen::MatrixXd full = positive_matrix(size);
    Matrix factor = lower_part(full);
    ASSERT_TRUE(factorise_in_place(factor, workers));
    for (const Index columns : {1, 2, 5}) {
      Matrix right = reference::random_matrix(size, columns, 4);
      using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
      const RowMajor given = Eigen::Map<RowMajor>(right.values.data(), size, columns);
      solve_factorised(factor, right.values.data(), columns);
      const Eigen::Map<RowMajor> solution(right.values.data(), size, columns);
      EXPECT_LT((full * solution - given).cwiseAbs().maxCoeff(), 1e-11) << size << " x " << columns;
    }
  }
}

TEST(TiledCholesky, RefusesWhatIsNotPositiveDefinite) {
  const SingleThreadedBlas blas;
  Workers workers(2);
  for (const Index size : {1, 5, 193, 400}) {
    for (const Index bad : {Index{0}, size / 2, size - 1}) {
      for (const double diagonal : {-1.0, std::nan("")}) {
        Matrix matrix = lower_part(positive_matrix(size));
        matrix(bad, bad) = diagonal;
        EXPECT_FALSE(factorise_in_place(matrix, workers)) << bad << " of " << size << ": " << diagonal;
      }
    }
  }
  // Each entry could be one of a positive definite matrix; all together are not.
  Matrix flat(300, 300);
  for (double& value : flat.values) value = 2;
  flat(299, 299) = 1.9;
  for (Index i = 0; i < 299; ++i) flat(i, i) = 2.1;
  EXPECT_FALSE(factorise_in_place(flat, workers));
}

TEST(TiledCholesky, SameForAnyThreads) {
  const SingleThreadedBlas blas;
  const Eigen::MatrixXd full = positive_matrix(600);
  decltype(Matrix::values) first;
  for (const int threads : {1, 2, 5}) {
    Workers workers(threads);
    Matrix factor = lower_part(full);
    ASSERT_TRUE(factorise_in_place(factor, workers));
    if (first.empty()) first = factor.values;
    EXPECT_TRUE(factor.values == first) << threads << " threads";
  }
}

}  // namespace
}  // namespace mfga
