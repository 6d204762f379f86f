// Selection and tuning in turns: a few atoms are selected for what the model does not explain yet, all are
// tuned, the next few are selected with the inputs as they are stretched now, and so on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "features/neighbour_width.hpp"
#include "solve/greedy.hpp"
#include "solve/tune.hpp"

namespace mfga {

struct TunedSearchOptions {
  const Dictionary& dictionary;
  GreedyOptions greedy;  // the terms in all, and the ridge
  Precision precision = Precision::kMixed;
  std::uint64_t seed = 0;
  bool normalise = false;              // candidates at unit norm
  std::vector<Index> round_ends = {};  // numbers of terms after each round; the last is that of the model
  int most_steps = 100;                // of each tuning
  double pull = 1;                     // see TuneOptions
  std::span<const Index> text_columns = {};  // see CandidateContext
  // From then on terms are only selected, and nothing is tried that can be left out.
  Deadline deadline = kNever;
  // And from then on nothing at all is done: OutOfTime is thrown.
  Deadline end = kNever;
  WidthRule width_rule = WidthRule::kAutomatic;  // of kernels without a width of their own
  double most_kept_bytes = kMostKeptBytes;       // see make_lazy_engine
  // A race tries less: ridges from the present one on while held-out rows gain, instead of all. Terms are
  // selected for the ridge that the first round was best with, and for a larger one where a round makes
  // held-out rows worse; if that does not help, there are no further rounds.
  bool is_race = false;
  // The number of terms is to be found: rounds end where two have brought nothing.
  bool chooses_size = false;

  [[nodiscard]] bool is_late() const { return is_over(deadline); }
};

// One round: terms are added, and all are tuned.
struct TuningRound {
  Index wanted = 0;         // terms after it; there may be fewer
  Index terms = 0;          // that there are after it
  double select_ridge = 0;  // of the objective that the terms were selected for
  double ridge = 0;         // and that all were tuned for
  int steps = 0;
  double risk = 0;      // mean loss of the rows learned from, after it
  double held_out = 0;  // and of the held-out rows, if there are any
  double seconds = 0;   // since the search began
};

// What a model is after a round.
struct TunedState {
  ActiveSet active;
  std::vector<double> stretch;
  double ridge = 0;
};

struct TunedModel {
  ActiveSet active;
  std::vector<double> stretch;  // of each input
  double ridge = 0;
  bool stretches_inputs = true;  // or only atoms are moved
  bool is_enough = false;        // a further round made held-out rows worse
  // Of the candidates that were selected from at last; see Candidates.
  Index candidates = 0;
  std::vector<double> sigmas;
  std::vector<double> kernel_weights;
  std::vector<TuningRound> rounds;
  std::vector<std::shared_ptr<const TunedState>> states;  // after each of them
  // As it was when the terms of its first round were selected, and not yet tuned: for searches that begin so.
  std::shared_ptr<const TunedModel> begun;

  // As it was after so many rounds.
  [[nodiscard]] TunedModel after(std::size_t count) const;
  // Mean loss of the held-out rows of all folds.
  [[nodiscard]] double held_out() const { return rounds.back().held_out; }
  // The rows as its terms see them.
  [[nodiscard]] BlockedRows seen(const BlockedRows& rows) const { return rows.stretched(stretch); }
};
void archive(Archive& bytes, TunedModel& model);
// Whether one from a file can be a model of the problem with at most so many terms.
[[nodiscard]] bool is_possible(const TunedModel& model, const Problem& problem, Index terms);

struct HeldOutRows {
  const BlockedRows& rows;
  std::span<const double> targets;
};

// Rows to learn from, and others to ask.
struct TuningFold {
  Problem problem;
  std::optional<HeldOutRows> held_out;

