#include "solve/set_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mfga/error.hpp"
#include "solve/known_products.hpp"
#include "solve/select.hpp"

namespace mfga {
namespace {

// A smaller decrease of the objective than this part of it is not worth another round.
constexpr double kWorthwhile = 1e-6;

std::vector<Index> sorted(std::vector<Index> list) {
  std::sort(list.begin(), list.end());
  return list;
}

// The entries of `list` that are not in `other`, in their order.
std::vector<Index> without(const std::vector<Index>& list, const std::vector<Index>& other) {
  const std::vector<Index> excluded = sorted(other);
  std::vector<Index> result;
  std::copy_if(list.begin(), list.end(), std::back_inserter(result), [&](Index candidate) {
    return !std::binary_search(excluded.begin(), excluded.end(), candidate);
  });
  return result;
}

// A set of atoms with its coefficients.
struct FittedSet {
  ActiveSet active;
  std::unique_ptr<Refit> refit;
  RefitReport report;
  double loss = 0;
  double objective = 0;
};

// What both searches share: fitting sets and recording the steps from one to the next.
class SetSearch {
 public:
  SetSearch(const Problem& problem, const Candidates& candidates, Engine& engine,
            const RefitFactory& make_refit, const GreedyOptions& options, const StepCallback& on_step,
            GreedyResult& result)
      : problem_(problem),
        candidates_(candidates),
        engine_(engine),
        make_refit_(make_refit),
        options_(options),
        on_step_(on_step),
        result_(result),
        known_(candidates, engine),
        selector_(problem, candidates, engine, selection_of(options)) {}

  // The listed candidates; coefficients start from those of `start`.
  [[nodiscard]] FittedSet fitted(const std::vector<Index>& list, const ActiveSet& start) {
    FittedSet set;
    set.refit = make_refit_();
    GrowingSet growing(problem_, *set.refit);
    add_known(list, start, growing);
    set.active = std::move(growing.active);
    if (list.empty()) {
      set.loss = set.objective = engine_.loss_sum(set.active);
    } else {
      solve(set);
    }
    return set;
  }

  // `list` and up to `count` more, by the rule of the options.
  [[nodiscard]] FittedSet extended(const std::vector<Index>& list, const ActiveSet& start, Index count) {
    FittedSet set;
    set.refit = make_refit_();
    GrowingSet growing(problem_, *set.refit);
    add_known(list, start, growing);
    static_cast<void>(set.refit->solve(growing.active));
    Gradient gradient;
    static_cast<void>(engine_.gradient(growing.active, gradient));
    ++result_.gradient_passes;
    constexpr Index kPerAtom = 3;
    constexpr Index kFewest = 16;
    selector_.restart(growing.active.candidates,
                      std::max(options_.selection.shortlist, kPerAtom * count + kFewest));
    static_cast<void>(selector_.add(gradient, count, growing, result_.dependent));
    set.active = std::move(growing.active);
    solve(set);
    return set;
  }

  // Whether the second set is better by so much that it is worth going on.
  [[nodiscard]] static bool improves(const FittedSet& set, const FittedSet& next) {
    return next.objective < set.objective - kWorthwhile * std::abs(set.objective);
  }

  // Of the set, and of what was found out on the way to it.
  void archive(Archive& bytes, FittedSet& set) {
    bytes(result_, set.active, set.report.ridge, set.report.loss_sum, set.report.newton_steps,
          set.report.converged, set.loss, set.objective);
    if (bytes.is_loading()) set.refit = make_refit_();
    set.refit->archive(bytes);
    known_.archive(bytes, problem_.target_columns());
    engine_.archive(bytes);
    if (!bytes.is_loading()) return;
    Archive::require(has_possible_steps(result_, candidates_.size()) &&
                     is_possible(set.active, problem_, candidates_.size(), options_.terms) &&
                     are_candidates(set.active.candidates, candidates_.size()) &&
                     set.refit->is_of(set.active.size()));
  }

