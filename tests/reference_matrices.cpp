#include "reference_matrices.hpp"

#include <Eigen/Dense>

namespace mfga::reference {

Eigen::MatrixXd materialise(const Candidates& candidates, const Matrix& x) {
  Eigen::MatrixXd features(x.rows, candidates.size());
  for (Index j = 0; j < candidates.size(); ++j) {
    const Atom atom = candidates.atom(j);
    for (Index i = 0; i < x.rows; ++i) features(i, j) = atom_value(atom, x.row(i), x.cols);
  }
  return features;
}

Pursuit pursue(const Eigen::MatrixXd& features, const Eigen::VectorXd& y, Index terms, Index per_step,
               double ridge, Intercept intercept) {
  const Index offset = intercept == Intercept::kUnpenalised ? 1 : 0;
  Pursuit result;
  Eigen::VectorXd residual = offset == 1 ? (y.array() - y.mean()).matrix().eval() : y;
  while (static_cast<Index>(result.chosen.size()) < terms) {
    Eigen::VectorXd correlation = (features.transpose() * residual).cwiseAbs();
    for (const Index j : result.chosen) correlation[j] = -1;
    for (Index k = 0; k < per_step && static_cast<Index>(result.chosen.size()) < terms; ++k) {
      Index best = 0;
      correlation.maxCoeff(&best);
      correlation[best] = -1;
      result.chosen.push_back(best);
    }
    const auto size = static_cast<Index>(result.chosen.size());
    Eigen::MatrixXd a(y.size(), offset + size);
    if (offset == 1) a.col(0).setOnes();
    for (Index i = 0; i < size; ++i)
      a.col(offset + i) = features.col(result.chosen[static_cast<std::size_t>(i)]);
    Eigen::MatrixXd gram = a.transpose() * a;
    for (Index i = 0; i < size; ++i) gram(offset + i, offset + i) += ridge;
    const Eigen::VectorXd solution = gram.ldlt().solve(a.transpose() * y);
    result.intercept = offset == 1 ? solution[0] : 0;
    result.theta = solution.tail(size);
    residual = y - a * solution;
  }
  return result;
}

}  // namespace mfga::reference
