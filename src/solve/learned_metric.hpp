// A metric of the inputs, learned before the final selection: a model is fitted, the mean outer product of
// its gradients says which inputs, or which combinations of them, it depends on, the inputs are stretched, or
// mixed, accordingly, and a model is fitted again (recursive feature machines, Radhakrishnan et al. 2024).
// This goes on while held-out rows gain by it.
#pragma once

#include "solve/tuned_search.hpp"

namespace mfga {

struct LearnedMetric {
  Matrix mixing;   // [inputs x inputs]; diagonal if only the lengths of inputs were learned
  int rounds = 0;  // 0: it is the identity, for nothing did better
};

[[nodiscard]] LearnedMetric learn_metric(const Problem& problem, const HeldOutRows& held_out, Metric kind,
                                         std::span<const double> ridges, const TunedSearchOptions& options,
                                         const TunedSearchCallback& on_step);

}  // namespace mfga
