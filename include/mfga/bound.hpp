// The paper's learning bound (Lemma 1 and its main theorem, Theorem 2, with the quadratic-loss extension of
// its supplement), evaluated for a trained model on its training rows. docs/bound.md says what each number
// is, and which are estimates.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mfga/model.hpp"
#include "mfga/views.hpp"

namespace mfga {

struct BoundOptions {
  double delta = 0.05;  // the bound holds with probability 1 - delta over the training rows
  int threads = 0;      // 0: all cores

  // Throws Error(kInvalidArgument) naming the first option that is out of bounds.
  void validate() const;
};

// The training rows of a model.
struct BoundData {
  ConstMatrixView x;
  std::span<const double> y;  // regression: the target; classification: 1 for the second label, else 0
  std::span<const Index> columns =
      {};  // input i is column columns[i] of x; empty: the columns of the training
};

// How large one kernel of the dictionary is on the rows.
struct KernelSize {
  std::string kernel;  // as it is written in the dictionary
  double largest = 0;  // of K(x, x)
  std::string basis;   // what that is: exact, at most, or measured
};

// The coefficients of one kernel in the order of selection, summed up, and what is expected after the last.
struct KernelTail {
  std::string kernel;           // e.g. gaussian(sigma=2.5)
  std::vector<double> squares;  // theta_{p,m}^2, m = 1, 2, ...
  double decay = 1;             // fitted ratio of one square to the one before; 1 if there is nothing to fit
  double beyond = 0;            // estimated sum of the squares after the last; infinite if nothing bounds it
};

// Regression: the theorem is about targets in [-1, 1]; risks and coefficients are those of
// (target - middle) / half_range. Trivial for classification.
struct TargetUnits {
  double middle = 0;
  double half_range = 1;
};

struct Bound {
  // The constants; the paper's letters in front.
  Index rows = 0;              // N
  Index terms = 0;             // M
  Index kernels = 0;           // P
  double kernel_bound = 0;     // B: K_p(x, x) <= B^2 on the rows, for every kernel
  double norm = 0;             // C: |theta|_2
  double lipschitz = 0;        // G, of the loss
  double loss_at_zero = 0;     // |L(0)|, for the logistic loss
  double loss_smoothness = 0;  // largest second derivative of the loss
  double delta = 0;
  double smoothness = 0;        // beta: largest eigenvalue of the risk's Hessian on the active set
  double strong_convexity = 0;  // mu: the smallest
  double condition = 0;         // beta / mu rounded up; infinite if mu is 0
  TargetUnits units;
  std::vector<KernelSize> sizes;  // of all kernels; the largest one is B^2
  bool is_tuned = false;  // terms or inputs were moved: the bound is that of the dictionary before that
  std::vector<KernelTail> tails;  // of the kernels that have terms

  double rademacher = 0;
  double epsilon = 0;  // minimises the sum of the approximation and the spectral term
  Index sparsity = 0;  // floor(M^epsilon): the terms of the competitor
  Index rounds = 0;    // floor(M^(1 - epsilon)): greedy steps for each of them
  double estimation = 0;
  double approximation = 0;
  double spectral = 0;

  double train_risk = 0;           // mean loss on the rows
  double constant_risk = 0;        // mean loss of the best constant
  std::vector<std::string> notes;  // where the model and the theorem's assumptions differ

  // On R(model) - min R(f) over the class.
  [[nodiscard]] double total() const { return estimation + approximation + spectral; }
  // The part of the estimation term that is about the model: on its risk minus its training risk.
  [[nodiscard]] double gap() const { return estimation / 2; }
  // Losses are not negative, so a constant alone is at most its risk above the best model.
  [[nodiscard]] bool vacuous() const { return !(total() < constant_risk); }
};

[[nodiscard]] Bound learning_bound(const Model& model, const BoundData& data,
                                   const BoundOptions& options = {});

}  // namespace mfga
