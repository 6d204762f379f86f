// Refit for smooth convex losses of one output: Newton's method with a backtracking line search on
//
//   F(c, theta) = sum_n w_n L(c + (A theta)_n, y_n) + ridge |theta|^2,
//
// or another cost of the coefficients (Problem::cost), warm-started at the coefficients of the step before.
// Full Newton steps alone diverge on real data; yet they are nearly always right, so the point that a full
// step leads to is expanded at once.
//
// The Hessian costs far more than the gradient and changes little near the minimum. So it is kept there: for
// the last steps, and from one refit to the first step of the next, where only the rows of the atoms that
// joined are added. It is computed again where such a step does not lead on fast enough.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/row_combinations.hpp"
#include "core/row_kernels.hpp"
#include "mfga/error.hpp"
#include "solve/active_atoms.hpp"
#include "solve/device_problem.hpp"
#include "solve/refit.hpp"

namespace mfga {
namespace {

constexpr int kMostNewtonSteps = 100;
// A step whose predicted decrease is below this fraction of F is the last and needs no test: the error that
// it leaves is of the order of its square; with a Hessian of another point, a part of it, which may be larger
// where a rough solution does.
constexpr double kLastStepDecrease = 1e-6;
constexpr double kLastKeptStepDecrease = 1e-9;
constexpr double kLastRoughStepDecrease = 1e-5;
constexpr double kLastKeptRoughStepDecrease = 1e-7;
// A step whose predicted decrease is below this fraction of F, where steps become smaller this fast, leads to
// a point so near the minimum that the Hessian may be kept; and it may be kept while they do.
constexpr double kNearDecrease = 1e-4;
constexpr double kGoodProgress = 0.2;
// A step must decrease F by this fraction of what the gradient promises (Armijo).
constexpr double kSufficientDecrease = 1e-4;

using Vector = Eigen::VectorXd;
using SquareMatrix = Eigen::MatrixXd;

void archive_matrix(Archive& bytes, SquareMatrix& matrix) {
  Index size = matrix.rows();
  std::vector<double> entries(matrix.data(), matrix.data() + matrix.size());
  bytes(size, entries);
  const auto count = static_cast<Index>(entries.size());
  Archive::require(size >= 0 && size <= count &&
                   (size == 0 ? count == 0 : count / size == size && count % size == 0));
  matrix = Eigen::Map<const SquareMatrix>(entries.data(), size, size);
}

// A factor that can be put back. To compute it again may be impossible, for the Hessian may have changed.
class Factor : public Eigen::LLT<SquareMatrix> {
 public:
  friend void archive(Archive& bytes, Factor& factor) {
    bytes(factor.m_isInitialized);
    if (!factor.m_isInitialized) return;
    bytes(factor.m_l1_norm, factor.m_info);
    archive_matrix(bytes, factor.m_matrix);
  }
};

class NewtonRefit final : public Refit {
 public:
  NewtonRefit(const Problem& problem, const Penalty& penalty)
      : problem_(problem),
        penalty_(penalty),
        offset_(problem.intercept == Intercept::kUnpenalised ? 1 : 0),
        atoms_(offset_, problem) {}

  void append(std::span<const double> /*products*/) override {}
  [[nodiscard]] bool needs_products() const override { return false; }

  using Refit::solve;
  RefitReport solve(ActiveSet& active, Accuracy accuracy) override {
    atoms_.set(active.atoms);
    const ActiveAtoms& atoms = atoms_;
    if (hessian_.rows() > atoms.size()) hessian_.resize(0, 0);  // it is that of other atoms
    Vector point = Vector::Zero(atoms.size());                  // (c, theta)
    if (offset_ == 1) point[0] = active.intercepts.front();
    std::copy(active.theta.begin(), active.theta.end(), point.begin() + offset_);
    RefitReport report;
    report.ridge = penalty_.ridge;
    if (point.size() == 0) return report;  // neither an atom nor an intercept
    if (penalty_.norm_bound > 0) {
      report.ridge = meet_norm_bound(penalty_.norm_bound, 1e-9, 1.0, [&](double multiplier) {
        minimise(atoms, multiplier, Accuracy::kFull, point, report);
        return point.tail(atoms.size() - offset_).norm();
      });
    } else {
      minimise(atoms, penalty_.ridge, accuracy, point, report);
    }
    if (offset_ == 1) active.intercepts = {point[0]};
    active.theta.assign(point.begin() + offset_, point.end());
    return report;
  }

