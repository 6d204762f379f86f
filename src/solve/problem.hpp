// What is being minimised: sum over rows of L(intercept + sum_m theta_m phi_m(x_n), y_n) + ridge |theta|^2,
// over a growing list of atoms.
#pragma once

#include <span>
#include <vector>

#include "core/row_blocks.hpp"
#include "features/candidates.hpp"
#include "losses/loss.hpp"

namespace mfga {

enum class Intercept { kNone, kUnpenalised };

struct Problem {
  const BlockedRows& rows;
  std::span<const double> targets;  // [rows]
  const Loss& loss;
  Intercept intercept;
  Workers& workers;
};

// The active set I and its coefficients.
struct ActiveSet {
  std::vector<Index> candidates;  // in the order of selection
  std::vector<Atom> atoms;
  std::vector<double> theta;
  double intercept = 0;

  [[nodiscard]] Index size() const { return static_cast<Index>(candidates.size()); }
  [[nodiscard]] ScoreFunction score() const { return {atoms, theta, intercept}; }
};

// The sum of the losses of a score function.
[[nodiscard]] double loss_sum(const Problem& problem, const ScoreFunction& score);

// The loss of each row.
[[nodiscard]] std::vector<double> row_losses(const Problem& problem, const ScoreFunction& score);

// The means of two lists of losses of the same rows, and the standard error of their difference.
struct PairedLosses {
  double first = 0;
  double second = 0;
  double standard_error = 0;
};
[[nodiscard]] PairedLosses paired_losses(std::span<const double> first, std::span<const double> second);

}  // namespace mfga
