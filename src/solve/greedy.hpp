// Multi Feature Greedy Approximation, Algorithm 1 of the paper.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/deadline.hpp"
#include "core/journal.hpp"
#include "solve/engine.hpp"
#include "solve/refit.hpp"
#include "solve/selector.hpp"

namespace mfga {

struct GreedyOptions {
  Index terms = 1;       // M
  Index per_step = 1;    // atoms added per step; 0: see atoms_of_step
  double tolerance = 0;  // stop when the risk (mean loss) is at most this
  Penalty penalty;
  SelectionOptions selection = {};
  Deadline deadline = kNever;        // from then on the search has no further step than the first
  bool keeps_what_there_is = false;  // where it is stopped (OutOfTime) it ends with the steps made so far
  Accuracy last = Accuracy::kFull;   // of the coefficients after the last step
  Journal* journal = nullptr;        // of which this search is a unit
};

// How many the next step adds to so many atoms. Where it is not said: the first ones one by one, for each
// says much and the others build on it; of many, some at a time, for a pass over all candidates has more than
// one good one to offer.
[[nodiscard]] inline Index atoms_of_step(Index per_step, Index atoms) {
  constexpr Index kAtomsForOneMore = 10;
  return per_step > 0 ? per_step : 1 + atoms / kAtomsForOneMore;
}

struct GreedyStep {
  std::vector<Index> added;     // candidates that joined the active set
  std::vector<Index> removed;   // and that left it (refine, hard thresholding)
  double risk = 0;              // mean loss after the refit
  double largest_gradient = 0;  // of the risk, before the step
  double ridge = 0;             // the ridge, or the multiplier of the norm bound
  double seconds = 0;           // since the beginning
  int newton_steps = 0;
};

void archive(Archive& bytes, GreedyStep& step);

// Where the time went.
struct GreedySeconds {
  double gradient = 0;  // line 2
  double products = 0;  // line 3: selection, and the products of the atoms chosen
  double refit = 0;     // line 4
};

struct GreedyResult {
  ActiveSet active;
  double initial_risk = 0;  // of the best constant, or of zero without an intercept
  std::vector<GreedyStep> path;
  std::vector<Index> dependent;  // candidates skipped because others already span them
  bool converged = true;         // whether every refit did
  GreedySeconds seconds;
  Index gradient_passes = 0;
  bool search_is_cut = false;    // it was ended before it was done
  bool refine_is_cut = false;    // and the swaps of refine
  std::unique_ptr<Refit> refit;  // of the active set, if it is another one than the search was given
};

// But for the refit, which has an archive of its own.
void archive(Archive& bytes, GreedyResult& result);
// Whether the steps of one from a file can be those of a search among so many candidates.
[[nodiscard]] bool has_possible_steps(const GreedyResult& result, Index candidates);

// Called after each step; what it throws ends the search.
using StepCallback = std::function<void(const GreedyStep& step, const ActiveSet& active)>;

// `start` has atoms that are in the set from the beginning, with their coefficients; they need not be
// candidates (those that are not have the number -1). The engine must be one that looks at the rows.
[[nodiscard]] GreedyResult run_greedy(const Problem& problem, const Candidates& candidates, Engine& engine,
                                      Refit& refit, const GreedyOptions& options, const StepCallback& on_step,
                                      const ActiveSet& start = {});

}  // namespace mfga