  void start_near(std::span<const double> hessian) override {
    if (!std::ranges::all_of(hessian, [](double entry) { return std::isfinite(entry); })) return;
    const auto size = static_cast<Index>(std::sqrt(static_cast<double>(hessian.size())));
    hessian_.resize(size, size);
    for (Index i = 0; i < size; ++i) {
      for (Index j = 0; j <= i; ++j) hessian_(i, j) = hessian[static_cast<std::size_t>(i * size + j)];
    }
  }

  [[nodiscard]] Matrix explained(const Matrix& cross) override {
    if (offset_ == 1 && hessian_.rows() == 0) expand_constant();
    // Atoms that joined after the last solution are not part of the model yet.
    const Index known = std::min(cross.cols, hessian_.rows());
    Matrix whitened(cross.rows, known);
    for (Index i = 0; i < cross.rows; ++i) {
      Eigen::Map<Vector> row(whitened.row(i), known);
      row = Eigen::Map<const Vector>(cross.row(i), known);
      if (known > 0) factor_.matrixL().solveInPlace(row);
    }
    return scaled_gram(whitened, 1);
  }

  [[nodiscard]] std::vector<double> drop_costs(const ActiveSet& active) override {
    const SquareMatrix inverse = factor_.solve(SquareMatrix::Identity(hessian_.rows(), hessian_.rows()));
    std::vector<double> costs;
    for (std::size_t i = 0; i < active.theta.size(); ++i) {
      const Index j = offset_ + static_cast<Index>(i);
      costs.push_back(0.5 * active.theta[i] * active.theta[i] / inverse(j, j));
    }
    return costs;
  }

  [[nodiscard]] Matrix orthonormal_combinations(Index /*first*/) const override { return {}; }

  [[nodiscard]] std::vector<double> hessian(double ridge) const override {
    const Index size = hessian_.rows();
    std::vector<double> result(static_cast<std::size_t>(size * size));
    for (Index i = 0; i < size; ++i) {
      for (Index j = 0; j <= i; ++j) result[static_cast<std::size_t>(i * size + j)] = hessian_(i, j);
      if (i >= offset_) result[static_cast<std::size_t>(i * size + i)] += 2 * ridge;
    }
    return result;
  }

  void archive(Archive& bytes) override {
    archive_matrix(bytes, hessian_);
    bytes(factor_);
  }
  // Before the first solution there is neither matrix.
  [[nodiscard]] bool is_of(Index atoms) const override {
    return hessian_.rows() == factor_.rows() &&
           (hessian_.rows() == offset_ + atoms || (atoms == 0 && hessian_.rows() == 0));
  }

 private:
  // The Hessian of a model of nothing but the best constant.
  void expand_constant() {
    const ActiveAtoms none(offset_, problem_);
    static_cast<void>(expand(none, 0, Vector::Constant(1, problem_.best_constants().front()), 0));
    factorise(0, Vector::Zero(1));
  }

  // F and its gradient at some (c, theta).
  struct Expansion {
    double objective = 0;
    Vector gradient;
  };

