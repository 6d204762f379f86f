#include "solve/greedy.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "mfga/error.hpp"
#include "solve/growing_cholesky.hpp"
#include "solve/select.hpp"

namespace mfga {
namespace {

// An atom whose values are explained by the others up to this fraction of their square norm is dependent.
constexpr double kDependenceTolerance = 1e-9;
// A risk below this fraction of the initial one is rounding error: what is left has nothing to learn from.
constexpr double kRoundingFloor = 1e-13;

// Grows the active set by independent atoms only, using one factor of the Gram matrix without a ridge.
class ActiveSetBuilder {
 public:
  ActiveSetBuilder(const Problem& problem, Engine& engine, Refit& refit)
      : problem_(problem),
        engine_(engine),
        refit_(refit),
        has_intercept_(problem.intercept == Intercept::kUnpenalised),
        excluded_(static_cast<std::size_t>(problem.candidates.size())) {
    const double rows = static_cast<double>(problem.rows.rows());
    if (has_intercept_ && !independent_.append({&rows, 1}, 0)) {
      throw Error(ErrorKind::kBadData, "there are no rows to learn from");
    }
  }

  // Adds up to `count` atoms, best gradient first; returns those added.
  std::vector<Index> add(std::span<const double> gradient, Index count, GreedyResult& result) {
    std::vector<Index> added;
    while (static_cast<Index>(added.size()) < count) {
      const std::vector<Index> batch =
          largest_gradients(gradient, excluded_, count - static_cast<Index>(added.size()));
      if (batch.empty() || at(gradient, batch.front()) == 0) break;
      const Matrix products = engine_.products(result.active, batch);
      const Index active_before = result.active.size();
      std::vector<Index> accepted;  // positions in the batch
      for (Index i = 0; i < products.rows; ++i) {
        const Index candidate = batch[static_cast<std::size_t>(i)];
        excluded_[static_cast<std::size_t>(candidate)] = true;
        // The atom's products with 1, y, the active atoms, those accepted from this batch, and itself.
        std::vector<double> row(products.row(i), products.row(i) + 2 + active_before);
        for (const Index j : accepted) row.push_back(products(i, 2 + active_before + j));
        row.push_back(products(i, 2 + active_before + i));
        if (!is_independent(row)) {
          result.dependent.push_back(candidate);
          continue;
        }
        accepted.push_back(i);
        refit_.append(row);
        result.active.candidates.push_back(candidate);
        result.active.atoms.push_back(problem_.candidates.atom(candidate));
        added.push_back(candidate);
      }
    }
    return added;
  }

 private:
  bool is_independent(std::span<const double> products) {
    std::vector<double> row;
    if (has_intercept_) row.push_back(products[0]);
    row.insert(row.end(), products.begin() + 2, products.end());
    return independent_.append(row, kDependenceTolerance);
  }

  static double at(std::span<const double> values, Index i) { return values[static_cast<std::size_t>(i)]; }

  const Problem& problem_;
  Engine& engine_;
  Refit& refit_;
  bool has_intercept_;
  std::vector<bool> excluded_;
  GrowingCholesky independent_;
};

}  // namespace

GreedyResult run_greedy(const Problem& problem, Engine& engine, Refit& refit, const GreedyOptions& options,
                        const StepCallback& on_step) {
  const auto start = std::chrono::steady_clock::now();
  const double rows = static_cast<double>(problem.rows.rows());
  GreedyResult result;
  if (problem.intercept == Intercept::kUnpenalised) {
    const double sum = std::accumulate(problem.targets.begin(), problem.targets.end(), 0.0);
    result.active.intercept = problem.loss.best_constant(sum / rows);
  }
  ActiveSetBuilder builder(problem, engine, refit);
  std::vector<double> gradient(static_cast<std::size_t>(problem.candidates.size()));

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
      if (on_step && !on_step(result.path.back(), result.active.size())) {
        throw Error(ErrorKind::kInterrupted, "training was interrupted");
      }
    }
    if (full || risk <= options.tolerance || risk <= kRoundingFloor * result.initial_risk) break;

    // Line 3: the active set grows by the candidates with the largest gradient.
    GreedyStep step;
    for (const double g : gradient)
      step.largest_gradient = std::max(step.largest_gradient, std::abs(g) / rows);
    step.added =
        builder.add(gradient, std::min(options.per_step, options.terms - result.active.size()), result);
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
