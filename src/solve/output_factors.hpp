// Coordinates of the coefficients of one or more outputs in which an objective is nearly round: with L_k
// L_k^T the Hessian by the coefficients of output k where the others are held fixed, moves m_k stand for
//
//   coefficients_k = start_k + L_k^-T m_k.
#pragma once

#include <vector>

#include "solve/active_atoms.hpp"
#include "solve/growing_cholesky.hpp"
#include "solve/problem.hpp"

namespace mfga {

class OutputFactors {
 public:
  // With the Hessians at these coefficients [outputs x (intercept + atoms)]; where the outputs are very many,
  // with their mean. They are of some of the rows and in single precision, for they are no part of a result,
  // only of the way to it.
  OutputFactors(const Problem& problem, const ActiveAtoms& atoms, const Matrix& coefficients, double ridge);
  // With one for all outputs, which is `curvature` times what this is the factor of.
  OutputFactors(const Problem& problem, const GrowingCholesky& factor, double curvature);

  // start + what the moves stand for, all [outputs x (intercept + atoms)].
  [[nodiscard]] Matrix moved(const Matrix& start, const double* moves) const;
  // The gradient by the moves from that by the coefficients.
  void gradient_by_moves(Matrix by_coefficients, double* by_moves) const;

 private:
  [[nodiscard]] const std::vector<double>& lower(Index output) const {
    return lower_[lower_.size() == 1 ? 0 : static_cast<std::size_t>(output)];
  }
  void take_off_means(Matrix& values) const;

  Index size_;
  bool without_means_;
  std::vector<std::vector<double>> lower_;  // of each output or of all, [size x size]
};

}  // namespace mfga
