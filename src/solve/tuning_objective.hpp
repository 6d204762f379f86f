// What tuning minimises, as a function of moves: of the logarithm of each input's stretch, then of the atoms'
// coordinates in their units. See tune.hpp for the formulas.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "features/tunable_atoms.hpp"
#include "solve/tune.hpp"

namespace mfga {

class TuningObjective {
 public:
  // Starts where nothing is moved.
  TuningObjective(const Problem& problem, const ActiveSet& active, const TuneOptions& options);
  virtual ~TuningObjective();

  // Of the moves.
  [[nodiscard]] virtual std::size_t size() const { return n_moves(); }
  // The objective with the pull, in units of what it is without moves, and its gradient.
  virtual double evaluate(std::span<const double> moves, std::span<double> gradient);
  // Where it was evaluated last.
  [[nodiscard]] const Tuned& last() const { return last_; }

 protected:
  [[nodiscard]] std::size_t n_moves() const { return n_stretches_ + atoms_.coordinates().size(); }
  // Sets stretches and atoms of last(); the rows as they are stretched then.
  [[nodiscard]] BlockedRows move(std::span<const double> moves);
  // From the derivatives of the sum of the losses by the coordinates, and by the logarithm of each input's
  // stretch with the places on it held fixed: the objective, whose value without the pull is last(), and its
  // gradient.
  [[nodiscard]] double with_pull(std::span<const double> moves, std::span<const double> derivatives,
                                 std::span<double> gradient) const;
  // The linear part of that: those derivatives by the moves, without the pull.
  void derivatives_by_moves(std::span<const double> moves, std::span<const double> derivatives,
                            std::span<double> out) const;
  // The second derivative of the pull by a move.
  [[nodiscard]] double curvature_of_pull() const { return 2 * pull_; }
  // Adds those derivatives for a block of rows, given those of the losses by the scores.
  void pull_back(const RowBlock& block, const DerivativesOfAtoms& of_atoms, const double* first, double* out,
                 Arena& arena) const;

  Problem problem_;
  TuneOptions options_;
  Tuned last_;  // its coefficients are where the next fit starts
  double scale_ = 1;

 private:
  // The derivatives, where the rows are on a device, and the sum of the losses; nothing if it cannot derive
  // one of the atoms.
  [[nodiscard]] std::optional<double> derivatives_on_device(const Problem& there,
                                                            std::span<double> derivatives);
  [[nodiscard]] double stretch_of(const Coordinate& coordinate) const;
  [[nodiscard]] double cost_of_coefficients() const;

  TunableAtoms atoms_;
  std::size_t n_inputs_;
  std::size_t n_stretches_;
  double pull_ = 0;
  std::vector<double> hessian_;            // of the last fit; the next is nearby
  std::unique_ptr<DeviceProblem> device_;  // the rows as they were given; null: they are not on a device
};

// With the coefficients fitted at every move; or, where that takes long, with coefficients that move along.
[[nodiscard]] std::unique_ptr<TuningObjective> make_tuning_objective(const Problem& problem,
                                                                     const ActiveSet& active,
                                                                     const TuneOptions& options);

// weights[m * block.stride + n] = sum over outputs k of theta_mk * of_outputs[k * block.stride + n]
void combine_outputs(const ActiveSet& active, const double* of_outputs, const RowBlock& block,
                     double* weights);

}  // namespace mfga