  void minimise(const ActiveAtoms& atoms, double ridge, Accuracy accuracy, Vector& point,
                RefitReport& report) {
    const double last_decrease = accuracy == Accuracy::kRough ? kLastRoughStepDecrease : kLastStepDecrease;
    const double last_decrease_of_kept =
        accuracy == Accuracy::kFull ? kLastKeptStepDecrease : kLastKeptRoughStepDecrease;
    report.converged = false;
    bool is_fresh = hessian_.rows() == 0;  // whether the Hessian is that of `point`
    Expansion here = expand(atoms, ridge, point, hessian_.rows());
    factorise(ridge, point);
    const auto refresh = [&] {
      here = expand(atoms, ridge, point, 0);
      factorise(ridge, point);
      is_fresh = true;
    };
    double decrease_before = std::numeric_limits<double>::infinity();
    for (int step = 0; step < kMostNewtonSteps; ++step) {
      Vector direction = -factor_.solve(here.gradient);
      double slope = here.gradient.dot(direction);
      if (!is_fresh && !(-slope <= kGoodProgress * decrease_before)) {
        refresh();
        direction = -factor_.solve(here.gradient);
        slope = here.gradient.dot(direction);
      }
      ++report.newton_steps;
      if (!std::isfinite(slope)) return;  // there is no direction to go
      if (!(-slope > (is_fresh ? last_decrease : last_decrease_of_kept) * here.objective)) {
        if (slope < 0) point += direction;
        report.converged = true;
        return;
      }
      const bool is_near =
          -slope <= kNearDecrease * here.objective && -slope <= kGoodProgress * decrease_before;
      bool next_is_fresh = !is_near;
      Expansion next = expand(atoms, ridge, point + direction, next_is_fresh ? 0 : hessian_.rows());
      double length = 1;
      if (!(next.objective <= here.objective + kSufficientDecrease * slope)) {
        if (!is_fresh) {
          refresh();
          continue;
        }
        length = shorter_step(atoms, ridge, point, direction, here.objective, slope);
        if (length == 0) return;  // not converged: a decrease as large as promised is not hidden by rounding
        next = expand(atoms, ridge, point + length * direction, 0);
        next_is_fresh = true;
      }
      point += length * direction;
      here = std::move(next);
      is_fresh = next_is_fresh;
      if (is_fresh) factorise(ridge, point);
      decrease_before = -slope;
    }
  }

  // A power of 1/2 that decreases F enough; 0 if there is none above rounding.
  [[nodiscard]] double shorter_step(const ActiveAtoms& atoms, double ridge, const Vector& point,
                                    const Vector& direction, double objective, double slope) const {
    for (double length = 0.5; length > 1e-12; length /= 2) {
      const double there = objective_at(atoms, ridge, point + length * direction);
      if (there <= objective + kSufficientDecrease * length * slope) return length;
    }
    return 0;
  }

  [[nodiscard]] double objective_at(const ActiveAtoms& atoms, double ridge, const Vector& point) const {
    const double intercept = offset_ == 1 ? point[0] : 0;
    if (problem_.device != nullptr) {
      const double loss =
          problem_.device->derivatives(problem_, intercept, {point.data() + offset_, atoms.list().size()},
                                       problem_.device->values(atoms.list()), false);
      return loss + ridge * cost_of(point);
    }
    const ScoreFunction score(atoms.list(), {point.data() + offset_, atoms.list().size()}, {&intercept, 1});
    return loss_sum(problem_, score) + ridge * cost_of(point);
  }

  [[nodiscard]] double cost_of(const Vector& point) const {
    double cost = 0;
    for (Index i = offset_; i < point.size(); ++i) cost += problem_.cost.value(point[i]);
    return cost;
  }

  // Expands F at the point, and computes the rows of the Hessian of the losses from `first_row` on there; the
  // others stay as they are.
  [[nodiscard]] Expansion expand(const ActiveAtoms& atoms, double ridge, const Vector& point,
                                 Index first_row) {
    if (problem_.device != nullptr) return expand_on_device(atoms, ridge, point, first_row);
    const Index size = atoms.size();
    const Index n_entries = (size - first_row) * size;
    // The sums hold those rows of the Hessian up to the diagonal's tile, the gradient and the loss.
    std::vector<double> sums(static_cast<std::size_t>(n_entries + size + 1));
    sum_over_blocks(
        atoms.rows(), problem_.workers, sums, [&](const RowBlock& block, Arena& arena, double* out) {
          const double* values = atoms.of(block, arena);  // A of the block, transposed
          double* scores = arena.take(block.stride);
          double* first = arena.take(block.stride);
          double* second = arena.take(block.stride);
          set_combinations(point.data(), 1, values, size, block.stride, block.rows, scores, block.stride);
          double* gradient = out + n_entries;
          gradient[size] += first_row == size ? problem_.gradient_of(block, scores, first)
                                              : problem_.derivatives_of(block, scores, first, second);
          add_row_products(first, 1, block.stride, values, size, block.stride, block.rows, gradient, size);
          add_hessian_rows(block, values, second, size, first_row, out, arena);
        });
    atoms.have_been_seen();
    set_hessian_rows(std::span(sums).first(static_cast<std::size_t>(n_entries)), size, first_row);
    return with_cost(sums.back(), Eigen::Map<const Vector>(sums.data() + n_entries, size), ridge, point);
  }

