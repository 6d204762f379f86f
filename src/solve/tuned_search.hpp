// Selection and tuning in turns: a few atoms are selected for what the model does not explain yet, all are
// tuned, the next few are selected with the inputs as they are stretched now, and so on. Held-out rows say how
// far each tuning goes, which ridge suits, and whether the inputs are to be stretched at all.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "solve/greedy.hpp"
#include "solve/tune.hpp"

namespace mfga {

// Rows that are learned from, with what the candidates are made of.
struct TunedSearchOptions {
  const Dictionary& dictionary;
  GreedyOptions greedy;             // the terms in all; its ridge is the first one
  Precision precision = Precision::kMixed;
  std::uint64_t seed = 0;
  bool normalise = false;           // candidates at unit norm
  Index terms_per_round = 1;
  int most_steps = 100;             // of each tuning
  double pull = 1;
};

// One round: what is added and how far it is tuned. With held-out rows this is found out, without it is done
// again.
struct TuningRound {
  Index terms = 0;  // after it
  double ridge = 0;
  int steps = 0;
  double risk = 0;             // mean loss of the rows learned from, after it
  double held_out_before = 0;  // mean loss of the held-out rows before and after the tuning
  double held_out_after = 0;
  double seconds = 0;  // since the search began
};

// What a search decided.
struct TuningPlan {
  std::vector<double> stretch;  // of each input, at the beginning
  std::vector<TuningRound> rounds;
  double ridge = 0;  // of the coefficients in the end
};

struct TunedSearchResult {
  ActiveSet active;
  std::vector<double> stretch;  // of each input
  TuningPlan plan;
  double held_out = 0;  // mean loss of the held-out rows at the end
};

struct HeldOutRows {
  const BlockedRows& rows;
  std::span<const double> targets;
};

// Called now and then; returning false ends the search with Error(kInterrupted).
using TunedSearchCallback = std::function<bool(Index terms, int tuning_step, double risk)>;

// The search that finds a plan; `ridges` to choose from.
[[nodiscard]] TunedSearchResult find_tuned(const Problem& problem, const HeldOutRows& held_out,
                                           std::span<const double> ridges, const TunedSearchOptions& options,
                                           const TunedSearchCallback& on_step);
// The same plan with other rows.
[[nodiscard]] TunedSearchResult repeat_tuned(const Problem& problem, const TuningPlan& plan,
                                             const TunedSearchOptions& options,
                                             const TunedSearchCallback& on_step);

}  // namespace mfga
