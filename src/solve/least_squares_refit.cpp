// Refit for the squared loss: (A^T A + ridge D) (c, theta) = A^T y for every output; see FactoredRefit.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "solve/factored_refit.hpp"

namespace mfga {
namespace {

class LeastSquaresRefit final : public FactoredRefit {
 public:
  LeastSquaresRefit(const Problem& problem, const Penalty& penalty)
      : FactoredRefit(problem, penalty, *problem.loss.constant_curvature()),
        target_products_(static_cast<std::size_t>(problem.target_columns())) {
    const std::span<const double> weights = problem.rows.weights();
    for (std::size_t k = 0; k < target_products_.size(); ++k) {
      const std::span<const double> targets =
          TargetColumns{problem.targets, {}, problem.target_columns()}.column(static_cast<Index>(k)).values;
      double target_sum = 0;
      for (std::size_t n = 0; n < targets.size(); ++n) {
        const double weighted = weights.empty() ? targets[n] : weights[n] * targets[n];
        target_sum += weighted;
        target_square_ += weighted * targets[n];
      }
      if (offset() == 1) target_products_[k].push_back(target_sum);
    }
  }

  void append(std::span<const double> products) override {
    FactoredRefit::append(products);
    for (std::size_t k = 0; k < target_products_.size(); ++k) target_products_[k].push_back(products[1 + k]);
  }

  void archive(Archive& bytes) override {
    FactoredRefit::archive(bytes);
    bytes(target_products_);
  }
  [[nodiscard]] bool is_of(Index atoms) const override {
    return FactoredRefit::is_of(atoms) && std::ssize(target_products_) == problem().target_columns() &&
           std::ranges::all_of(target_products_, [&](const std::vector<double>& of_one) {
             return std::ssize(of_one) == size();
           });
  }

  using Refit::solve;
  RefitReport solve(ActiveSet& active, Accuracy /*accuracy*/) override {
    RefitReport report = solve_for_coefficients(active);
    // With G = A^T A and b = A^T y: |y - A x|^2 = |y|^2 - 2 b x + x G x, and G x = b - ridge D x.
    double loss = target_square_;
    double largest = target_square_;
    const auto subtract = [&](double part) {
      loss -= part;
      largest = std::max(largest, std::abs(part));
    };
    for (std::size_t k = 0; k < target_products_.size(); ++k) {
      if (offset() == 1) subtract(target_products_[k][0] * active.intercepts[k]);
      for (std::size_t i = 0; i < active.atoms.size(); ++i) {
        const double theta = active.theta_of(i)[k];
        subtract(target_products_[k][static_cast<std::size_t>(offset()) + i] * theta);
        subtract(report.ridge * theta * theta);
      }
    }
    constexpr double kDigitsLeft = 1e-6;  // less than this of the parts is mostly their rounding
    if (loss > kDigitsLeft * largest) report.loss_sum = loss;
    return report;
  }

 private:
  RefitReport solve_for_coefficients(ActiveSet& active) {
    RefitReport report;
    report.ridge = penalty().ridge;
    active.intercepts.assign(target_products_.size(), 0);
    active.theta.resize(active.atoms.size() * target_products_.size());
    if (size() == 0) return report;  // neither an atom nor an intercept
    if (penalty().norm_bound > 0) {
      report.ridge = meet_norm_bound(penalty().norm_bound, 1e-12, mean_diagonal(), [&](double multiplier) {
        for (std::size_t k = 0; k < target_products_.size(); ++k) store(solve_with(multiplier, k), k, active);
        return Eigen::Map<const Eigen::VectorXd>(active.theta.data(), std::ssize(active.theta)).norm();
      });
      return report;
    }
    for (std::size_t k = 0; k < target_products_.size(); ++k) {
      std::vector<double> solution = target_products_[k];
      factor().solve(solution);
      store(solution, k, active);
    }
    return report;
  }

  [[nodiscard]] std::vector<double> solve_with(double ridge, std::size_t output) const {
    Eigen::MatrixXd gram(size(), size());
    for (Index i = 0; i < size(); ++i) {
      for (Index j = 0; j <= i; ++j)
        gram(i, j) = gram_rows()[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      if (i >= offset()) gram(i, i) += ridge;
    }
    const Eigen::Map<const Eigen::VectorXd> right(target_products_[output].data(), size());
    std::vector<double> solution(target_products_[output].size());
    Eigen::Map<Eigen::VectorXd>(solution.data(), size()) =
        Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>>(gram).solve(right);
    return solution;
  }

  void store(const std::vector<double>& solution, std::size_t output, ActiveSet& active) const {
    if (offset() == 1) active.intercepts[output] = solution[0];
    for (std::size_t i = 0; i < active.atoms.size(); ++i)
      active.theta[i * active.outputs() + output] = solution[static_cast<std::size_t>(offset()) + i];
  }

  [[nodiscard]] double mean_diagonal() const {
    double total = 0;
    for (const auto& row : gram_rows()) total += row.back();
    return 1e-3 * total / static_cast<double>(size());
  }

  std::vector<std::vector<double>> target_products_;  // A^T y of each output
  double target_square_ = 0;                          // |y|^2 of all
};

}  // namespace

std::unique_ptr<Refit> make_least_squares_refit(const Problem& problem, const Penalty& penalty) {
  return std::make_unique<LeastSquaresRefit>(problem, penalty);
}

}  // namespace mfga
