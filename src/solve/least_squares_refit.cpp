// Refit for the squared loss: (A^T A + ridge D) (c, theta) = A^T y, where the first column of A is 1 for the
// intercept and D is 0 there and 1 elsewhere. Where rows have weights, sums over rows are by these.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "mfga/error.hpp"
#include "solve/growing_cholesky.hpp"
#include "solve/refit.hpp"

namespace mfga {
namespace {

class LeastSquaresRefit final : public Refit {
 public:
  LeastSquaresRefit(const Problem& problem, const Penalty& penalty)
      : penalty_(penalty), offset_(problem.intercept == Intercept::kUnpenalised ? 1 : 0) {
    const std::span<const double> weights = problem.rows.weights();
    double target_sum = 0;
    for (std::size_t n = 0; n < problem.targets.size(); ++n) {
      const double y = problem.targets[n];
      const double weighted = weights.empty() ? y : weights[n] * y;
      target_sum += weighted;
      target_square_ += weighted * y;
    }
    if (offset_ == 1) append_row({problem.count()}, target_sum, 0);
  }

  void append(std::span<const double> products) override {
    std::vector<double> row;
    if (offset_ == 1) row.push_back(products[0]);
    row.insert(row.end(), products.begin() + 2, products.end());
    append_row(std::move(row), products[1], penalty_.ridge);
  }

  [[nodiscard]] bool needs_products() const override { return true; }

  RefitReport solve(ActiveSet& active) override {
    RefitReport report = solve_for_coefficients(active);
    // With G = A^T A and b = A^T y: |y - A x|^2 = |y|^2 - 2 b x + x G x, and G x = b - ridge D x.
    double loss = target_square_;
    double largest = target_square_;
    const auto subtract = [&](double part) {
      loss -= part;
      largest = std::max(largest, std::abs(part));
    };
    if (offset_ == 1) subtract(target_products_[0] * active.intercept);
    for (std::size_t i = 0; i < active.theta.size(); ++i) {
      subtract(target_products_[static_cast<std::size_t>(offset_) + i] * active.theta[i]);
      subtract(report.ridge * active.theta[i] * active.theta[i]);
    }
    constexpr double kDigitsLeft = 1e-6;  // less than this of the parts is mostly their rounding
    if (loss > kDigitsLeft * largest) report.loss_sum = loss;
    return report;
  }

  // The Hessian is twice A^T A + ridge D.
  [[nodiscard]] Matrix explained(const Matrix& cross) override {
    Matrix whitened = cross;
    for (Index i = 0; i < cross.rows; ++i)
      factor_.solve_lower({whitened.row(i), static_cast<std::size_t>(cross.cols)});
    return scaled_gram(whitened, 0.5);
  }

  [[nodiscard]] std::vector<double> drop_costs(const ActiveSet& active) override {
    const Matrix inverse_rows = orthonormal_combinations(0);
    std::vector<double> costs;
    for (std::size_t i = 0; i < active.theta.size(); ++i) {
      // The diagonal of (L L^T)^-1 = L^-T L^-1.
      double inverse = 0;
      const Index column = offset_ + static_cast<Index>(i);
      for (Index m = column; m < inverse_rows.rows; ++m)
        inverse += inverse_rows(m, column) * inverse_rows(m, column);
      costs.push_back(active.theta[i] * active.theta[i] / inverse);
    }
    return costs;
  }

  [[nodiscard]] Matrix orthonormal_combinations(Index first) const override {
    // The rows of L^-1.
    Matrix result(factor_.size() - first, factor_.size());
    for (Index m = 0; m < result.rows; ++m) {
      result(m, first + m) = 1;
      factor_.solve_upper({result.row(m), static_cast<std::size_t>(result.cols)});
    }
    return result;
  }

  [[nodiscard]] std::vector<double> hessian(double ridge) const override {
    const std::size_t size = rows_.size();
    std::vector<double> result(size * size);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j <= i; ++j) result[i * size + j] = 2 * rows_[i][j];
      if (i >= static_cast<std::size_t>(offset_)) result[i * size + i] += 2 * ridge;
    }
    return result;
  }

 private:
  RefitReport solve_for_coefficients(ActiveSet& active) {
    RefitReport report;
    report.ridge = penalty_.ridge;
    if (rows_.empty()) return report;  // neither an atom nor an intercept
    if (penalty_.norm_bound > 0) {
      report.ridge = meet_norm_bound(penalty_.norm_bound, 1e-12, mean_diagonal(), [&](double multiplier) {
        store(solve_with(multiplier), active);
        return norm(active.theta);
      });
      return report;
    }
    std::vector<double> solution = target_products_;
    factor_.solve(solution);
    store(solution, active);
    return report;
  }

  void append_row(std::vector<double> row, double target_product, double ridge) {
    rows_.push_back(row);
    row.back() += ridge;
    // The atom is independent of the others, which was tested without the ridge.
    if (!factor_.append(row, 0)) {
      throw Error(
          ErrorKind::kNumerical,
          penalty_.norm_bound > 0
              ? "the least-squares problem became singular; use fewer terms, or a ridge in place of the norm "
                "bound"
              : "the least-squares problem became singular; use a larger ridge");
    }
    target_products_.push_back(target_product);
  }

  [[nodiscard]] std::vector<double> solve_with(double ridge) const {
    const auto size = static_cast<Eigen::Index>(rows_.size());
    Eigen::MatrixXd gram(size, size);
    for (Eigen::Index i = 0; i < size; ++i) {
      for (Eigen::Index j = 0; j <= i; ++j)
        gram(i, j) = rows_[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      if (i >= offset_) gram(i, i) += ridge;
    }
    const Eigen::Map<const Eigen::VectorXd> right(target_products_.data(), size);
    std::vector<double> solution(rows_.size());
    Eigen::Map<Eigen::VectorXd>(solution.data(), size) =
        Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>>(gram).solve(right);
    return solution;
  }

  void store(const std::vector<double>& solution, ActiveSet& active) const {
    active.intercept = offset_ == 1 ? solution[0] : 0;
    active.theta.assign(solution.begin() + offset_, solution.end());
  }

  [[nodiscard]] double mean_diagonal() const {
    double total = 0;
    for (const auto& row : rows_) total += row.back();
    return 1e-3 * total / static_cast<double>(rows_.size());
  }

  static double norm(const std::vector<double>& theta) {
    return Eigen::Map<const Eigen::VectorXd>(theta.data(), static_cast<Eigen::Index>(theta.size())).norm();
  }

  Penalty penalty_;
  Index offset_;                           // 1 if there is an intercept
  std::vector<std::vector<double>> rows_;  // lower triangle of A^T A
  std::vector<double> target_products_;    // A^T y
  double target_square_ = 0;               // |y|^2
  GrowingCholesky factor_;                 // of A^T A + ridge D
};

}  // namespace

std::unique_ptr<Refit> make_least_squares_refit(const Problem& problem, const Penalty& penalty) {
  return std::make_unique<LeastSquaresRefit>(problem, penalty);
}

}  // namespace mfga