  [[nodiscard]] Expansion expand_on_device(const ActiveAtoms& atoms, double ridge, const Vector& point,
                                           Index first_row) {
    const Index size = atoms.size();
    DeviceProblem& device = *problem_.device;
    const ColumnRange values = device.values(atoms.list());
    // Without an intercept, the first column, 1, is not a part of the model.
    const ColumnRange own{values.columns, values.first + 1 - offset_, size};
    const ColumnRange new_ones{own.columns, own.first + first_row, size - first_row};
    const double loss = device.derivatives(problem_, offset_ == 1 ? point[0] : 0,
                                           {point.data() + offset_, static_cast<std::size_t>(size - offset_)},
                                           values, first_row < size);
    Vector gradient(size);
    device.rows().products(own, device.first_derivatives(), {},
                           {gradient.data(), static_cast<std::size_t>(size)});
    std::vector<double> entries(static_cast<std::size_t>(new_ones.count * size));
    device.rows().products(new_ones, own, device.second_derivatives(), entries);
    set_hessian_rows(entries, size, first_row);
    return with_cost(loss, std::move(gradient), ridge, point);
  }

  // entries[(i - first_row) * size + j], of which j <= i count.
  void set_hessian_rows(std::span<const double> entries, Index size, Index first_row) {
    hessian_.conservativeResize(size, size);
    for (Index i = first_row; i < size; ++i) {
      for (Index j = 0; j <= i; ++j)
        hessian_(i, j) = entries[static_cast<std::size_t>((i - first_row) * size + j)];
    }
  }

  // F where this is the sum of the losses.
  [[nodiscard]] Expansion with_cost(double loss, Vector gradient, double ridge, const Vector& point) const {
    for (Index i = offset_; i < point.size(); ++i) gradient[i] += ridge * problem_.cost.slope(point[i]);
    return {loss + ridge * cost_of(point), std::move(gradient)};
  }

  // out[(i - first_row) * size + j] += sum over rows of second * value_i * value_j, for i >= first_row and
  // j <= i, in tiles whose values stay in the second-level cache.
  static void add_hessian_rows(const RowBlock& block, const double* values, const double* second, Index size,
                               Index first_row, double* out, Arena& arena) {
    constexpr Index kTile = 48;
    double* weighted = arena.take(kTile * block.stride);
    for (Index first = first_row; first < size; first += kTile) {
      const Index count = std::min(kTile, size - first);
      for (Index i = 0; i < count; ++i) {
        const double* value = values + (first + i) * block.stride;
        double* product = weighted + i * block.stride;
        for (Index n = 0; n < block.rows; ++n) product[n] = second[n] * value[n];
      }
      for (Index column = 0; column < first + count; column += kTile) {
        add_row_products(weighted, count, block.stride, values + column * block.stride,
                         std::min(kTile, first + count - column), block.stride, block.rows,
                         out + (first - first_row) * size + column, size);
      }
    }
  }

  // The factor of the Hessian with the cost of the coefficients there.
  void factorise(double ridge, const Vector& point) {
    SquareMatrix raised = hessian_;
    for (Index i = offset_; i < hessian_.rows(); ++i)
      raised(i, i) += ridge * problem_.cost.curvature(point[i]);
    factor_.compute(raised);
    // Rows that are fitted perfectly have no curvature left; a little on the diagonal keeps the step finite.
    const double mean_diagonal = raised.diagonal().mean();
    double added = 0;
    for (double extra = 1e-12; factor_.info() != Eigen::Success || !(factor_.rcond() > 1e-15); extra *= 100) {
      if (!(extra < 1))
        throw Error(ErrorKind::kNumerical,
                    penalty_.norm_bound > 0 ? "the Newton step cannot be computed; use a smaller norm bound"
                                            : "the Newton step cannot be computed; use a larger ridge");
      raised.diagonal().array() += extra * mean_diagonal - added;
      added = extra * mean_diagonal;
      factor_.compute(raised);
    }
  }

  Problem problem_;
  Penalty penalty_;
  Index offset_;          // 1 if there is an intercept
  ActiveAtoms atoms_;     // of the last solution
  SquareMatrix hessian_;  // of the sum of the losses; the lower triangle
  Factor factor_;         // of that with the ridge
};

}  // namespace

std::unique_ptr<Refit> make_newton_refit(const Problem& problem, const Penalty& penalty) {
  return std::make_unique<NewtonRefit>(problem, penalty);
}

}  // namespace mfga
