#include "solve/tune.hpp"

#include <lbfgs.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>

#include "core/deadline.hpp"
#include "core/row_kernels.hpp"
#include "mfga/error.hpp"
#include "solve/atom_products.hpp"
#include "solve/device_problem.hpp"
#include "solve/tuning_objective.hpp"

namespace mfga {
namespace {

// The place of every atom when those of one family stand together, for families work on many at a time.
std::vector<std::size_t> by_family(const std::vector<Atom>& atoms) {
  std::vector<std::size_t> order(atoms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return atoms[a].family < atoms[b].family; });
  return order;
}

ActiveSet reordered(const ActiveSet& active, const std::vector<std::size_t>& order) {
  ActiveSet result;
  result.intercepts = active.intercepts;
  for (const std::size_t i : order) {
    result.candidates.push_back(active.candidates[i]);
    result.atoms.push_back(active.atoms[i]);
    for (const double theta : active.theta_of(i)) result.theta.push_back(theta);
  }
  return result;
}

std::vector<std::size_t> inverse(const std::vector<std::size_t>& order) {
  std::vector<std::size_t> result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) result[order[i]] = i;
  return result;
}

// The search, as liblbfgs wants it.
class TuningRun {
 public:
  TuningRun(const Problem& problem, const ActiveSet& active, const TuneOptions& options,
            const TuneCallback& on_step)
      : objective_(make_tuning_objective(problem, active, options)),
        options_(options),
        on_step_(on_step),
        here_(objective_->last()) {}

  Tuned run() {
    const auto n_moves = static_cast<int>(objective_->size());
    if (n_moves == 0 || options_.most_steps == 0) return here_;
    lbfgs_parameter_t parameters;
    lbfgs_parameter_init(&parameters);
    parameters.max_iterations = options_.most_steps;
    parameters.m = kHistory;
    parameters.past = kPast;
    parameters.delta = kSmallestDecrease;
    parameters.max_linesearch = kMostTrials;
    lbfgsfloatval_t* moves = lbfgs_malloc(n_moves);
    std::fill_n(moves, n_moves, 0.0);
    // Whatever it ends with, the last step that it made is the result.
    static_cast<void>(
        lbfgs(n_moves, moves, nullptr, &TuningRun::evaluate, &TuningRun::on_step, this, &parameters));
    lbfgs_free(moves);
    if (error_) std::rethrow_exception(error_);
    return here_;
  }

 private:
  static constexpr int kHistory = 10;
  static constexpr int kPast = 5;  // over so many steps, less than this part of the objective is nothing
  static constexpr double kSmallestDecrease = 1e-5;
  static constexpr int kMostTrials = 20;

  // Nothing may be thrown through the C library: errors are kept, and the search ends.
  static lbfgsfloatval_t evaluate(void* self, const lbfgsfloatval_t* moves, lbfgsfloatval_t* gradient,
                                  int n_moves, lbfgsfloatval_t /*step*/) {
    auto& tuning = *static_cast<TuningRun*>(self);
    const auto count = static_cast<std::size_t>(n_moves);
    try {
      if (tuning.error_) throw OutOfTime();  // the line search asks again before it ends
      return tuning.objective_->evaluate({moves, count}, {gradient, count});
    } catch (const Error& error) {
      // Two atoms became one: not a place to go to.
      if (error.kind() != ErrorKind::kNumerical) tuning.error_ = std::current_exception();
    } catch (...) {
      if (!tuning.error_) tuning.error_ = std::current_exception();
    }
    std::fill_n(gradient, count, 0.0);
    return std::numeric_limits<double>::infinity();
  }

  static int on_step(void* self, const lbfgsfloatval_t* /*moves*/, const lbfgsfloatval_t* /*gradient*/,
                     lbfgsfloatval_t /*objective*/, lbfgsfloatval_t /*norm*/,
                     lbfgsfloatval_t /*gradient_norm*/, lbfgsfloatval_t /*length*/, int /*n_moves*/,
                     int iteration, int /*trials*/) {
    auto& tuning = *static_cast<TuningRun*>(self);
    if (tuning.error_) return 1;
    tuning.here_ = tuning.objective_->last();
    tuning.here_.step = iteration;
    try {
      return tuning.on_step_ && !tuning.on_step_(tuning.here_) ? 1 : 0;
    } catch (...) {
      tuning.error_ = std::current_exception();
      return 1;
    }
  }

