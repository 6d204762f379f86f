// What the tests of families share: expressions that all go through, and how far features are from a kernel.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "features/candidates.hpp"
#include "reference_matrices.hpp"

namespace mfga {

// One expression per case of a family; a new family belongs here.
inline const std::vector<std::string> kExpressions = {
    "linear",
    "gaussian(order=0, sigma=1.5)",
    "gaussian(order=1, sigma=2)",
    "gaussian(order=2, sigma=1.7)",
    "gaussian(order=2, sigma=1.7, squares=no)",
    "gaussian(order=3, sigma=1.3)",
    "gaussian(order=4, sigma=2, squares=no)",
    "gaussian(order=5, sigma=2)",
    "fourier(count=70, sigma=1.5)",
    "fourier(count=70, sigma=5, kernel=laplace)",
    "fourier(count=70, sigma=3, kernel=matern(1.5))",
    "fourier(count=70, sigma=2, kernel=cauchy)",
    "fourier(count=70, sigma=2, draw=orthogonal)",
    "fourier(count=70, sigma=2, draw=structured)",
    "fourier(count=150, sigma=3, draw=structured, kernel=matern(2))",
    "fourier(count=70, sigma=2, draw=halton, kernel=matern(3))",
    "fourier(count=70, sigma=2, draw=sobol, kernel=cauchy)",
    "landmark(count=70, sigma=1.5)",
    "landmark(count=70, sigma=1.5, kernel=laplace)",
    "landmark(count=70, sigma=1.5, kernel=matern(0.5), choose=kmeans++)",
    "landmark(count=70, sigma=1.5, kernel=matern(1.5))",
    "landmark(count=10, sigma=0.1, kernel=matern(2.5), choose=greedy)",
    "landmark(count=70, sigma=1.5, kernel=polynomial(3))",
    "nystrom(count=20, sigma=0.5, kernel=laplace)",
    "nystrom(count=20, sigma=1, kernel=matern(0.5)) + nystrom(count=10, sigma=0.5, kernel=laplace)",
    "linear + landmark(count=5, sigma=0.7) + fourier(count=3, sigma=2) + landmark(count=4, sigma=2)",
    "linear + gaussian(order=2, sigma=2) + gaussian(order=1, sigma=0.7, nu=3)",
    "polynomial",
    "polynomial(degree=1, offset=0.5)",
    "polynomial(degree=4, interactions=cross)",
    "polynomial(degree=3, offset=0)",
    "step(knots=11)",
    "step(knots=500)",  // more than there are rows
    "hinge(knots=3)",
    "hinge(knots=2, interactions=2)",
    "hinge(knots=5, interactions=2)",
    "spline(knots=5, degree=0)",
    "spline(knots=0, degree=1)",
    "spline(knots=4, degree=2)",
    "spline",
    "spline(knots=1000, degree=5)",
    "periodic(count=3)",
    "periodic(count=2, period=2.5)",
    "additive",
    "additive(kernel=intersection, order=0)",
    "additive(kernel=jensen-shannon, order=3)",
    "maclaurin(count=70, sigma=1.5)",
    "maclaurin(count=40, kernel=polynomial, sigma=2, degree=2)",
    "step + hinge(knots=2, interactions=2, nu=2) + polynomial(degree=3, offset=0) + linear",
};

// Training rows for the families that take atoms from them.
struct BoundCandidates {
  Matrix x;
  BlockedRows rows;
  Candidates candidates;
  BoundCandidates(const std::string& expression, Index n_rows, Index d)
      : x(reference::random_matrix(n_rows, d, 9)),
        rows(x.view(), reference::plain_inputs(d)),
        candidates(Dictionary(expression), {d, 1, 5, &rows}) {}
};

// The largest difference between inner products of the candidates' values on rows of x and a kernel of rows.
template <class Kernel>
double kernel_error(const Candidates& candidates, const Matrix& x, Kernel kernel) {
  const Eigen::MatrixXd features = reference::materialise(candidates, x);
  double error = 0;
  for (Index i = 0; i < x.rows; ++i) {
    for (Index j = 0; j < x.rows; ++j)
      error = std::max(error, std::abs(features.row(i).dot(features.row(j)) - kernel(i, j)));
  }
  return error;
}

}  // namespace mfga
