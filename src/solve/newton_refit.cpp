// Refit for smooth convex losses: Newton's method with a backtracking line search on
//
//   F(c, theta) = sum_n L(c + (A theta)_n, y_n) + ridge |theta|^2,
//
// warm-started at the coefficients of the step before. Full Newton steps alone diverge on real data; yet they
// are nearly always right, so the point that a full step leads to is expanded at once, and one pass over the
// rows per Newton step is enough.
#include <cblas.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "mfga/error.hpp"
#include "solve/refit.hpp"

namespace mfga {
namespace {

constexpr int kMostNewtonSteps = 100;
// A step whose predicted decrease is below this fraction of F is the last and needs no test: the error that
// it leaves is of the order of its square.
constexpr double kLastStepDecrease = 1e-6;
// A step must decrease F by this fraction of what the gradient promises (Armijo).
constexpr double kSufficientDecrease = 1e-4;

// F with its gradient and Hessian, at some (c, theta).
struct Expansion {
  double objective = 0;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
};

struct ActiveAtoms {
  std::span<const Atom> list;
  AtomValues values;
  [[nodiscard]] Index size() const { return values.size(); }
};

class NewtonRefit final : public Refit {
 public:
  NewtonRefit(const Problem& problem, const Penalty& penalty)
      : problem_(problem), penalty_(penalty), offset_(problem.intercept == Intercept::kUnpenalised ? 1 : 0) {}

  void append(std::span<const double> /*products*/) override {}

  RefitReport solve(ActiveSet& active) override {
    const ActiveAtoms atoms{active.atoms, AtomValues(active.atoms)};
    Eigen::VectorXd point = Eigen::VectorXd::Zero(offset_ + atoms.size());  // (c, theta)
    if (offset_ == 1) point[0] = active.intercept;
    std::copy(active.theta.begin(), active.theta.end(), point.begin() + offset_);
    RefitReport report;
    report.ridge = penalty_.ridge;
    if (penalty_.norm_bound > 0) {
      report.ridge = meet_norm_bound(penalty_.norm_bound, 1e-9, 1.0, [&](double multiplier) {
        minimise(atoms, multiplier, point, report);
        return point.tail(atoms.size()).norm();
      });
    } else {
      minimise(atoms, penalty_.ridge, point, report);
    }
    if (offset_ == 1) active.intercept = point[0];
    active.theta.assign(point.begin() + offset_, point.end());
    return report;
  }

 private:
  void minimise(const ActiveAtoms& atoms, double ridge, Eigen::VectorXd& point, RefitReport& report) {
    report.converged = false;
    Expansion here = expand(atoms, ridge, point);
    for (int step = 0; step < kMostNewtonSteps; ++step) {
      const Eigen::VectorXd direction = -solve_positive(here.hessian, here.gradient);
      const double slope = here.gradient.dot(direction);
      ++report.newton_steps;
      if (!(-slope > kLastStepDecrease * here.objective)) {
        if (slope < 0) point += direction;
        report.converged = true;
        return;
      }
      Expansion next = expand(atoms, ridge, point + direction);
      double length = 1;
      if (!(next.objective <= here.objective + kSufficientDecrease * slope)) {
        length = shorter_step(atoms, ridge, point, direction, here.objective, slope);
        if (length == 0) return;  // rounding hides any decrease
        next = expand(atoms, ridge, point + length * direction);
      }
      point += length * direction;
      here = std::move(next);
    }
  }

  // A power of 1/2 that decreases F enough; 0 if there is none above rounding.
  [[nodiscard]] double shorter_step(const ActiveAtoms& atoms, double ridge, const Eigen::VectorXd& point,
                                    const Eigen::VectorXd& direction, double objective, double slope) const {
    for (double length = 0.5; length > 1e-12; length /= 2) {
      const double there = objective_at(atoms, ridge, point + length * direction);
      if (there <= objective + kSufficientDecrease * length * slope) return length;
    }
    return 0;
  }

