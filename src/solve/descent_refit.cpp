// Refit for smooth convex losses of several outputs, where the Hessian has a block for every pair of outputs
// and is too large for Newton's method, and for quadratic losses where the cost of the coefficients is not:
// L-BFGS (liblbfgs) on
//
//   F(c, theta) = sum_n w_n L(c + (A theta)_n, y_n) + ridge |theta|^2,
//
// in coordinates in which F is nearly round (OutputFactors), warm-started at the coefficients of the step
// before.
#include <lbfgs.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include "core/row_combinations.hpp"
#include "core/row_kernels.hpp"
#include "mfga/error.hpp"
#include "solve/active_atoms.hpp"
#include "solve/factored_refit.hpp"
#include "solve/output_factors.hpp"

namespace mfga {
namespace {

class DescentRefit final : public FactoredRefit {
 public:
  DescentRefit(const Problem& problem, const Penalty& penalty)
      : FactoredRefit(problem, penalty, *curvature_of_all_rows(problem)) {}

  [[nodiscard]] bool can_be_rough() const override { return true; }

  using Refit::solve;
  RefitReport solve(ActiveSet& active, Accuracy accuracy) override {
    RefitReport report;
    report.ridge = penalty().ridge;
    const Index outputs = problem().outputs();
    active.intercepts.resize(static_cast<std::size_t>(outputs));
    active.theta.resize(active.atoms.size() * static_cast<std::size_t>(outputs));
    if (size() == 0) return report;  // neither an atom nor an intercept
    const ActiveAtoms atoms(active.atoms, offset(), problem());
    const Matrix start = coefficients_of(active, outputs);
    Descent descent{*this, atoms, factors_at(start, atoms), start, {}, {}};
    minimise(descent, accuracy, report);
    for (Index k = 0; k < outputs; ++k) {
      if (offset() == 1) active.intercepts[static_cast<std::size_t>(k)] = descent.start(k, 0);
      for (Index m = 0; m < active.size(); ++m)
        active.theta[static_cast<std::size_t>(m * outputs + k)] = descent.start(k, offset() + m);
    }
    return report;
  }

 private:
  // [outputs x (intercept + atoms)]
  struct Descent {
    const DescentRefit& refit;
    const ActiveAtoms& atoms;
    OutputFactors factors;
    Matrix start;
    Matrix moved;  // where F was evaluated last
    std::exception_ptr error;
    double tolerance = 0;
    bool converged = false;
  };

  [[nodiscard]] Matrix coefficients_of(const ActiveSet& active, Index outputs) const {
    Matrix result(outputs, size());
    for (Index k = 0; k < outputs; ++k) {
      if (offset() == 1) result(k, 0) = active.intercepts[static_cast<std::size_t>(k)];
      for (Index m = 0; m < active.size(); ++m)
        result(k, offset() + m) = active.theta[static_cast<std::size_t>(m * outputs + k)];
    }
    return result;
  }

  [[nodiscard]] OutputFactors factors_at(const Matrix& start, const ActiveAtoms& atoms) const {
    if (problem().loss.constant_curvature()) return {problem(), factor(), curvature()};
    return {problem(), atoms, start, penalty().ridge};
  }

