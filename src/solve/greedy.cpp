#include "solve/greedy.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "mfga/error.hpp"
#include "solve/independent_atoms.hpp"
#include "solve/select.hpp"

namespace mfga {
namespace {

// A risk below this fraction of the initial one is rounding error: what is left has nothing to learn from.
constexpr double kRoundingFloor = 1e-13;

// Adds up to `count` candidates, largest gradient first; returns those added.
std::vector<Index> add_candidates(const Candidates& candidates, Engine& engine,
                                  std::span<const double> gradient, Index count, std::vector<bool>& excluded,
                                  IndependentAtoms& independent, GreedyResult& result) {
  std::vector<Index> added;
  while (static_cast<Index>(added.size()) < count) {
    const std::vector<Index> batch =
        largest_gradients(gradient, excluded, count - static_cast<Index>(added.size()));
    if (batch.empty() || gradient[static_cast<std::size_t>(batch.front())] == 0) break;
    const std::vector<bool> accepted = independent.add(engine.products(result.active, batch));
    for (std::size_t i = 0; i < batch.size(); ++i) {
      excluded[static_cast<std::size_t>(batch[i])] = true;
      if (!accepted[i]) {
        result.dependent.push_back(batch[i]);
        continue;
      }
      result.active.candidates.push_back(batch[i]);
      result.active.atoms.push_back(candidates.atom(batch[i]));
      added.push_back(batch[i]);
    }
  }
  return added;
}

}  // namespace

GreedyResult run_greedy(const Problem& problem, const Candidates& candidates, Engine& engine, Refit& refit,
                        const GreedyOptions& options, const StepCallback& on_step) {
  const auto start = std::chrono::steady_clock::now();
  const double rows = static_cast<double>(problem.rows.rows());
  GreedyResult result;
  if (problem.intercept == Intercept::kUnpenalised) {
    const double sum = std::accumulate(problem.targets.begin(), problem.targets.end(), 0.0);
    result.active.intercept = problem.loss.best_constant(sum / rows);
  }
  IndependentAtoms independent(problem, refit);
  std::vector<bool> excluded(static_cast<std::size_t>(candidates.size()));
  std::vector<double> gradient(static_cast<std::size_t>(candidates.size()));

  for (;;) {
    // Line 2: the gradient of the empirical risk at the current coefficients.
    const bool full = result.active.size() >= options.terms;
    const double risk =
        (full ? engine.loss_sum(result.active) : engine.gradient(result.active, gradient)) / rows;
    if (result.path.empty()) {
      result.initial_risk = risk;
    } else {
      result.path.back().risk = risk;
      result.path.back().seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (on_step && !on_step(result.path.back(), result.active)) {
        throw Error(ErrorKind::kInterrupted, "training was interrupted");
      }
    }
    if (full || risk <= options.tolerance || risk <= kRoundingFloor * result.initial_risk) break;

    // Line 3: the active set grows by the candidates with the largest gradient.
    GreedyStep step;
    for (const double g : gradient)
      step.largest_gradient = std::max(step.largest_gradient, std::abs(g) / rows);
    step.added = add_candidates(candidates, engine, gradient,
                                std::min(options.per_step, options.terms - result.active.size()), excluded,
                                independent, result);
    if (step.added.empty()) break;

    // Line 4: all coefficients of the active set are fitted again.
    const RefitReport report = refit.solve(result.active);
    step.ridge = report.ridge;
    step.newton_steps = report.newton_steps;
    result.converged = result.converged && report.converged;
    result.path.push_back(std::move(step));
  }
  return result;
}

}  // namespace mfga
