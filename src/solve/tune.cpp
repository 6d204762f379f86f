#include "solve/tune.hpp"

#include <lbfgs.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>

#include "core/row_kernels.hpp"
#include "features/tunable_atoms.hpp"
#include "mfga/error.hpp"
#include "solve/atom_products.hpp"

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
  result.intercept = active.intercept;
  for (const std::size_t i : order) {
    result.candidates.push_back(active.candidates[i]);
    result.atoms.push_back(active.atoms[i]);
    result.theta.push_back(active.theta[i]);
  }
  return result;
}

std::vector<std::size_t> inverse(const std::vector<std::size_t>& order) {
  std::vector<std::size_t> result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) result[order[i]] = i;
  return result;
}

// weights[m * stride + n] = theta_m * row_weights[n]
void outer_product(const std::vector<double>& theta, const double* row_weights, Index rows, Index stride,
                   double* weights) {
  for (std::size_t m = 0; m < theta.size(); ++m) {
    double* out = weights + static_cast<Index>(m) * stride;
    for (Index n = 0; n < rows; ++n) out[n] = theta[m] * row_weights[n];
  }
}

class Tuning {
 public:
  Tuning(const Problem& problem, const ActiveSet& active, const TuneOptions& options,
         const TuneCallback& on_step)
      : problem_(problem),
        options_(options),
        on_step_(on_step),
        atoms_(active.atoms),
        n_inputs_(static_cast<std::size_t>(problem.rows.inputs())),
        n_stretches_(options.stretch_inputs ? n_inputs_ : 0) {
    here_.active = active;
    here_.stretch.assign(n_inputs_, 1.0);
    here_.objective = fit_coefficients(problem, options.ridge, here_.active).objective;
    last_ = here_;
    // The prior is compared with the likelihood: half the squared error in units of its mean, or the
    // log-loss.
    scale_ = here_.objective > 0 ? 1 / here_.objective : 1;
    const double mean = here_.objective / static_cast<double>(problem.rows.rows());
    pull_ = options.pull * (problem.loss.is_quadratic() ? mean : 0.5);
  }

  Tuned run() {
    const auto n_variables = static_cast<int>(n_stretches_ + atoms_.coordinates().size());
    if (n_variables == 0 || options_.most_steps == 0) return here_;
    lbfgs_parameter_t parameters;
    lbfgs_parameter_init(&parameters);
    parameters.max_iterations = options_.most_steps;
    parameters.m = kHistory;
    parameters.past = kPast;
    parameters.delta = kSmallestDecrease;
    parameters.max_linesearch = kMostTrials;
    lbfgsfloatval_t* variables = lbfgs_malloc(n_variables);
    std::fill_n(variables, n_variables, 0.0);
    // Whatever it ends with, the last step that it made is the result.
    static_cast<void>(
        lbfgs(n_variables, variables, nullptr, &Tuning::evaluate, &Tuning::on_step, this, &parameters));
    lbfgs_free(variables);
    if (error_) std::rethrow_exception(error_);
    return here_;
  }

 private:
  static constexpr int kHistory = 10;
  static constexpr int kPast = 5;  // over so many steps, less than this part of the objective is nothing
  static constexpr double kSmallestDecrease = 1e-5;
  static constexpr int kMostTrials = 20;

  // Nothing may be thrown through the C library: errors are kept, and the search ends.
  static lbfgsfloatval_t evaluate(void* self, const lbfgsfloatval_t* variables, lbfgsfloatval_t* gradient,
                                  int n_variables, lbfgsfloatval_t /*step*/) {
    auto& tuning = *static_cast<Tuning*>(self);
    const auto count = static_cast<std::size_t>(n_variables);
    try {
      return tuning.objective({variables, count}, {gradient, count});
    } catch (const Error& error) {
      // Two atoms became one: not a place to go to.
      if (error.kind() != ErrorKind::kNumerical) tuning.error_ = std::current_exception();
    } catch (...) {
      tuning.error_ = std::current_exception();
    }
    std::fill_n(gradient, count, 0.0);
    return std::numeric_limits<double>::infinity();
  }

  static int on_step(void* self, const lbfgsfloatval_t* /*variables*/, const lbfgsfloatval_t* /*gradient*/,
                     lbfgsfloatval_t /*objective*/, lbfgsfloatval_t /*norm*/,
                     lbfgsfloatval_t /*gradient_norm*/, lbfgsfloatval_t /*step*/, int /*n_variables*/,
                     int iteration, int /*trials*/) {
    auto& tuning = *static_cast<Tuning*>(self);
    if (tuning.error_) return 1;
    tuning.here_ = tuning.last_;
    tuning.here_.step = iteration;
    try {
      return tuning.on_step_ && !tuning.on_step_(tuning.here_) ? 1 : 0;
    } catch (...) {
      tuning.error_ = std::current_exception();
      return 1;
    }
  }

  double objective(std::span<const double> variables, std::span<double> gradient) {
    const std::span<const Coordinate> coordinates = atoms_.coordinates();
    const std::span<const double> moves = variables.subspan(n_stretches_);
    for (std::size_t j = 0; j < n_stretches_; ++j) last_.stretch[j] = std::exp(variables[j]);
    std::vector<double> values;
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
      const Coordinate& coordinate = coordinates[i];
      values.push_back((coordinate.value + coordinate.unit * moves[i]) * stretch_of(coordinate));
    }
    last_.active.atoms = atoms_.at(values);
    const BlockedRows rows = problem_.rows.stretched(last_.stretch);
    const Problem there{rows, problem_.targets, problem_.loss, problem_.intercept, problem_.workers};
    last_.objective = fit_coefficients(there, options_.ridge, last_.active).objective;