  // From descent.start, which becomes the minimum.
  static void minimise(Descent& descent, Accuracy accuracy, RefitReport& report) {
    constexpr double kFullTolerance = 1e-13;
    constexpr double kRoughTolerance = 1e-4;
    constexpr int kMostSteps = 1000;
    constexpr int kMostGoodSteps = 100;
    constexpr int kMostRoughSteps = 12;  // the next solution goes on from there
    descent.tolerance = accuracy == Accuracy::kFull ? kFullTolerance : kRoughTolerance;
    descent.converged = false;
    lbfgs_parameter_t parameters;
    lbfgs_parameter_init(&parameters);
    parameters.m = 20;
    parameters.max_iterations = accuracy == Accuracy::kFull   ? kMostSteps
                                : accuracy == Accuracy::kGood ? kMostGoodSteps
                                                              : kMostRoughSteps;
    parameters.epsilon = 1e-14;  // `progress` decides
    const auto n = static_cast<int>(descent.start.values.size());
    lbfgsfloatval_t* moves = lbfgs_malloc(n);
    std::fill_n(moves, n, 0.0);
    static_cast<void>(
        lbfgs(n, moves, nullptr, &DescentRefit::evaluate, &DescentRefit::progress, &descent, &parameters));
    if (!descent.error) descent.start = descent.factors.moved(descent.start, moves);
    lbfgs_free(moves);
    if (descent.error) std::rethrow_exception(descent.error);
    report.converged = report.converged && (descent.converged || accuracy != Accuracy::kFull);
  }

  // Nothing may be thrown through the C library: errors are kept, and the search ends.
  static lbfgsfloatval_t evaluate(void* self, const lbfgsfloatval_t* moves, lbfgsfloatval_t* gradient, int n,
                                  lbfgsfloatval_t /*step*/) {
    auto& descent = *static_cast<Descent*>(self);
    try {
      if (!descent.error) {
        descent.moved = descent.factors.moved(descent.start, moves);
        return descent.refit.objective(descent, gradient);
      }
    } catch (...) {
      descent.error = std::current_exception();
    }
    std::fill_n(gradient, n, 0.0);
    return std::numeric_limits<double>::infinity();
  }

  static int progress(void* self, const lbfgsfloatval_t* /*moves*/, const lbfgsfloatval_t* /*gradient*/,
                      lbfgsfloatval_t objective, lbfgsfloatval_t /*norm*/, lbfgsfloatval_t gradient_norm,
                      lbfgsfloatval_t /*length*/, int /*n*/, int /*iteration*/, int /*trials*/) {
    auto& descent = *static_cast<Descent*>(self);
    if (descent.error) return 1;
    // In these coordinates the square of the gradient's length is about twice what is left to gain.
    descent.converged = gradient_norm * gradient_norm <= descent.tolerance * objective;
    return descent.converged ? 1 : 0;
  }

  // F where descent.moved is, and its gradient by the moves.
  [[nodiscard]] double objective(const Descent& descent, double* gradient) const {
    const Matrix& x = descent.moved;
    const Index outputs = x.rows;
    const Index n_values = x.cols;
    std::vector<double> sums(static_cast<std::size_t>(outputs * n_values + 1));
    sum_over_blocks(descent.atoms.rows(), problem().workers, sums,
                    [&](const RowBlock& block, Arena& arena, double* out) {
                      const double* values = descent.atoms.of(block, arena);
                      double* scores = arena.take(outputs * block.stride);
                      double* first = arena.take(outputs * block.stride);
                      set_combinations(x.values.data(), outputs, values, n_values, block.stride, block.rows,
                                       scores, block.stride);
                      out[outputs * n_values] += problem().gradient_of(block, scores, first);
                      add_row_products(first, outputs, block.stride, values, n_values, block.stride,
                                       block.rows, out, n_values);
                    });
    descent.atoms.have_been_seen();
    double result = sums.back();
    Matrix slopes(outputs, n_values);
    std::copy_n(sums.begin(), slopes.values.size(), slopes.values.begin());
    for (Index k = 0; k < outputs; ++k) {
      for (Index m = offset(); m < n_values; ++m) {
        result += penalty().ridge * problem().cost.value(x(k, m));
        slopes(k, m) += penalty().ridge * problem().cost.slope(x(k, m));
      }
    }
    descent.factors.gradient_by_moves(std::move(slopes), gradient);
    return result;
  }
};

}  // namespace

std::unique_ptr<Refit> make_descent_refit(const Problem& problem, const Penalty& penalty) {
  return std::make_unique<DescentRefit>(problem, penalty);
}

}  // namespace mfga
