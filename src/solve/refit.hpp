// Line 4 of Algorithm 1: minimise the sum of the losses over the coefficients of the active set, with a
// ridge, or under the paper's constraint |theta|_2 <= C. The intercept is never penalised.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "solve/problem.hpp"

namespace mfga {

// What keeps the coefficients small.
struct Penalty {
  double ridge = 0;       // added: ridge |theta|^2, or the problem's cost, to the *sum* of the losses
  double norm_bound = 0;  // > 0: |theta|_2 <= norm_bound instead
};

struct RefitReport {
  double ridge = 0;                // the ridge, or the multiplier of the constraint
  std::optional<double> loss_sum;  // at the solution, where it follows without another look at the rows
  int newton_steps = 0;
  bool converged = true;
};

// How near to the minimum a solution must be: rough ones do where more atoms are about to join, good ones
// where it is compared with others.
enum class Accuracy { kRough, kGood, kFull };

class Refit {
 public:
  virtual ~Refit() = default;
  // Tells of an atom that joined the active set: its products, summed over rows, with 1, the targets, the
  // atoms before it and itself.
  virtual void append(std::span<const double> products) = 0;
  // Whether solutions come from those products, so that every atom must have been told of.
  [[nodiscard]] virtual bool needs_products() const = 0;
  // Sets active.theta and active.intercepts; starts from the values there.
  virtual RefitReport solve(ActiveSet& active, Accuracy accuracy) = 0;
  RefitReport solve(ActiveSet& active) { return solve(active, Accuracy::kFull); }
  // The Hessian of a fit of as many atoms that are nearly the same, as hessian(0) gives it; may be empty.
  // The first solution may take less time with it.
  virtual void start_near(std::span<const double> /*hessian*/) {}
  // Whether a rough solution is another one than a full one.
  [[nodiscard]] virtual bool can_be_rough() const { return false; }

  // With H the Hessian of the objective at the last solution, for one output, and B [n x (intercept +
  // atoms)], without the column of the intercept if there is none: B H^-1 B^T, which is what refitting all
  // coefficients takes off the curvature of n more atoms. H may be that of a point nearby.
  [[nodiscard]] virtual Matrix explained(const Matrix& cross) = 0;
  // How much the objective grows if one atom is dropped and the others are fitted again, for each atom; by
  // the quadratic model at the solution.
  [[nodiscard]] virtual std::vector<double> drop_costs(const ActiveSet& active) = 0;
  // Where the curvature is taken to be the same for all rows: combinations of the intercept and the atoms [n
  // x (intercept + atoms)], from that of position `first` on, that are orthonormal with respect to A^T A +
  // ridge.
  [[nodiscard]] virtual Matrix orthonormal_combinations(Index first) const = 0;
  // The Hessian of the sum of the losses at the solution, with this ridge: a square matrix over (intercept,
  // theta), row by row, of which the lower triangle counts. Where the loss is not quadratic it may be that of
  // a point nearby, off by a few per cent.
  [[nodiscard]] virtual std::vector<double> hessian(double ridge) const = 0;
  // All that it has been told and has found, for one of the same problem.
  virtual void archive(Archive& bytes) = 0;
  // Whether what came from a file can be the refit of so many atoms.
  [[nodiscard]] virtual bool is_of(Index atoms) const = 0;
};

// factor * R R^T for the rows of R.
[[nodiscard]] Matrix scaled_gram(const Matrix& rows, double factor);

// One linear solve with a Cholesky factor that grows with the active set.
[[nodiscard]] std::unique_ptr<Refit> make_least_squares_refit(const Problem& problem, const Penalty& penalty);
// Newton's method with a line search; for one output.
[[nodiscard]] std::unique_ptr<Refit> make_newton_refit(const Problem& problem, const Penalty& penalty);
// L-BFGS, for several, and for costs of coefficients that are not squares.
[[nodiscard]] std::unique_ptr<Refit> make_descent_refit(const Problem& problem, const Penalty& penalty);

// The one for the loss of the problem.
[[nodiscard]] std::unique_ptr<Refit> make_refit(const Problem& problem, const Penalty& penalty);

// The multiplier at which |theta| meets the bound: `norm_at(multiplier)` solves the problem with that ridge
// and returns |theta|, which decreases as the multiplier grows. Returns 0 if the bound holds without one. The
// last call of norm_at was with the multiplier returned.
[[nodiscard]] double meet_norm_bound(double bound, double relative_tolerance, double first_guess,
                                     const std::function<double(double)>& norm_at);

}  // namespace mfga