    const std::vector<double> derivatives = pulled_back(there);
    for (std::size_t j = 0; j < n_stretches_; ++j) gradient[j] = derivatives[coordinates.size() + j];
    double square = 0;
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
      const Coordinate& coordinate = coordinates[i];
      gradient[n_stretches_ + i] = derivatives[i] * coordinate.unit * stretch_of(coordinate);
      if (coordinate.input >= 0 && n_stretches_ > 0)
        gradient[static_cast<std::size_t>(coordinate.input)] += derivatives[i] * values[i];
    }
    for (std::size_t i = 0; i < variables.size(); ++i) {
      gradient[i] = scale_ * (gradient[i] + 2 * pull_ * variables[i]);
      square += variables[i] * variables[i];
    }
    return scale_ * (last_.objective + pull_ * square);
  }

  [[nodiscard]] double stretch_of(const Coordinate& coordinate) const {
    return coordinate.input < 0 ? 1 : last_.stretch[static_cast<std::size_t>(coordinate.input)];
  }

  // The derivatives of the sum of the losses by the coordinates, and by the logarithm of each input's stretch
  // with the places on it held fixed.
  [[nodiscard]] std::vector<double> pulled_back(const Problem& there) const {
    const ActiveSet& active = last_.active;
    const ScoreFunction score = active.score();
    const DerivativesOfAtoms of_atoms(active.atoms);
    const std::size_t n_coordinates = atoms_.coordinates().size();
    std::vector<double> sums(n_coordinates + n_stretches_);
    sum_over_blocks(there.rows, there.workers, sums, [&](const RowBlock& block, Arena& arena, double* out) {
      double* scores = arena.take(block.rows);
      double* first = arena.take(block.rows);
      score.evaluate(block, scores, arena);
      static_cast<void>(
          there.loss.gradient(scores, there.targets.data() + block.first_row, block.rows, first));
      double* weights = arena.take(active.size() * block.stride);
      outer_product(active.theta, first, block.rows, block.stride, weights);
      double* inputs = nullptr;
      if (n_stretches_ > 0) {
        inputs = arena.take(block.inputs * block.stride);
        std::fill_n(inputs, block.inputs * block.stride, 0.0);
      }
      of_atoms.pull_back(block, weights, block.stride, out, inputs, arena);
      for (std::size_t j = 0; j < n_stretches_; ++j) {
        const double* x = block.input(static_cast<Index>(j));
        const double* slopes = inputs + static_cast<Index>(j) * block.stride;
        out[n_coordinates + j] += std::inner_product(x, x + block.rows, slopes, 0.0);
      }
    });
    return sums;
  }

  Problem problem_;
  TuneOptions options_;
  const TuneCallback& on_step_;
  TunableAtoms atoms_;
  std::size_t n_inputs_;
  std::size_t n_stretches_;
  Tuned here_;  // after the last step
  Tuned last_;  // where the objective was computed last; its coefficients are where the next fit starts
  double scale_ = 1;
  double pull_ = 0;
  std::exception_ptr error_;
};

}  // namespace

FittedCoefficients fit_coefficients(const Problem& problem, double ridge, ActiveSet& active) {
  FittedCoefficients fitted;
  fitted.refit = make_refit(problem, {ridge, 0});
  if (problem.loss.is_quadratic()) {
    const Matrix products =
        atom_products(problem.rows, problem.targets, active.atoms, active.size(), problem.workers);
    for (Index i = 0; i < active.size(); ++i)
      fitted.refit->append({products.row(i), static_cast<std::size_t>(2 + i + 1)});
  }
  const RefitReport report = fitted.refit->solve(active);
  fitted.converged = report.converged;
  fitted.objective = report.loss_sum ? *report.loss_sum : loss_sum(problem, active.score());
  for (const double theta : active.theta) fitted.objective += ridge * theta * theta;
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
  return in_order(Tuning(problem, reordered(active, order), options, tell).run());
}

Matrix mean_slope_products(const Problem& problem, const ActiveSet& active) {
  const DerivativesOfAtoms of_atoms(active.atoms);
  const Index n_inputs = problem.rows.inputs();
  Matrix products(n_inputs, n_inputs);
  sum_over_blocks(problem.rows, problem.workers, products.values,
                  [&](const RowBlock& block, Arena& arena, double* out) {
                    double* ones = arena.take(block.rows);
                    std::fill_n(ones, block.rows, 1.0);
                    double* weights = arena.take(active.size() * block.stride);
                    outer_product(active.theta, ones, block.rows, block.stride, weights);
                    double* slopes = arena.take(n_inputs * block.stride);
                    std::fill_n(slopes, n_inputs * block.stride, 0.0);
                    of_atoms.pull_back(block, weights, block.stride, nullptr, slopes, arena);
                    add_row_products(slopes, n_inputs, block.stride, slopes, n_inputs, block.stride,
                                     block.rows, out, n_inputs);
                  });
  for (double& product : products.values) product /= static_cast<double>(problem.rows.rows());
  return products;
}

}  // namespace mfga
