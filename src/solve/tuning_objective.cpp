#include "solve/tuning_objective.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mfga {

void outer_product(const std::vector<double>& theta, const double* row_weights, Index rows, Index stride,
                   double* weights) {
  for (std::size_t m = 0; m < theta.size(); ++m) {
    double* out = weights + static_cast<Index>(m) * stride;
    for (Index n = 0; n < rows; ++n) out[n] = theta[m] * row_weights[n];
  }
}

TuningObjective::TuningObjective(const Problem& problem, const ActiveSet& active, const TuneOptions& options)
    : problem_(problem),
      options_(options),
      atoms_(active.atoms),
      n_inputs_(static_cast<std::size_t>(problem.rows.inputs())),
      n_stretches_(options.stretch_inputs ? n_inputs_ : 0) {
  last_.active = active;
  last_.stretch.assign(n_inputs_, 1.0);
  last_.objective = fit_coefficients(problem, options.ridge, last_.active).objective;
  // The prior is compared with the likelihood.
  scale_ = last_.objective > 0 ? 1 / last_.objective : 1;
  pull_ = options.pull * problem.loss.of_likelihood(last_.objective / problem.count());
}

double TuningObjective::evaluate(std::span<const double> moves, std::span<double> gradient) {
  const std::span<const Coordinate> coordinates = atoms_.coordinates();
  const std::span<const double> of_atoms = moves.subspan(n_stretches_);
  for (std::size_t j = 0; j < n_stretches_; ++j) last_.stretch[j] = std::exp(moves[j]);
  std::vector<double> values;
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    const Coordinate& coordinate = coordinates[i];
    values.push_back((coordinate.value + coordinate.unit * of_atoms[i]) * stretch_of(coordinate));
  }
  last_.active.atoms = atoms_.at(values);
  const BlockedRows rows = problem_.rows.stretched(last_.stretch);
  const Problem there = problem_.with_rows(rows);
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
  for (std::size_t i = 0; i < moves.size(); ++i) {
    gradient[i] = scale_ * (gradient[i] + 2 * pull_ * moves[i]);
    square += moves[i] * moves[i];
  }
  return scale_ * (last_.objective + pull_ * square);
}

double TuningObjective::stretch_of(const Coordinate& coordinate) const {
  return coordinate.input < 0 ? 1 : last_.stretch[static_cast<std::size_t>(coordinate.input)];
}

std::vector<double> TuningObjective::pulled_back(const Problem& there) const {
  const ActiveSet& active = last_.active;
  const ScoreFunction score = active.score();
  const DerivativesOfAtoms of_atoms(active.atoms);
  const std::size_t n_coordinates = atoms_.coordinates().size();
  std::vector<double> sums(n_coordinates + n_stretches_);
  sum_over_blocks(there.rows, there.workers, sums, [&](const RowBlock& block, Arena& arena, double* out) {
    double* scores = arena.take(block.rows);
    double* first = arena.take(block.rows);
    score.evaluate(block, scores, arena);
    static_cast<void>(there.gradient_of(block, scores, first));
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

}  // namespace mfga
