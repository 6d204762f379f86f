// What is being minimised: sum over rows of w_n L(c + sum_m theta_m phi_m(x_n), y_n) + ridge |theta|^2, or
// another cost of the coefficients, over a growing list of atoms. There may be several outputs, which share
// the atoms: then c and every theta_m have one number for each. The weights w_n go with the rows
// (BlockedRows::weights).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/archive.hpp"
#include "core/row_blocks.hpp"
#include "features/candidates.hpp"
#include "losses/loss.hpp"
#include "solve/coefficient_cost.hpp"

namespace mfga {

enum class Intercept { kNone, kUnpenalised };

class DeviceProblem;  // solve/device_problem.hpp

struct Problem {
  const BlockedRows& rows;
  std::span<const double> targets;  // [target columns x rows]
  const Loss& loss;
  Intercept intercept;
  Workers& workers;
  CoefficientCost cost = {};
  DeviceProblem* device = nullptr;  // the same rows in the memory of a device; null: they are not

  // The same rows seen otherwise, for instance stretched.
  [[nodiscard]] Problem with_rows(const BlockedRows& others) const {
    return {others, targets, loss, intercept, workers, cost};
  }
  // Other rows with their own targets.
  [[nodiscard]] Problem with_rows(const BlockedRows& others, std::span<const double> their_targets) const {
    return {others, their_targets, loss, intercept, workers, cost};
  }

  // The number of rows, each as often as its weight says.
  [[nodiscard]] double count() const { return rows.total_weight(); }
  [[nodiscard]] Index target_columns() const { return std::ssize(targets) / rows.rows(); }
  // Scores per row.
  [[nodiscard]] Index outputs() const { return loss.outputs(target_columns()); }
  // The scores that are best without any atom, one per output; 0 without an intercept.
  [[nodiscard]] std::vector<double> best_constants() const;
  // See Loss, for the rows of a block: scores and derivatives are [outputs x block.stride].
  [[nodiscard]] double loss_of(const RowBlock& block, const double* scores) const {
    return loss.sum(scored(block, scores));
  }
  double gradient_of(const RowBlock& block, const double* scores, double* first) const {
    return loss.gradient(scored(block, scores), first);
  }
  double derivatives_of(const RowBlock& block, const double* scores, double* first, double* second) const {
    return loss.derivatives(scored(block, scores), first, second);
  }
  [[nodiscard]] ScoredRows scored(const RowBlock& block, const double* scores) const {
    return {scores,     targets.data() + block.first_row, block.weights, block.rows, outputs(), block.stride,
            rows.rows()};
  }
};

// The active set I and its coefficients.
struct ActiveSet {
  std::vector<Index> candidates;  // in the order of selection
  std::vector<Atom> atoms;
  std::vector<double> theta;             // [atoms x outputs]
  std::vector<double> intercepts = {0};  // [outputs]

  [[nodiscard]] Index size() const { return static_cast<Index>(candidates.size()); }
  [[nodiscard]] std::size_t outputs() const { return intercepts.size(); }
  // The coefficients of an atom, one per output.
  [[nodiscard]] std::span<const double> theta_of(std::size_t atom) const {
    return {theta.data() + atom * outputs(), outputs()};
  }
  [[nodiscard]] ScoreFunction score() const { return {atoms, theta, intercepts}; }
};

void archive(Archive& bytes, ActiveSet& active);
// Whether one from a file can be a set of at most so many terms: its sizes, its atoms, and the numbers of its
// candidates, of which there are so many; -1 is none of them.
[[nodiscard]] bool is_possible(const ActiveSet& active, const Problem& problem, Index candidates,
                               Index terms);
// Whether these can be numbers of candidates.
[[nodiscard]] bool are_candidates(std::span<const Index> list, Index candidates, Index least = 0);

// The sum of the losses of a score function.
[[nodiscard]] double loss_sum(const Problem& problem, const ScoreFunction& score);

// The mean of L'' over the rows and outputs where every row has these scores. The targets are those of the
// rows and not their mean, which for classes is no target at all.
[[nodiscard]] double mean_curvature(const Problem& problem, std::span<const double> scores);

// What L'' is taken to be for every row, where it is: the constant one of a quadratic loss; and with several
// outputs, where it would be a matrix for each row, its mean at the best constants. Else nothing: every row
// has its own.
[[nodiscard]] std::optional<double> curvature_of_all_rows(const Problem& problem);

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
