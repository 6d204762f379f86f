// Tuning: chosen atoms are moved, and inputs stretched, so that the objective becomes smaller. The
// coefficients are fitted exactly at every move (variable projection, Golub and Pereyra 1973):
//
//   F(p) = min over c, theta of  sum_n L(c + sum_m theta_m phi_m(x_n; p), y_n) + ridge |theta|^2.
//
// Where the coefficients are optimal, F changes with p as the sum does with them held fixed:
//
//   dF/dp = sum_n L'_n sum_m theta_m dphi_m(x_n; p)/dp,
//
// which the families answer for a block of rows (AtomDerivatives). F + pull |p - p_0|^2 is minimised by
// L-BFGS (liblbfgs), p in the units of the families' coordinates; stretches are moved as logarithms. Where a
// fit of the coefficients takes many looks at the rows (losses of several outputs), they are moved along with
// p instead.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "solve/refit.hpp"

namespace mfga {

struct TuneOptions {
  double ridge = 1;
  int most_steps = 100;
  // How strongly coordinates are held where they were: the variance of a prior on their moves, in units, is
  // 1 / pull.
  double pull = 1;
  bool stretch_inputs = true;  // or only the atoms move
};

// A state of the search.
struct Tuned {
  ActiveSet active;
  std::vector<double> stretch;  // of each input, beyond what the rows have already
  double objective = 0;         // without the pull
  int step = 0;
};
void archive(Archive& bytes, Tuned& tuned);
// Whether one from a file can be a state of a tuning of the problem.
[[nodiscard]] bool is_possible(const Tuned& tuned, const Problem& problem, Index terms);
// Whether these can be the stretches of its inputs.
[[nodiscard]] bool are_stretches(std::span<const double> stretch, const Problem& problem);

// Tells after each step whether to go on.
using TuneCallback = std::function<bool(const Tuned&)>;

// Starts from the atoms of `active`, and ends after most_steps, where nothing improves any more, or where the
// callback says so; returns the last state.
[[nodiscard]] Tuned tune(const Problem& problem, const ActiveSet& active, const TuneOptions& options,
                         const TuneCallback& on_step);

struct FittedCoefficients {
  bool converged = true;
  std::unique_ptr<Refit> refit;
  // For the next fit; none if this one failed.
  [[nodiscard]] std::vector<double> hessian_nearby() const {
    return converged ? refit->hessian(0) : std::vector<double>();
  }
};
// Fits the coefficients of given atoms to the rows; starts from those of `active`, and from the Hessian of a
// fit nearby if there was one (Refit::start_near).
FittedCoefficients fit_coefficients(const Problem& problem, double ridge, ActiveSet& active,
                                    std::span<const double> nearby_hessian = {});
// The same with products that are known already, for fits with several ridges.
FittedCoefficients fit_coefficients(const Problem& problem, double ridge, const Matrix& products,
                                    ActiveSet& active, Accuracy accuracy = Accuracy::kFull,
                                    std::span<const double> nearby_hessian = {});
// Products of the atoms as the refit of the problem's loss wants to be told of them; empty if it does not.
[[nodiscard]] Matrix refit_products(const Problem& problem, std::span<const Atom> atoms);

// The mean over the rows of g g^T, with g the gradient of the score by the inputs, summed over outputs: how
// strongly they depend on each of the inputs, and on which combinations.
[[nodiscard]] Matrix mean_slope_products(const Problem& problem, const ActiveSet& active);

}  // namespace mfga
