#include "solve/leverage.hpp"

#include <cblas.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/random.hpp"
#include "features/candidates.hpp"

namespace mfga {
namespace {

constexpr double kHigh = 0.5;
constexpr double kAboveAverage = 5;
// Of an estimate: a leverage that is high is estimated below this once in some 10^5 rows.
constexpr double kWorthALook = 0.15;
constexpr Index kProbes = 24;
constexpr std::size_t kMostRows = 64;

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

class Leverages {
 public:
  Leverages(const Problem& problem, const ActiveSet& active, const std::vector<double>& hessian)
      : problem_(problem),
        offset_(problem.intercept == Intercept::kUnpenalised ? 1 : 0),
        atoms_(active.atoms),
        coefficients_(offset_ + atoms_.size()),
        factor_(Eigen::Map<const RowMajor>(hessian.data(), coefficients_.size(), coefficients_.size())) {
    if (offset_ == 1) coefficients_[0] = active.intercepts.front();
    std::copy(active.theta.begin(), active.theta.end(), coefficients_.begin() + offset_);
  }

  [[nodiscard]] Index size() const { return coefficients_.size(); }
  [[nodiscard]] bool is_possible() const { return factor_.info() == Eigen::Success; }

  struct Estimates {
    std::vector<double> leverages;  // exact if there are no more coefficients than probes
    std::vector<double> weights;
  };
  [[nodiscard]] Estimates estimate(std::uint64_t seed) const {
    const Index n_probes = std::min(kProbes, size());
    RowMajor probes = RowMajor::Identity(n_probes, size());
    if (n_probes < size()) {
      const CounterRandom random(seed, RandomStream::kLeverage);
      const double scale = 1 / std::sqrt(static_cast<double>(n_probes));
      for (Index i = 0; i < probes.size(); ++i)
        probes.data()[i] = scale * random.normal(static_cast<std::uint64_t>(i));
    }
    // With H = L L^T, h = w |L^-1 a|^2.
    factor_.matrixL().solveInPlace<Eigen::OnTheRight>(probes);
    const auto n_rows = static_cast<std::size_t>(problem_.rows.rows());
    Estimates result{std::vector<double>(n_rows), std::vector<double>(n_rows)};
    for_each_block(problem_.rows, problem_.workers, [&](const RowBlock& block, Arena& arena) {
      const double* values = evaluate(block, arena);
      const double* weights = curvatures_of(block, values, problem_.targets.data() + block.first_row, arena);
      double* products = arena.take(n_probes * block.stride);
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(n_probes),
                  static_cast<int>(block.rows), static_cast<int>(size()), 1.0, probes.data(),
                  static_cast<int>(size()), values, static_cast<int>(block.stride), 0.0, products,
                  static_cast<int>(block.stride));
      std::copy_n(weights, block.rows, result.weights.data() + block.first_row);
      double* out = result.leverages.data() + block.first_row;
      for (Index k = 0; k < n_probes; ++k) {
        const double* product = products + k * block.stride;
        for (Index n = 0; n < block.rows; ++n) out[n] += weights[n] * product[n] * product[n];
      }
    });
    share_rows(problem_.rows, problem_.workers, result.leverages);
    share_rows(problem_.rows, problem_.workers, result.weights);
    return result;
  }

  // Of a few rows.
  [[nodiscard]] std::vector<double> exact(const std::vector<Index>& rows) const {
    const auto lease = problem_.workers.arenas.lend();
    const Arena::Scope scope(*lease);
    const RowBlock block = problem_.rows.gather(rows, *lease);
    std::vector<double> targets;
    for (const Index row : rows) targets.push_back(problem_.targets[static_cast<std::size_t>(row)]);
    const double* values = evaluate(block, *lease);
    const double* weights = curvatures_of(block, values, targets.data(), *lease);
    RowMajor solved = Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>>(values, size(), block.rows,
                                                                          Eigen::OuterStride<>(block.stride));
    factor_.matrixL().solveInPlace(solved);
    std::vector<double> result;
    for (Index n = 0; n < block.rows; ++n)
      result.push_back(std::min(1.0, weights[n] * solved.col(n).squaredNorm()));
    return result;
  }

 private:
  // [coefficients x stride]: 1 for the intercept, and the atoms.
  double* evaluate(const RowBlock& block, Arena& arena) const {
    double* values = arena.take(size() * block.stride);
    if (offset_ == 1) std::fill_n(values, block.rows, 1.0);
    atoms_.evaluate(block, 0, atoms_.size(), values + offset_ * block.stride, block.stride, arena);
    return values;
  }

  // L'' of each row times its weight.
  double* curvatures_of(const RowBlock& block, const double* values, const double* targets,
                        Arena& arena) const {
    double* scores = arena.take(block.rows);
    double* first = arena.take(block.rows);
    double* second = arena.take(block.rows);
    cblas_dgemv(CblasRowMajor, CblasTrans, static_cast<int>(size()), static_cast<int>(block.rows), 1.0,
                values, static_cast<int>(block.stride), coefficients_.data(), 1, 0.0, scores, 1);
    static_cast<void>(problem_.loss.derivatives(scores, targets, block.weights, block.rows, first, second));
    return second;
  }

  const Problem& problem_;
  Index offset_;  // 1 if there is an intercept
  AtomValues atoms_;
  Eigen::VectorXd coefficients_;
  Eigen::LLT<Eigen::MatrixXd> factor_;
};

}  // namespace

std::vector<RowLeverage> high_leverages(const Problem& problem, const ActiveSet& active,
                                        const std::vector<double>& hessian, std::uint64_t seed) {
  const Leverages leverages(problem, active, hessian);
  if (!leverages.is_possible()) return {};
  const Leverages::Estimates found = leverages.estimate(seed);
  const std::vector<double>& estimates = found.leverages;
  const std::vector<double>& weights = found.weights;
  // Rows that are classified with certainty have no weight, and no part in the average.
  const double rows_that_count =
      std::accumulate(weights.begin(), weights.end(), 0.0) / *std::ranges::max_element(weights);
  const double threshold =
      std::max(kHigh, kAboveAverage * static_cast<double>(leverages.size()) / rows_that_count);
  if (!(threshold < 1)) return {};
  std::vector<Index> rows;
  for (std::size_t n = 0; n < estimates.size(); ++n) {
    if (estimates[n] > kWorthALook) rows.push_back(static_cast<Index>(n));
  }
  std::ranges::stable_sort(rows, std::greater(),
                           [&](Index row) { return estimates[static_cast<std::size_t>(row)]; });
  if (rows.size() > kMostRows) rows.resize(kMostRows);
  if (rows.empty()) return {};
  const std::vector<double> exact = leverages.exact(rows);
  std::vector<RowLeverage> result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (exact[i] > threshold) result.push_back({rows[i], exact[i]});
  }
  std::ranges::stable_sort(result, std::greater(), &RowLeverage::leverage);
  return result;
}

}  // namespace mfga