  std::unique_ptr<TuningObjective> objective_;
  TuneOptions options_;
  const TuneCallback& on_step_;
  Tuned here_;  // after the last step
  std::exception_ptr error_;
};

}  // namespace

Matrix refit_products(const Problem& problem, std::span<const Atom> atoms) {
  if (!make_refit(problem, {})->needs_products()) return {};
  if (problem.device != nullptr) return problem.device->products(atoms);
  return atom_products(problem.rows, problem.targets, atoms, static_cast<Index>(atoms.size()),
                       problem.workers);
}

FittedCoefficients fit_coefficients(const Problem& problem, double ridge, ActiveSet& active,
                                    std::span<const double> nearby_hessian) {
  return fit_coefficients(problem, ridge, refit_products(problem, active.atoms), active, Accuracy::kFull,
                          nearby_hessian);
}

FittedCoefficients fit_coefficients(const Problem& problem, double ridge, const Matrix& products,
                                    ActiveSet& active, Accuracy accuracy,
                                    std::span<const double> nearby_hessian) {
  FittedCoefficients fitted;
  fitted.refit = make_refit(problem, {ridge, 0});
  for (Index i = 0; i < products.rows; ++i)
    fitted.refit->append({products.row(i), static_cast<std::size_t>(1 + problem.target_columns() + i + 1)});
  fitted.refit->start_near(nearby_hessian);
  fitted.converged = fitted.refit->solve(active, accuracy).converged;
  return fitted;
}

Tuned tune(const Problem& problem, const ActiveSet& active, const TuneOptions& options,
           const TuneCallback& on_step) {
  const std::vector<std::size_t> order = by_family(active.atoms);
  const std::vector<std::size_t> back = inverse(order);
  const auto in_order = [&](Tuned state) {
    state.active = reordered(state.active, back);
    return state;
  };
  const TuneCallback tell = [&](const Tuned& state) { return !on_step || on_step(in_order(state)); };
  return in_order(TuningRun(problem, reordered(active, order), options, tell).run());
}

Matrix mean_slope_products(const Problem& problem, const ActiveSet& active) {
  const DerivativesOfAtoms of_atoms(active.atoms);
  const Index n_inputs = problem.rows.inputs();
  Matrix products(n_inputs, n_inputs);
  sum_over_blocks(
      problem.rows, problem.workers, products.values, [&](const RowBlock& block, Arena& arena, double* out) {
        const auto outputs = static_cast<Index>(active.outputs());
        double* of_output = arena.take(outputs * block.stride);  // 1 for one of them
        double* weights = arena.take(active.size() * block.stride);
        double* slopes = arena.take(n_inputs * block.stride);
        double* weighted = block.weights == nullptr ? slopes : arena.take(n_inputs * block.stride);
        for (Index k = 0; k < outputs; ++k) {
          std::fill_n(of_output, outputs * block.stride, 0.0);
          std::fill_n(of_output + k * block.stride, block.rows, 1.0);
          combine_outputs(active, of_output, block, weights);
          std::fill_n(slopes, n_inputs * block.stride, 0.0);
          of_atoms.pull_back(block, weights, block.stride, nullptr, slopes, arena);
          if (block.weights != nullptr) {
            for (Index j = 0; j < n_inputs; ++j)
              static_cast<void>(times_weights(block, slopes + j * block.stride, weighted + j * block.stride));
          }
          add_row_products(weighted, n_inputs, block.stride, slopes, n_inputs, block.stride, block.rows, out,
                           n_inputs);
        }
      });
  for (double& product : products.values) product /= problem.count();
  return products;
}

}  // namespace mfga
