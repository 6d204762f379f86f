#include "solve/greedy.hpp"
#include "core/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "solve/atom_products.hpp"
#include "solve/device_problem.hpp"

namespace mfga {
namespace {

// A risk below this fraction of the initial one is rounding error: what is left has nothing to learn from.
constexpr double kRoundingFloor = 1e-13;

// Atoms that depend on those before them are left out.
void add_start(const Problem& problem, const ActiveSet& start, GrowingSet& set) {
  if (start.size() == 0) return;
  const std::vector<bool> accepted = set.independent.add(
      problem.device != nullptr
          ? problem.device->products(start.atoms)
          : atom_products(problem.rows, problem.targets, start.atoms, start.size(), problem.workers));
  set.active.intercepts = start.intercepts;
  for (std::size_t i = 0; i < accepted.size(); ++i) {
    if (!accepted[i]) continue;
    set.active.candidates.push_back(start.candidates[i]);
    set.active.atoms.push_back(start.atoms[i]);
    for (const double theta : start.theta_of(i)) set.active.theta.push_back(theta);
  }
  static_cast<void>(set.refit.solve(set.active));
}

}  // namespace

void archive(Archive& bytes, GreedyStep& step) {
  bytes(step.added, step.removed, step.risk, step.largest_gradient, step.ridge, step.seconds,
        step.newton_steps);
}

void archive(Archive& bytes, GreedyResult& result) {
  bytes(result.active, result.initial_risk, result.path, result.dependent, result.converged,
        result.seconds.gradient, result.seconds.products, result.seconds.refit, result.gradient_passes,
        result.search_is_cut, result.refine_is_cut);
}

bool has_possible_steps(const GreedyResult& result, Index candidates) {
  return are_candidates(result.dependent, candidates) &&
         std::ranges::all_of(result.path, [&](const GreedyStep& step) {
           return are_candidates(step.added, candidates) && are_candidates(step.removed, candidates);
         });
}

GreedyResult run_greedy(const Problem& problem, const Candidates& candidates, Engine& engine, Refit& refit,
                        const GreedyOptions& options, const StepCallback& on_step, const ActiveSet& start) {
  WorkClock clock;
  const double rows = problem.count();
  GreedyResult result;
  GrowingSet set(problem, refit);
  ActiveSet& active = set.active;
  active.intercepts = problem.best_constants();
  SelectionOptions selection = options.selection;
  selection.ridge = options.penalty.ridge;
  engine.begin_search();
  Selector selector(problem, candidates, engine, selection);
  Gradient gradient;

  ActiveSet kept;  // after the last step whose risk is known
  std::size_t steps_kept = 0;
  const Index most_terms = std::max(options.terms, start.size());
  const auto state = [&](Archive& bytes) {
    double seconds = clock.seconds();
    bytes(seconds, result, active, set.independent, kept, steps_kept);
    Archive::require(are_seconds(seconds));
    clock.advance_to(seconds);
    refit.archive(bytes);
    selector.archive(bytes);
    engine.archive(bytes);
    if (!bytes.is_loading()) return;
    Archive::require(has_possible_steps(result, candidates.size()) &&
                     is_possible(active, problem, candidates.size(), most_terms) &&
                     is_possible(kept, problem, candidates.size(), most_terms) &&
                     steps_kept <= result.path.size() && set.independent.is_of(active.size()) &&
                     refit.is_of(active.size()) && selector.is_of(active.size()));
  };
  if (options.journal == nullptr || !options.journal->resume_loop(state)) {
    add_start(problem, start, set);
    kept = active;
  }
  try {
    for (;;) {
      if (options.journal != nullptr) options.journal->in_loop(state);
      // Line 2: the gradient of the empirical risk at the current coefficients.
      const bool full = active.size() >= options.terms;
      auto phase_start = std::chrono::steady_clock::now();
      const double risk = (full ? engine.loss_sum(active) : selector.gradient(set, gradient)) / rows;
      if (!full) {
        result.seconds.gradient += seconds_since(phase_start);
        ++result.gradient_passes;
      }
      if (result.path.empty()) {
        result.initial_risk = risk;
      } else {
        result.path.back().risk = risk;
        result.path.back().seconds = clock.seconds();
      }
      kept = active;
      steps_kept = result.path.size();
      if (on_step && !result.path.empty()) on_step(result.path.back(), active);
      if (full || risk <= options.tolerance || risk <= kRoundingFloor * result.initial_risk) break;
      if (!result.path.empty() && is_over(options.deadline)) {
        result.search_is_cut = true;
        break;
      }

      // Line 3: the active set grows by the candidates with the largest gradient.
      GreedyStep step;
      phase_start = std::chrono::steady_clock::now();
      const Index wanted =
          std::min(atoms_of_step(options.per_step, active.size()), options.terms - active.size());
      step.added = selector.add(gradient, wanted, set, result.dependent);
      if (step.added.empty()) break;
      for (const double g : gradient.values)
        step.largest_gradient = std::max(step.largest_gradient, std::abs(g));
      step.largest_gradient /= rows;
      result.seconds.products += seconds_since(phase_start);

      // Line 4: all coefficients of the active set are fitted again.
      phase_start = std::chrono::steady_clock::now();
      const bool is_last = active.size() >= options.terms;
      const RefitReport report = refit.solve(active, is_last ? options.last : Accuracy::kRough);
      result.seconds.refit += seconds_since(phase_start);
      step.ridge = report.ridge;
      step.newton_steps = report.newton_steps;
      result.converged = result.converged && report.converged;
      result.path.push_back(std::move(step));
    }
    if (refit.can_be_rough() && active.size() > 0 && active.size() < options.terms) {
      const RefitReport report = refit.solve(active, options.last);
      result.converged = result.converged && report.converged;
      if (!result.path.empty()) result.path.back().risk = engine.loss_sum(active) / rows;
    }
  } catch (const OutOfTime&) {
    if (!options.keeps_what_there_is) throw;
    active = std::move(kept);
    result.path.resize(steps_kept);
    result.search_is_cut = true;
  }
  result.active = std::move(active);
  return result;
}

}  // namespace mfga
