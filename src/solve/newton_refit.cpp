// Refit for smooth convex losses: Newton's method with a backtracking line search on
//
//   F(c, theta) = sum_n L(c + (A theta)_n, y_n) + ridge |theta|^2,
//
// warm-started at the coefficients of the step before. Full Newton steps alone diverge on real data.
#include <cblas.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "mfga/error.hpp"
#include "solve/refit.hpp"

namespace mfga {
namespace {

constexpr int kMostNewtonSteps = 100;
// A step whose predicted decrease is below this fraction of F is the last: the error that it leaves is of
// the order of its square.
constexpr double kLastStepDecrease = 1e-9;

class NewtonRefit final : public Refit {
 public:
  NewtonRefit(const Problem& problem, const Penalty& penalty)
      : problem_(problem),
        penalty_(penalty),
        offset_(problem.intercept == Intercept::kUnpenalised ? 1 : 0),
        scores_(problem.targets.size()),
        direction_scores_(problem.targets.size()) {}

  void append(std::span<const double> /*products*/) override {}

  RefitReport solve(ActiveSet& active) override {
    const AtomValues atoms(active.atoms);
    active.theta.resize(active.atoms.size(), 0.0);
    for_each_block(problem_.rows, problem_.workers, [&](const RowBlock& block, Arena& arena) {
      score_block(block, atoms, active.theta, active.intercept, scores_.data() + block.first_row, arena);
    });
    RefitReport report;
    report.ridge = penalty_.ridge;
    if (penalty_.norm_bound > 0) {
      report.ridge = meet_norm_bound(penalty_.norm_bound, 1e-9, 1.0, [&](double multiplier) {
        minimise(atoms, multiplier, active, report);
        return Eigen::Map<const Eigen::VectorXd>(active.theta.data(), atoms.size()).norm();
      });
    } else {
      minimise(atoms, penalty_.ridge, active, report);
    }
    return report;
  }

 private:
  // The loss's sum, gradient and Hessian in (c, theta).
  struct Expansion {
    double loss = 0;
    Eigen::VectorXd gradient;
    Eigen::MatrixXd hessian;
  };

  void minimise(const AtomValues& atoms, double ridge, ActiveSet& active, RefitReport& report) {
    report.converged = false;
    for (int step = 0; step < kMostNewtonSteps && !report.converged; ++step) {
      Expansion expansion = expand(atoms);
      const Eigen::Map<const Eigen::VectorXd> theta(active.theta.data(), atoms.size());
      const double objective = expansion.loss + ridge * theta.squaredNorm();
      expansion.gradient.tail(atoms.size()) += 2 * ridge * theta;
      expansion.hessian.diagonal().tail(atoms.size()).array() += 2 * ridge;
      const Eigen::VectorXd direction = -solve_positive(expansion.hessian, expansion.gradient);
      const double slope = expansion.gradient.dot(direction);
      ++report.newton_steps;
      if (!(slope < 0)) {  // at the minimum, as far as rounding lets one see
        report.converged = true;
        return;
      }
      report.converged = -slope <= kLastStepDecrease * objective;
      const double length = line_search(atoms, direction, ridge, objective, slope, theta);
      if (length == 0) {
        report.converged = true;
        return;
      }
      take_step(direction, length, active);
    }
  }

  [[nodiscard]] Expansion expand(const AtomValues& atoms) {
    const Index size = offset_ + atoms.size();
    std::vector<double> sums(static_cast<std::size_t>(size * size + size + 1));
    sum_over_blocks(problem_.rows, problem_.workers, sums, [&](const RowBlock& block, Arena& arena, double* out) {
      const auto rows = static_cast<int>(block.rows);
      double* values = arena.take(std::max<Index>(size, 1) * block.stride);  // A of the block, transposed
      double* first = arena.take(block.rows);
      double* second = arena.take(block.rows);
      out[size * size + size] +=
          problem_.loss.derivatives(scores_.data() + block.first_row, problem_.targets.data() + block.first_row,
                                    block.rows, first, second);
      if (size == 0) return;
      if (offset_ == 1) std::fill(values, values + block.rows, 1.0);
      atoms.evaluate(block, 0, atoms.size(), values + offset_ * block.stride, block.stride, arena);
      cblas_dgemv(CblasRowMajor, CblasNoTrans, static_cast<int>(size), rows, 1.0, values,
                  static_cast<int>(block.stride), first, 1, 1.0, out + size * size, 1);
      for (Index n = 0; n < block.rows; ++n) second[n] = std::sqrt(second[n]);
      for (Index i = 0; i < size; ++i) {
        double* value = values + i * block.stride;
        for (Index n = 0; n < block.rows; ++n) value[n] *= second[n];
      }
      cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, static_cast<int>(size), rows, 1.0, values,
                  static_cast<int>(block.stride), 1.0, out, static_cast<int>(size));
    });
    Expansion expansion;
    expansion.loss = sums.back();
    expansion.gradient = Eigen::Map<const Eigen::VectorXd>(sums.data() + size * size, size);
    // The upper triangle of a row-major matrix is the lower one of a column-major matrix.
    expansion.hessian = Eigen::Map<const Eigen::MatrixXd>(sums.data(), size, size).selfadjointView<Eigen::Lower>();
    return expansion;
  }

