// Exact kernel methods on some of the training rows: f(x) = c + sum_i alpha_i K(x_i, x) that minimises
//
//   sum_i w_i L(f(x_i), y_i) + ridge alpha^T K alpha,
//
// for the Gaussian kernel (the paper's GK), or the mean of the Gaussian and the linear kernel (GLK). Squared
// loss: kernel ridge regression, one Cholesky factorisation. Logistic loss: kernel logistic regression by
// Newton's method, one factorisation per step.
#pragma once

#include <span>
#include <vector>

#include "core/row_blocks.hpp"
#include "losses/loss.hpp"
#include "mfga/model.hpp"
#include "solve/problem.hpp"

namespace mfga {

enum class KernelKind { kGaussian, kGaussianAndLinear };

struct KernelSolution {
  std::vector<double> alpha;
  double intercept = 0;
  double loss_sum = 0;
  int newton_steps = 0;
  bool converged = true;
};

class KernelMachine {
 public:
  // Takes copies of the rows; computes the kernel matrix.
  KernelMachine(const BlockedRows& rows, std::span<const Index> chosen, double sigma, Workers& workers);

  // From the Gaussian kernel to the mean of it and the linear one; the distances are not computed again.
  void add_linear_kernel();
  [[nodiscard]] KernelKind kind() const { return kind_; }
  [[nodiscard]] Index size() const { return gram_.rows; }

  // Newton's method starts from `start` if it is given, the solution for another ridge.
  [[nodiscard]] KernelSolution solve(std::span<const double> targets, const Loss& loss, double ridge,
                                     Intercept intercept, const KernelSolution* start = nullptr);
  // Scores of other rows for several solutions at once: [solutions x rows].
  [[nodiscard]] Matrix scores(const BlockedRows& rows, std::span<const KernelSolution> solutions) const;
  // The solution as terms of a model: one landmark per row, and one linear term per input for the linear
  // kernel.
  [[nodiscard]] std::vector<Term> terms(const KernelSolution& solution) const;

  // Memory for this many rows.
  [[nodiscard]] static double bytes(double rows, double inputs);

 private:
  [[nodiscard]] std::vector<double> kernel_times(std::span<const double> alpha) const;
  void factorise_with_diagonal(std::span<const double> added);
  // (K + diag(added)) alpha + c = right, with sum of alpha = 0 if there is an intercept.
  [[nodiscard]] KernelSolution solve_system(std::span<const double> added, std::span<const double> right,
                                            Intercept intercept);

  Workers& workers_;
  double sigma_;
  KernelKind kind_ = KernelKind::kGaussian;
  Matrix centres_;  // [rows x inputs]
  std::vector<double> square_norms_;
  std::vector<double> weights_;  // of the rows; none: 1
  // The kernel matrix above the diagonal, the factor being worked with below and on it: one matrix for both.
  Matrix gram_;
  std::vector<double> diagonal_;  // of the kernel matrix
};

}  // namespace mfga
