// k-fold cross-validation of the ridge and the number of terms.
//
// For the squared loss nothing is ever fitted to rows: one pass accumulates the GramSums of every fold, the
// training rows of a fold are the sums of all other folds together, and the loss of its held-out rows follows
// from its own sums. Other fits are done one after the other, on the rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mfga/cross_validation.hpp"
#include "mfga/options.hpp"
#include "solve/engine.hpp"
#include "solve/greedy.hpp"

namespace mfga {

// Rows that are to be divided, and what must be kept in mind.
struct DividedRows {
  Index count = 0;
  std::span<const Index> groups = {};    // rows of one group stay together; empty: each row is one
  std::span<const double> classes = {};  // every fold has about the same part of each; empty: there are none
  bool in_time_order = false;            // rows learned from come before those that are held out
};

// Rows dealt out to folds in a random order; or, in the order of time, runs of rows, the last ones first.
class Folds {
 public:
  Folds(Index rows, Index folds, std::uint64_t seed)
      : Folds(DividedRows{rows}, CrossValidationOptions{folds}, seed) {}
  // The options may want some of the rows only, or not all folds to be held out.
  Folds(const DividedRows& rows, const CrossValidationOptions& options, std::uint64_t seed);

  // How many folds are held out, the first ones; and how many there are.
  [[nodiscard]] Index count() const { return used_; }
  [[nodiscard]] Index groups() const { return static_cast<Index>(held_out_.size()); }
  [[nodiscard]] bool have_all_rows() const { return all_rows_; }
  [[nodiscard]] const std::vector<Index>& held_out(Index fold) const {
    return held_out_[static_cast<std::size_t>(fold)];
  }
  // The rows of all other folds, fold after fold, or if they are many in the order of the table; in the order
  // of time, of those before it.
  [[nodiscard]] std::vector<Index> training(Index fold) const;
  [[nodiscard]] bool is_learned_from(Index other, Index fold) const {
    return in_time_order_ ? other > fold : other != fold;
  }
  // One of the folds that nothing is chosen with, so that it can judge: the last rows, in the order of time.
  [[nodiscard]] const std::vector<Index>& judge() const {
    return in_time_order_ ? held_out_.front() : held_out_.back();
  }
  // The others, of which so many are held out.
  [[nodiscard]] Folds without_judge(Index used) const;
  // The same, of which so many are held out.
  [[nodiscard]] Folds with_used(Index used) const {
    Folds result = *this;
    result.used_ = used;
    return result;
  }
  // All rows, fold after fold.
  [[nodiscard]] std::vector<Index> all() const;

 private:
  void deal_groups(std::span<const Index> groups, std::span<const Index> order);

  std::vector<std::vector<Index>> held_out_;
  Index used_;
  bool all_rows_;
  bool in_time_order_;
  bool in_order_of_table_ = false;
};

// The entries of `values` that stand for these rows.
[[nodiscard]] std::vector<double> values_of(std::span<const double> values, std::span<const Index> rows,
                                            Index columns = 1);

// Mean losses of the held-out rows of each fold: [ridges x steps of the path].
using FoldLosses = std::vector<Matrix>;
// Told the part that is done, from one thread at a time.
using PartDone = std::function<void(double)>;

// The losses of one path, step by step.
class PathLosses {
 public:
  PathLosses(double* out, Index steps) : begin_(out), next_(out), end_(out + steps) {}
  void add(double loss) {
    if (next_ != end_) *next_++ = loss;
  }
  // A path that ended early keeps its last model. `loss_without_steps` is that of a fit that had no steps.
  template <class Loss>
  void finish(Loss loss_without_steps) {
    if (next_ != end_) std::fill(next_, end_, next_ != begin_ ? next_[-1] : loss_without_steps());
  }

 private:
  double* begin_;
  double* next_;
  double* end_;
};

// The sums of every fold, in one pass.
[[nodiscard]] std::vector<std::shared_ptr<const GramSums>> gram_sums_of_folds(const Problem& problem,
                                                                              const Candidates& candidates,
                                                                              const Folds& folds,
                                                                              const PartDone& on_part);
// Greedy paths for every fold and ridge from those, in parallel. Squared loss, no norm bound.
[[nodiscard]] FoldLosses gram_path_losses(const Problem& problem, const Candidates& candidates,
                                          const Folds& folds,
                                          const std::vector<std::shared_ptr<const GramSums>>& sums,
                                          std::span<const double> ridges, const GreedyOptions& options,
                                          const PartDone& on_part);
// One fold of those: what is learned from and what is asked. A path looks at the sums, but asks its problem
// how many rows there are, and for their targets.
struct GramFold {
  Problem training;
  std::vector<std::shared_ptr<const GramSums>> learned_from;
  std::shared_ptr<const GramSums> held_out;
};
[[nodiscard]] FoldLosses gram_path_losses(std::span<const GramFold> folds, const Candidates& candidates,
                                          std::span<const double> ridges, const GreedyOptions& options,
                                          const PartDone& on_part);
// What both need, with the sums in memory while `threads` paths are at work.
[[nodiscard]] EngineCost gram_validation_cost(const ProblemSize& size, const CrossValidationOptions& options,
                                              double threads);

// Fits of the lazy engine, one after the other, and the fit of all rows.
[[nodiscard]] EngineCost lazy_validation_cost(const ProblemSize& size, const CrossValidationOptions& options);

// The numbers of terms after each step of a path.
[[nodiscard]] std::vector<Index> path_terms(Index terms, Index per_step);
// And how many these are.
[[nodiscard]] Index path_steps(Index terms, Index per_step);

// Sets the means, their errors, and the choices. An error is a loss times `unit`. `choose`: how the number of
// terms is chosen; nothing: it is the last one.
void summarise(const FoldLosses& losses, double unit, std::optional<SizeChoice> choose,
               CrossValidation& result);

}  // namespace mfga
