#include "solve/greedy.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "mfga/error.hpp"
#include "solve/independent_atoms.hpp"
#include "solve/select.hpp"

namespace mfga {
namespace {

// A risk below this fraction of the initial one is rounding error: what is left has nothing to learn from.
constexpr double kRoundingFloor = 1e-13;

// More candidates than wanted whose products are computed because single precision does not tell them apart
// from the wanted ones; if there are more, the gradient is computed again in double precision.
Index most_spare(Index wanted) { return 16 + wanted / 4; }

// The products of some of a shortlist, given by their positions in it, in that order.
Matrix chosen_products(const Matrix& products, const std::vector<std::size_t>& chosen) {
  const Index n_before = products.cols - products.rows;  // 1, y and the active atoms
  Matrix result(static_cast<Index>(chosen.size()), n_before + static_cast<Index>(chosen.size()));
  for (Index i = 0; i < result.rows; ++i) {
    const double* row = products.row(static_cast<Index>(chosen[static_cast<std::size_t>(i)]));
    double* out = std::copy_n(row, n_before, result.row(i));
    for (const std::size_t other : chosen) *out++ = row[n_before + static_cast<Index>(other)];
  }
  return result;
}

// Where one atom is added per step, products are computed for the runners-up as well: they are often the next
// to be chosen, and a pass over the rows for a few atoms costs little more than one for a single atom.
class RunnersUp {
 public:
  static constexpr Index kCount = 8;

  // `products` of the candidates, in ascending order, with the atoms active now and with one another.
  void set(std::vector<Index> candidates, Index n_active, Matrix products) {
    candidates_ = std::move(candidates);
    n_active_ = n_active;
    products_ = std::move(products);
  }

  // What Engine::products would say of the candidate alone; nothing if that does not follow, because it or an
  // atom added since is not one of them.
  [[nodiscard]] std::optional<Matrix> products(const ActiveSet& active, Index candidate) const {
    const std::optional<Index> row = position(candidate);
    if (!row) return std::nullopt;
    Matrix result(1, 2 + active.size() + 1);
    double* out = std::copy_n(products_.row(*row), 2 + n_active_, result.row(0));
    for (Index m = n_active_; m < active.size(); ++m) {
      const std::optional<Index> column = position(active.candidates[static_cast<std::size_t>(m)]);
      if (!column) return std::nullopt;
      *out++ = products_(*row, 2 + n_active_ + *column);
    }
    *out = products_(*row, 2 + n_active_ + *row);
    return result;
  }

 private:
  [[nodiscard]] std::optional<Index> position(Index candidate) const {
    const auto place = std::lower_bound(candidates_.begin(), candidates_.end(), candidate);
    if (place == candidates_.end() || *place != candidate) return std::nullopt;
    return static_cast<Index>(place - candidates_.begin());
  }

