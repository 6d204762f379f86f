// The naive versions whose results are matrices of Eigen: apart, because Eigen is slow to compile.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "reference.hpp"

namespace mfga::reference {

// All candidates on all rows. [rows x candidates]
Eigen::MatrixXd materialise(const Candidates& candidates, const Matrix& x);

struct Pursuit {
  std::vector<Index> chosen;
  Eigen::VectorXd theta;
  double intercept = 0;
};

// Orthogonal matching pursuit with k atoms per step, a ridge and, if wanted, an unpenalised intercept.
Pursuit pursue(const Eigen::MatrixXd& features, const Eigen::VectorXd& y, Index terms, Index per_step,
               double ridge, Intercept intercept);

}  // namespace mfga::reference