  [[nodiscard]] double objective_at(const ActiveAtoms& atoms, double ridge,
                                    const Eigen::VectorXd& point) const {
    const ScoreFunction score(atoms.list, {point.data() + offset_, atoms.list.size()},
                              offset_ == 1 ? point[0] : 0);
    double loss = 0;
    sum_over_blocks(
        problem_.rows, problem_.workers, {&loss, 1}, [&](const RowBlock& block, Arena& arena, double* sum) {
          double* scores = arena.take(block.rows);
          score.evaluate(block, scores, arena);
          *sum += problem_.loss.sum(scores, problem_.targets.data() + block.first_row, block.rows);
        });
    return loss + ridge * point.tail(atoms.size()).squaredNorm();
  }

  [[nodiscard]] Expansion expand(const ActiveAtoms& atoms, double ridge, const Eigen::VectorXd& point) const {
    const Index size = offset_ + atoms.size();
    // The sums hold the Hessian's upper triangle, the gradient and the loss.
    std::vector<double> sums(static_cast<std::size_t>(size * size + size + 1));
    sum_over_blocks(
        problem_.rows, problem_.workers, sums, [&](const RowBlock& block, Arena& arena, double* out) {
          const auto n_rows = static_cast<int>(block.rows);
          const auto n_values = static_cast<int>(size);
          const auto stride = static_cast<int>(block.stride);
          double* values = arena.take(size * block.stride);  // A of the block, transposed
          double* scores = arena.take(block.rows);
          double* first = arena.take(block.rows);
          double* second = arena.take(block.rows);
          if (offset_ == 1) std::fill(values, values + block.rows, 1.0);
          atoms.values.evaluate(block, 0, atoms.size(), values + offset_ * block.stride, block.stride, arena);
          cblas_dgemv(CblasRowMajor, CblasTrans, n_values, n_rows, 1.0, values, stride, point.data(), 1, 0.0,
                      scores, 1);
          out[size * size + size] += problem_.loss.derivatives(
              scores, problem_.targets.data() + block.first_row, block.rows, first, second);
          cblas_dgemv(CblasRowMajor, CblasNoTrans, n_values, n_rows, 1.0, values, stride, first, 1, 1.0,
                      out + size * size, 1);
          for (Index n = 0; n < block.rows; ++n) second[n] = std::sqrt(second[n]);
          for (Index i = 0; i < size; ++i) {
            double* value = values + i * block.stride;
            for (Index n = 0; n < block.rows; ++n) value[n] *= second[n];
          }
          cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, n_values, n_rows, 1.0, values, stride, 1.0,
                      out, n_values);
        });
    Expansion expansion;
    const auto theta = point.tail(atoms.size());
    expansion.objective = sums.back() + ridge * theta.squaredNorm();
    expansion.gradient = Eigen::Map<const Eigen::VectorXd>(sums.data() + size * size, size);
    expansion.gradient.tail(atoms.size()) += 2 * ridge * theta;
    // The upper triangle of a row-major matrix is the lower one of a column-major matrix.
    expansion.hessian =
        Eigen::Map<const Eigen::MatrixXd>(sums.data(), size, size).selfadjointView<Eigen::Lower>();
    expansion.hessian.diagonal().tail(atoms.size()).array() += 2 * ridge;
    return expansion;
  }

  static Eigen::VectorXd solve_positive(const Eigen::MatrixXd& hessian, const Eigen::VectorXd& gradient) {
    Eigen::LLT<Eigen::MatrixXd> factor(hessian);
    // Rows that are fitted perfectly have no curvature left; a little on the diagonal keeps the step finite.
    const double mean_diagonal = hessian.diagonal().mean();
    for (double extra = 1e-12; factor.info() != Eigen::Success || !(factor.rcond() > 1e-15); extra *= 100) {
      if (!(extra < 1))
        throw Error(ErrorKind::kNumerical, "the Newton step cannot be computed; use a larger --ridge");
      Eigen::MatrixXd raised = hessian;
      raised.diagonal().array() += extra * mean_diagonal;
      factor.compute(raised);
    }
    return factor.solve(gradient);
  }

  Problem problem_;
  Penalty penalty_;
  Index offset_;  // 1 if there is an intercept
};

}  // namespace

std::unique_ptr<Refit> make_newton_refit(const Problem& problem, const Penalty& penalty) {
  return std::make_unique<NewtonRefit>(problem, penalty);
}

}  // namespace mfga
