#include "solve/tuning_objective.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/row_combinations.hpp"
#include "solve/device_problem.hpp"

namespace mfga {

void combine_outputs(const ActiveSet& active, const double* of_outputs, const RowBlock& block,
                     double* weights) {
  set_combinations(active.theta.data(), active.size(), of_outputs, static_cast<Index>(active.outputs()),
                   block.stride, block.rows, weights, block.stride);
}

TuningObjective::TuningObjective(const Problem& problem, const ActiveSet& active, const TuneOptions& options)
    : problem_(problem),
      options_(options),
      atoms_(active.atoms),
      n_inputs_(static_cast<std::size_t>(problem.rows.inputs())),
      n_stretches_(options.stretch_inputs ? n_inputs_ : 0),
      device_(DeviceProblem::if_worthwhile(problem, active.size())) {
  problem_.device = device_.get();
  last_.active = active;
  last_.stretch.assign(n_inputs_, 1.0);
  const FittedCoefficients fitted = fit_coefficients(
      problem_, options.ridge, refit_products(problem_, active.atoms), last_.active, Accuracy::kRough);
  hessian_ = fitted.hessian_nearby();
  const double loss =
      device_ == nullptr ? loss_sum(problem, last_.active.score())
                         : device_->derivatives(problem_, last_.active.intercepts.front(), last_.active.theta,
                                                device_->values(last_.active.atoms), false);
  last_.objective = loss + cost_of_coefficients();
  // The prior is compared with the likelihood.
  scale_ = last_.objective > 0 ? 1 / last_.objective : 1;
  pull_ = options.pull * problem.loss.of_likelihood(last_.objective / problem.count());
}

TuningObjective::~TuningObjective() = default;

BlockedRows TuningObjective::move(std::span<const double> moves) {
  const std::span<const Coordinate> coordinates = atoms_.coordinates();
  for (std::size_t j = 0; j < n_stretches_; ++j) last_.stretch[j] = std::exp(moves[j]);
  std::vector<double> values;
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    const Coordinate& coordinate = coordinates[i];
    values.push_back((coordinate.value + coordinate.unit * moves[n_stretches_ + i]) * stretch_of(coordinate));
  }
  last_.active.atoms = atoms_.at(values);
  return problem_.rows.stretched(last_.stretch);
}

double TuningObjective::evaluate(std::span<const double> moves, std::span<double> gradient) {
  const BlockedRows rows = move(moves);
  Problem there = problem_.with_rows(rows);
  if (device_ != nullptr) {
    device_->stretch(last_.stretch);
    there.device = device_.get();
  }
  const FittedCoefficients fitted = fit_coefficients(there, options_.ridge, last_.active, hessian_);
  hessian_ = fitted.hessian_nearby();
  std::vector<double> sums(n_moves() + 1);  // the derivatives, and the loss
  if (const std::optional<double> loss = derivatives_on_device(there, std::span(sums).first(n_moves()))) {
    last_.objective = *loss + cost_of_coefficients();
    return with_pull(moves, std::span(sums).first(n_moves()), gradient);
  }
  const ScoreFunction score = last_.active.score();
  const DerivativesOfAtoms of_atoms(last_.active.atoms);
  sum_over_blocks(rows, there.workers, sums, [&](const RowBlock& block, Arena& arena, double* out) {
    double* scores = arena.take(score.outputs() * block.stride);
    double* first = arena.take(score.outputs() * block.stride);
    score.evaluate(block, scores, arena);
    out[n_moves()] += there.gradient_of(block, scores, first);
    pull_back(block, of_atoms, first, out, arena);
  });
  last_.objective = sums.back() + cost_of_coefficients();
  return with_pull(moves, std::span(sums).first(n_moves()), gradient);
}

std::optional<double> TuningObjective::derivatives_on_device(const Problem& there,
                                                             std::span<double> derivatives) {
  if (device_ == nullptr) return std::nullopt;
  const ActiveSet& active = last_.active;
  const double loss = device_->derivatives(there, active.intercepts.front(), active.theta,
                                           device_->values(active.atoms), false);
  const std::size_t n_coordinates = atoms_.coordinates().size();
  if (!device_->pull_back(active.atoms, active.theta, derivatives.first(n_coordinates),
                          derivatives.subspan(n_coordinates)))
    return std::nullopt;
  return loss;
}

double TuningObjective::cost_of_coefficients() const {
  double cost = 0;
  for (const double theta : last_.active.theta) cost += options_.ridge * problem_.cost.value(theta);
  return cost;
}

void TuningObjective::derivatives_by_moves(std::span<const double> moves, std::span<const double> derivatives,
                                           std::span<double> out) const {
  const std::span<const Coordinate> coordinates = atoms_.coordinates();
  for (std::size_t j = 0; j < n_stretches_; ++j) out[j] = derivatives[coordinates.size() + j];
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    const Coordinate& coordinate = coordinates[i];
    const double stretch = stretch_of(coordinate);
    const double place = (coordinate.value + coordinate.unit * moves[n_stretches_ + i]) * stretch;
    out[n_stretches_ + i] = derivatives[i] * coordinate.unit * stretch;
    if (coordinate.input >= 0 && n_stretches_ > 0)
      out[static_cast<std::size_t>(coordinate.input)] += derivatives[i] * place;
  }
}

double TuningObjective::with_pull(std::span<const double> moves, std::span<const double> derivatives,
                                  std::span<double> gradient) const {
  derivatives_by_moves(moves, derivatives, gradient);
  double square = 0;
  for (std::size_t i = 0; i < n_moves(); ++i) {
    gradient[i] = scale_ * (gradient[i] + 2 * pull_ * moves[i]);
    square += moves[i] * moves[i];
  }
  return scale_ * (last_.objective + pull_ * square);
}

double TuningObjective::stretch_of(const Coordinate& coordinate) const {
  return coordinate.input < 0 ? 1 : last_.stretch[static_cast<std::size_t>(coordinate.input)];
}

void TuningObjective::pull_back(const RowBlock& block, const DerivativesOfAtoms& of_atoms,
                                const double* first, double* out, Arena& arena) const {
  const ActiveSet& active = last_.active;
  const std::size_t n_coordinates = atoms_.coordinates().size();
  double* weights = arena.take(active.size() * block.stride);
  combine_outputs(active, first, block, weights);
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
}

}  // namespace mfga