  std::vector<Index> candidates_;
  Index n_active_ = 0;
  Matrix products_;
};

// The largest candidates, at most `count`, and their products.
struct Batch {
  std::vector<Index> candidates;
  Matrix products;
};

Batch next_batch(Engine& engine, const ActiveSet& active, Gradient& gradient,
                 const std::vector<bool>& excluded, Index count, RunnersUp& runners_up) {
  std::vector<Index> shortlist;  // all that may be among the largest
  if (!gradient.exact()) {
    shortlist = possibly_largest(gradient, excluded, count);
    if (static_cast<Index>(shortlist.size()) > count + most_spare(count))
      engine.exact_gradient(active, gradient);
  }
  if (gradient.exact()) shortlist = largest_gradients(gradient.values, excluded, count);
  if (shortlist.empty()) return {};
  if (count == 1) {
    if (shortlist.size() == 1) {
      if (std::optional<Matrix> known = runners_up.products(active, shortlist.front()))
        return {std::move(shortlist), std::move(*known)};
    }
    const std::vector<Index> next = largest_gradients(gradient.values, excluded, RunnersUp::kCount);
    shortlist.insert(shortlist.end(), next.begin(), next.end());
  }
  std::sort(shortlist.begin(), shortlist.end());
  shortlist.erase(std::unique(shortlist.begin(), shortlist.end()), shortlist.end());
  CandidateProducts products = engine.products(active, shortlist);
  for (std::size_t i = 0; i < products.gradient.size() && !gradient.exact(); ++i) {
    const auto j = static_cast<std::size_t>(shortlist[i]);
    gradient.values[j] = products.gradient[i];
    gradient.errors[j] = 0;
  }
  // All others are certainly smaller, so these come from the shortlist.
  Batch batch{largest_gradients(gradient.values, excluded, count), {}};
  std::vector<std::size_t> positions;
  for (const Index candidate : batch.candidates) {
    const auto place = std::lower_bound(shortlist.begin(), shortlist.end(), candidate);
    positions.push_back(static_cast<std::size_t>(place - shortlist.begin()));
  }
  batch.products = chosen_products(products.values, positions);
  if (count == 1) runners_up.set(std::move(shortlist), active.size(), std::move(products.values));
  return batch;
}

// Adds up to `count` candidates, largest gradient first; returns those added.
std::vector<Index> add_candidates(const Candidates& candidates, Engine& engine, Gradient& gradient,
                                  Index count, std::vector<bool>& excluded, IndependentAtoms& independent,
                                  RunnersUp& runners_up, GreedyResult& result) {
  std::vector<Index> added;
  while (static_cast<Index>(added.size()) < count) {
    const Batch batch = next_batch(engine, result.active, gradient, excluded,
                                   count - static_cast<Index>(added.size()), runners_up);
    if (batch.candidates.empty() || gradient.values[static_cast<std::size_t>(batch.candidates.front())] == 0)
      break;
    const std::vector<bool> accepted = independent.add(batch.products);
    for (std::size_t i = 0; i < batch.candidates.size(); ++i) {
      const Index candidate = batch.candidates[i];
      excluded[static_cast<std::size_t>(candidate)] = true;
      if (!accepted[i]) {
        result.dependent.push_back(candidate);
        continue;
      }
      result.active.candidates.push_back(candidate);
      result.active.atoms.push_back(candidates.atom(candidate));
      added.push_back(candidate);
    }
  }
  return added;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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
  Gradient gradient;
  RunnersUp runners_up;

  for (;;) {
    // Line 2: the gradient of the empirical risk at the current coefficients.
    const bool full = result.active.size() >= options.terms;
    auto phase_start = std::chrono::steady_clock::now();
    const double risk =
        (full ? engine.loss_sum(result.active) : engine.gradient(result.active, gradient)) / rows;
    if (!full) {
      result.seconds.gradient += seconds_since(phase_start);
      ++result.gradient_passes;
    }
    if (result.path.empty()) {
      result.initial_risk = risk;
    } else {
      result.path.back().risk = risk;
      result.path.back().seconds = seconds_since(start);
      if (on_step && !on_step(result.path.back(), result.active)) {
        throw Error(ErrorKind::kInterrupted, "training was interrupted");
      }
    }
    if (full || risk <= options.tolerance || risk <= kRoundingFloor * result.initial_risk) break;

    // Line 3: the active set grows by the candidates with the largest gradient.
    GreedyStep step;
    phase_start = std::chrono::steady_clock::now();
    step.added = add_candidates(candidates, engine, gradient,
                                std::min(options.per_step, options.terms - result.active.size()), excluded,
                                independent, runners_up, result);
    if (step.added.empty()) break;
    for (const double g : gradient.values)
      step.largest_gradient = std::max(step.largest_gradient, std::abs(g) / rows);
    result.seconds.products += seconds_since(phase_start);

    // Line 4: all coefficients of the active set are fitted again.
    phase_start = std::chrono::steady_clock::now();
    const RefitReport report = refit.solve(result.active);
    result.seconds.refit += seconds_since(phase_start);
    step.ridge = report.ridge;
    step.newton_steps = report.newton_steps;
    result.converged = result.converged && report.converged;
    result.path.push_back(std::move(step));
  }
  return result;
}

}  // namespace mfga
