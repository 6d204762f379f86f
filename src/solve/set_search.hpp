// Searches over whole sets of atoms, beside the greedy one that only adds: refinement of a set by swaps, and
// hard thresholding pursuit. Both need candidates of unit norm (Candidates::normalise) to compare atoms
// fairly.
#pragma once

#include <functional>
#include <memory>

#include "solve/greedy.hpp"

namespace mfga {

using RefitFactory = std::function<std::unique_ptr<Refit>()>;

// Drops the atoms that the objective misses least and adds as many better ones, until nothing improves: many
// at a time first, then fewer. The objective of the result is never larger. Steps are appended to the path.
void refine(const Problem& problem, const Candidates& candidates, Engine& engine,
            const RefitFactory& make_refit, const GreedyOptions& options, const StepCallback& on_step,
            GreedyResult& result);

// Hard thresholding pursuit (Foucart 2011): a gradient step on the coefficients of all candidates, of which
// the options.terms largest stay and are fitted again; the step is halved until the objective decreases. Ends
// when it does not, or when the set stays the same.
[[nodiscard]] GreedyResult run_hard_thresholding(const Problem& problem, const Candidates& candidates,
                                                 Engine& engine, const RefitFactory& make_refit,
                                                 const GreedyOptions& options, const StepCallback& on_step);

}  // namespace mfga