  static Eigen::VectorXd solve_positive(const Eigen::MatrixXd& hessian, const Eigen::VectorXd& gradient) {
    Eigen::LLT<Eigen::MatrixXd> factor(hessian);
    // Rows that are fitted perfectly have no curvature left; a little on the diagonal keeps the step finite.
    const double mean_diagonal = hessian.diagonal().mean();
    for (double extra = 1e-12; factor.info() != Eigen::Success || !(factor.rcond() > 1e-15); extra *= 100) {
      if (!(extra < 1)) throw Error(ErrorKind::kNumerical, "the Newton step cannot be computed; use a larger --ridge");
      Eigen::MatrixXd raised = hessian;
      raised.diagonal().array() += extra * mean_diagonal;
      factor.compute(raised);
    }
    return factor.solve(gradient);
  }

  // The step length, 1 or a power of 1/2, that decreases F enough (Armijo); 0 if rounding allows none.
  [[nodiscard]] double line_search(const AtomValues& atoms, const Eigen::VectorXd& direction, double ridge,
                                   double objective, double slope,
                                   const Eigen::Ref<const Eigen::VectorXd>& theta) {
    const std::span<const double> theta_direction(direction.data() + offset_, static_cast<std::size_t>(atoms.size()));
    for_each_block(problem_.rows, problem_.workers, [&](const RowBlock& block, Arena& arena) {
      score_block(block, atoms, theta_direction, offset_ == 1 ? direction[0] : 0,
                  direction_scores_.data() + block.first_row, arena);
    });
    constexpr double kSufficientDecrease = 1e-4;
    for (double length = 1; length > 1e-10; length /= 2) {
      const double penalty = ridge * (theta + length * direction.tail(atoms.size())).squaredNorm();
      if (loss_along(length) + penalty <= objective + kSufficientDecrease * length * slope) return length;
    }
    return 0;
  }

  [[nodiscard]] double loss_along(double length) {
    const Index n_rows = problem_.rows.rows();
    const Index blocks = problem_.rows.blocks();
    std::vector<double> sums(static_cast<std::size_t>(blocks));
    problem_.workers.pool.run(blocks, [&](Index b) {
      const Index first = b * kBlockRows;
      const Index count = std::min(kBlockRows, n_rows - first);
      double trial[kBlockRows];
      for (Index n = 0; n < count; ++n) trial[n] = at(scores_, first + n) + length * at(direction_scores_, first + n);
      sums[static_cast<std::size_t>(b)] = problem_.loss.sum(trial, problem_.targets.data() + first, count);
    });
    double total = 0;
    for (const double sum : sums) total += sum;
    return total;
  }

  void take_step(const Eigen::VectorXd& direction, double length, ActiveSet& active) {
    if (offset_ == 1) active.intercept += length * direction[0];
    for (std::size_t i = 0; i < active.theta.size(); ++i) {
      active.theta[i] += length * direction[offset_ + static_cast<Index>(i)];
    }
    cblas_daxpy(static_cast<int>(scores_.size()), length, direction_scores_.data(), 1, scores_.data(), 1);
  }

  static double at(const std::vector<double>& values, Index i) { return values[static_cast<std::size_t>(i)]; }

  Problem problem_;
  Penalty penalty_;
  Index offset_;                          // 1 if there is an intercept
  std::vector<double> scores_;            // c + A theta
  std::vector<double> direction_scores_;  // the same for the Newton direction
};

}  // namespace

std::unique_ptr<Refit> make_newton_refit(const Problem& problem, const Penalty& penalty) {
  return std::make_unique<NewtonRefit>(problem, penalty);
}

}  // namespace mfga
