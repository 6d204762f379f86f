// What is being minimised: sum over rows of w_n L(intercept + sum_m theta_m phi_m(x_n), y_n) + ridge
// |theta|^2, over a growing list of atoms. The weights w_n go with the rows (BlockedRows::weights).
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

  // The same rows seen otherwise, for instance stretched.
  [[nodiscard]] Problem with_rows(const BlockedRows& others) const {
    return {others, targets, loss, intercept, workers};
  }
  // Other rows with their own targets.
  [[nodiscard]] Problem with_rows(const BlockedRows& others, std::span<const double> their_targets) const {
    return {others, their_targets, loss, intercept, workers};
  }

  // The number of rows, each as often as its weight says.
  [[nodiscard]] double count() const { return rows.total_weight(); }
  // The score that is best without any atom; 0 without an intercept.
  [[nodiscard]] double best_constant() const {
    return intercept == Intercept::kUnpenalised ? loss.best_constant({targets, rows.weights()}) : 0;
  }
  // See Loss, for the rows of a block.
  [[nodiscard]] double loss_of(const RowBlock& block, const double* scores) const {
    return loss.sum(scores, targets.data() + block.first_row, block.weights, block.rows);
  }
  double gradient_of(const RowBlock& block, const double* scores, double* first) const {
    return loss.gradient(scores, targets.data() + block.first_row, block.weights, block.rows, first);
  }
  double derivatives_of(const RowBlock& block, const double* scores, double* first, double* second) const {
    return loss.derivatives(scores, targets.data() + block.first_row, block.weights, block.rows, first,
                            second);
  }
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

// The mean of L'' over the rows where every score is this one. The targets are those of the rows and not
// their mean, which for classes is no target at all.
[[nodiscard]] double mean_curvature(const Problem& problem, double score);

// The loss of each row, without its weight.
[[nodiscard]] std::vector<double> row_losses(const Problem& problem, const ScoreFunction& score);

// The means of two lists of losses of the same rows, by the rows' weights (none: 1), and the standard error
// of their difference.
struct PairedLosses {
  double first = 0;
  double second = 0;
  double standard_error = 0;
};
[[nodiscard]] PairedLosses paired_losses(std::span<const double> first, std::span<const double> second,
                                         std::span<const double> weights = {});

}  // namespace mfga