  // Of those, seen as `seen`.
  [[nodiscard]] Problem held_out_problem(const BlockedRows& seen) const {
    return problem.with_rows(seen, held_out->targets);
  }
};

// And those of several folds: with the same rounds, and at least one.
[[nodiscard]] bool are_possible(std::span<const TunedModel> models, std::span<const TuningFold> folds,
                                Index terms);

// Called now and then; what it throws ends the search.
using TunedSearchCallback = std::function<void(Index terms, int tuning_step, double risk)>;

// The same search in every fold, with held-out rows: all of them together say how far every tuning goes, and
// with which ridge. The first round, which decides most, is tried with every other one of the ridges. Returns
// the models of the folds, with the same rounds and ridges, after two rounds.
[[nodiscard]] std::vector<TunedModel> begin_tuned(std::span<const TuningFold> folds,
                                                  std::span<const double> ridges,
                                                  const TunedSearchOptions& options,
                                                  const TunedSearchCallback& on_step);
// The other rounds, and, if that turns out better, all of them again with inputs as they are: many stretches
// can follow the noise.
[[nodiscard]] std::vector<TunedModel> complete_tuned(std::span<const TuningFold> folds,
                                                     std::vector<TunedModel> begun,
                                                     std::span<const double> ridges,
                                                     const TunedSearchOptions& options,
                                                     const TunedSearchCallback& on_step);
// For a race: without terms yet, ...
[[nodiscard]] std::vector<TunedModel> nothing_tuned(std::span<const TuningFold> folds, double ridge,
                                                    bool stretches_inputs);
// ... or with those of the first round of these, which are not tuned yet, ...
[[nodiscard]] std::vector<TunedModel> begun_again(std::span<const TunedModel> models, bool stretches_inputs);
// ... the first round, its terms selected for the one of these ridges that is best before tuning, ...
[[nodiscard]] std::vector<TunedModel> first_tuned_round(std::span<const TuningFold> folds,
                                                        std::span<const double> select_ridges,
                                                        std::span<const double> ridges,
                                                        const TunedSearchOptions& options,
                                                        const TunedSearchCallback& on_step);
// ... and rounds until there are so many, or all terms.
[[nodiscard]] std::vector<TunedModel> with_rounds(std::span<const TuningFold> folds,
                                                  std::vector<TunedModel> models, std::size_t rounds,
                                                  std::span<const double> ridges,
                                                  const TunedSearchOptions& options,
                                                  const TunedSearchCallback& on_step);
// The same search without tuning, all terms in one round, or, where there are several rounds, in those:
// held-out rows choose the ridge of the selection and that of the coefficients.
[[nodiscard]] std::vector<TunedModel> select_untuned(std::span<const TuningFold> folds,
                                                     std::span<const double> select_ridges,
                                                     std::span<const double> ridges,
                                                     const TunedSearchOptions& options,
                                                     const TunedSearchCallback& on_step);
// From terms that were selected already.
[[nodiscard]] std::vector<TunedModel> select_untuned(std::span<const TuningFold> folds,
                                                     std::vector<TunedModel> begun,
                                                     std::span<const double> ridges,
                                                     const TunedSearchOptions& options,
                                                     const TunedSearchCallback& on_step);
// The loss of each held-out row, fold after fold, and its weight (none: 1).
struct HeldOutLosses {
  std::vector<double> losses;
  std::vector<double> weights;
};
[[nodiscard]] HeldOutLosses held_out_losses(std::span<const TuningFold> folds,
                                            std::span<const TunedModel> models);
[[nodiscard]] PairedLosses paired_losses(const HeldOutLosses& first, const HeldOutLosses& second);
// Whether held-out rows tell that the first ones are worse: by more than two standard errors of the
// difference, row by row.
[[nodiscard]] bool are_clearly_worse(std::span<const TuningFold> folds, std::span<const TunedModel> models,
                                     std::span<const TunedModel> others);
// All terms selected from all rows, with the ridge of the options, and none of them tuned.
[[nodiscard]] TunedModel select_all(const Problem& problem, const TunedSearchOptions& options,
                                    const TunedSearchCallback& on_step);
// Every tuning has options.most_steps.
[[nodiscard]] TunedModel tune_in_rounds(const Problem& problem, const TunedSearchOptions& options,
                                        const TunedSearchCallback& on_step);
// With more rows than those that the model was found with: the same rounds again, with twice as many steps,
// or, if that leads to a place that explains them worse than the model does, a few more steps from there.
[[nodiscard]] TunedModel with_all_rows(const Problem& problem, const TunedModel& found,
                                       const TunedSearchOptions& options, const TunedSearchCallback& on_step);
// A few more steps of all terms, on these rows.
[[nodiscard]] TunedModel tuned_further(const Problem& problem, TunedModel model, int steps,
                                       const TunedSearchOptions& options, const TunedSearchCallback& on_step);

}  // namespace mfga