  void record(const ActiveSet& before, const FittedSet& set, double largest_gradient) {
    GreedyStep step;
    step.added = without(set.active.candidates, before.candidates);
    step.removed = without(before.candidates, set.active.candidates);
    step.risk = set.loss / problem_.count();
    step.largest_gradient = largest_gradient / problem_.count();
    step.ridge = set.report.ridge;
    step.newton_steps = set.report.newton_steps;
    step.seconds = earlier_seconds_ + seconds_since(start_);
    result_.path.push_back(std::move(step));
    if (on_step_) on_step_(result_.path.back(), set.active);
  }

 private:
  static SelectionOptions selection_of(const GreedyOptions& options) {
    SelectionOptions selection = options.selection;
    selection.ridge = options.penalty.ridge;
    selection.exact_gain = false;
    return selection;
  }

  void add_known(const std::vector<Index>& list, const ActiveSet& start, GrowingSet& set) {
    const std::vector<bool> accepted = set.independent.add(known_.of(list));
    set.active.intercepts = start.intercepts;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!accepted[i]) continue;
      const auto place = std::find(start.candidates.begin(), start.candidates.end(), list[i]);
      const auto position = static_cast<std::size_t>(place - start.candidates.begin());
      set.active.candidates.push_back(list[i]);
      set.active.atoms.push_back(candidates_.atom(list[i]));
      const bool is_there = position < start.candidates.size() && !start.theta.empty();
      for (std::size_t k = 0; k < start.outputs(); ++k)
        set.active.theta.push_back(is_there ? start.theta_of(position)[k] : 0);
    }
  }

  void solve(FittedSet& set) {
    set.report = set.refit->solve(set.active);
    result_.converged = result_.converged && set.report.converged;
    set.loss = set.report.loss_sum ? *set.report.loss_sum : engine_.loss_sum(set.active);
    set.objective = set.loss;
    if (options_.penalty.norm_bound > 0) return;  // the bound holds for every set
    for (const double theta : set.active.theta)
      set.objective += options_.penalty.ridge * problem_.cost.value(theta);
  }

  Problem problem_;
  const Candidates& candidates_;
  Engine& engine_;
  const RefitFactory& make_refit_;
  const GreedyOptions& options_;
  const StepCallback& on_step_;
  GreedyResult& result_;
  KnownProducts known_;
  Selector selector_;
  Clock::time_point start_ = Clock::now();
  double earlier_seconds_ = result_.path.empty() ? 0 : result_.path.back().seconds;
};

// Positions of the set's atoms, from the one that the objective would miss least on.
std::vector<std::size_t> by_usefulness(const FittedSet& set) {
  const std::vector<double> costs = set.refit->drop_costs(set.active);
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a] < costs[b]; });
  return order;
}

// The candidates of the set without those at the positions order[first, first + count).
std::vector<Index> rest(const FittedSet& set, const std::vector<std::size_t>& order, Index first,
                        Index count) {
  std::vector<bool> dropped(order.size());
  for (Index i = first; i < first + count; ++i) dropped[order[static_cast<std::size_t>(i)]] = true;
  std::vector<Index> result;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!dropped[i]) result.push_back(set.active.candidates[i]);
  }
  return result;
}

}  // namespace

