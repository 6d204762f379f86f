// What tuning minimises, as a function of moves: of the logarithm of each input's stretch, then of the atoms'
// coordinates in their units. See tune.hpp for the formulas.
#pragma once

#include <span>
#include <vector>

#include "features/tunable_atoms.hpp"
#include "solve/tune.hpp"

namespace mfga {

class TuningObjective {
 public:
  // Starts where nothing is moved.
  TuningObjective(const Problem& problem, const ActiveSet& active, const TuneOptions& options);

  [[nodiscard]] std::size_t size() const { return n_stretches_ + atoms_.coordinates().size(); }
  // The objective with the pull, in units of what it is without moves, and its gradient.
  double evaluate(std::span<const double> moves, std::span<double> gradient);
  // Where it was evaluated last.
  [[nodiscard]] const Tuned& last() const { return last_; }

 private:
  [[nodiscard]] double stretch_of(const Coordinate& coordinate) const;
  // The derivatives of the sum of the losses by the coordinates, and by the logarithm of each input's stretch
  // with the places on it held fixed.
  [[nodiscard]] std::vector<double> pulled_back(const Problem& there) const;

  Problem problem_;
  TuneOptions options_;
  TunableAtoms atoms_;
  std::size_t n_inputs_;
  std::size_t n_stretches_;
  Tuned last_;  // its coefficients are where the next fit starts
  double scale_ = 1;
  double pull_ = 0;
};

// weights[m * stride + n] = theta_m * row_weights[n]
void outer_product(const std::vector<double>& theta, const double* row_weights, Index rows, Index stride,
                   double* weights);

}  // namespace mfga