void refine(const Problem& problem, const Candidates& candidates, Engine& engine,
            const RefitFactory& make_refit, const GreedyOptions& options, const StepCallback& on_step,
            GreedyResult& result) {
  if (result.active.size() == 0) return;
  SetSearch search(problem, candidates, engine, make_refit, options, on_step, result);
  constexpr Index kFirstPart = 4;    // one in so many terms is swapped at first
  constexpr Index kMostSingles = 8;  // of the least useful terms, that are tried one by one in the end
  constexpr int kMostRounds = 200;
  FittedSet set;
  Index swaps = 0;
  Index first = 0;  // of those dropped, in the order of usefulness
  std::vector<std::size_t> order;
  std::size_t steps = result.path.size();
  int round = 0;
  const auto state = [&](Archive& bytes) {
    search.archive(bytes, set);
    bytes(swaps, first, order, steps, round);
    if (!bytes.is_loading()) return;
    std::vector<std::size_t> places = order;
    std::ranges::sort(places);
    const Index size = set.active.size();
    Archive::require(std::ssize(order) == size && swaps >= 1 && first >= 0 &&
                     first <= size - std::min(swaps, size) && steps <= result.path.size() && round >= 0);
    for (std::size_t i = 0; i < places.size(); ++i) Archive::require(places[i] == i);
  };
  if (options.journal == nullptr || !options.journal->resume_loop(state)) {
    set = search.fitted(result.active.candidates, result.active);
    swaps = std::max<Index>(1, set.active.size() / kFirstPart);
    order = by_usefulness(set);
  }
  try {
    for (; round < kMostRounds; ++round) {
      if (options.journal != nullptr) options.journal->in_loop(state);
      if (is_over(options.deadline)) {
        result.refine_is_cut = true;
        break;
      }
      swaps = std::min(swaps, set.active.size());
      FittedSet next = search.extended(rest(set, order, first, swaps), set.active, swaps);
      if (SetSearch::improves(set, next)) {
        search.record(set.active, next, 0);
        set = std::move(next);
        steps = result.path.size();
        order = by_usefulness(set);
        first = 0;
      } else if (swaps > 1) {
        swaps /= 2;
      } else if (++first >= std::min(kMostSingles, set.active.size())) {
        break;
      }
    }
  } catch (const OutOfTime&) {
    if (!options.keeps_what_there_is) throw;
    result.path.resize(steps);
    result.refine_is_cut = true;
  }
  result.active = std::move(set.active);
  result.refit = std::move(set.refit);
}

GreedyResult run_hard_thresholding(const Problem& problem, const Candidates& candidates, Engine& engine,
                                   const RefitFactory& make_refit, const GreedyOptions& options,
                                   const StepCallback& on_step) {
  GreedyResult result;
  engine.begin_search();
  SetSearch search(problem, candidates, engine, make_refit, options, on_step, result);
  ActiveSet nothing;
  nothing.intercepts = problem.best_constants();
  FittedSet set;
  std::size_t steps = 0;
  int iteration = 0;
  const auto state = [&](Archive& bytes) {
    search.archive(bytes, set);
    bytes(steps, iteration);
    if (bytes.is_loading()) Archive::require(steps <= result.path.size() && iteration >= 0);
  };
  if (options.journal == nullptr || !options.journal->resume_loop(state)) {
    set = search.fitted({}, nothing);
    result.initial_risk = set.loss / problem.count();
  }
  // The curvature of the objective along one atom of unit norm, where nothing has been learnt.
  const double whole_step = 1 / (problem.count() * mean_curvature(problem, nothing.intercepts));
  std::vector<bool> excluded;
  for (Index j = 0; j < candidates.size(); ++j) excluded.push_back(candidates.is_constant(j));

  constexpr int kMostIterations = 100;
  try {
    for (; iteration < kMostIterations; ++iteration) {
      if (options.journal != nullptr) options.journal->in_loop(state);
      Gradient gradient;
      static_cast<void>(engine.gradient(set.active, gradient));
      if (!gradient.exact()) engine.exact_gradient(set.active, gradient);
      ++result.gradient_passes;
      double largest = 0;
      for (const double g : gradient.values) largest = std::max(largest, std::abs(g));
      bool improved = false;
      constexpr double kSmallestStep = 1.0 / 64;
      for (double part = 1; part >= kSmallestStep && !improved; part /= 2) {
        std::vector<double> moved;
        for (const double g : gradient.values) moved.push_back(-part * whole_step * g);
        for (std::size_t i = 0; i < set.active.theta.size(); ++i)
          moved[static_cast<std::size_t>(set.active.candidates[i])] += set.active.theta[i];
        const std::vector<Index> list = largest_gradients(moved, excluded, options.terms);
        if (sorted(list) == sorted(set.active.candidates)) break;
        FittedSet next = search.fitted(list, set.active);
        if (!SetSearch::improves(set, next)) continue;
        search.record(set.active, next, largest);
        set = std::move(next);
        steps = result.path.size();
        improved = true;
      }
      if (!improved) break;
      if (is_over(options.deadline)) {
        result.search_is_cut = true;
        break;
      }
    }
  } catch (const OutOfTime&) {
    if (!options.keeps_what_there_is) throw;
    result.path.resize(steps);
    result.search_is_cut = true;
  }
  result.active = std::move(set.active);
  result.refit = std::move(set.refit);
  return result;
}

}  // namespace mfga
