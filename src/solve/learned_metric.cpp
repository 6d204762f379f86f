#include "solve/learned_metric.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/symmetric_eigen.hpp"

namespace mfga {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const RowMajor> map_of(const Matrix& matrix) {
  return {matrix.values.data(), matrix.rows, matrix.cols};
}

// The symmetric root of a matrix of slope products, or of its diagonal, with a mean square row of length 1.
// Directions that the model does not look at stay a little, so that the next one can.
Matrix root(const RowMajor& products, Metric kind) {
  constexpr double kLeast = 1e-3;
  const Eigen::Index n = products.rows();
  const double mean = std::sqrt(products.trace() / static_cast<double>(n));
  const auto length = [&](double square) {
    return std::max(kLeast, std::sqrt(std::max(0.0, square)) / mean);
  };
  Matrix matrix(n, n);
  if (kind == Metric::kDiagonal) {
    for (Index j = 0; j < n; ++j) matrix(j, j) = length(products(j, j));
    return matrix;
  }
  Matrix symmetric(n, n);
  Eigen::Map<RowMajor>(symmetric.values.data(), n, n) = products;
  const SymmetricEigen eigen = symmetric_eigen(symmetric);
  for (Index k = 0; k < n; ++k) {
    const double own_length = length(eigen.values[static_cast<std::size_t>(k)]);
    const double* const vector = eigen.vectors.row(k);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) matrix(i, j) += own_length * vector[i] * vector[j];
    }
  }
  return matrix;
}

Matrix identity(Index n) {
  Matrix matrix(n, n);
  for (Index j = 0; j < n; ++j) matrix(j, j) = 1;
  return matrix;
}

}  // namespace

LearnedMetric learn_metric(const Problem& problem, const HeldOutRows& held_out, Metric kind,
                           std::span<const double> ridges, const TunedSearchOptions& options,
                           const TunedSearchCallback& on_step) {
  constexpr int kMostRounds = 5;
  std::vector<double> select_ridges;
  for (std::size_t i = 0; i < ridges.size(); i += 2) select_ridges.push_back(ridges[i]);
  LearnedMetric best{identity(problem.rows.inputs()), 0};
  Matrix mixing = best.mixing;
  std::optional<double> best_loss;
  for (int round = 0; round <= kMostRounds; ++round) {
    const BlockedRows rows = problem.rows.mixed(mixing);
    const BlockedRows held_out_rows = held_out.rows.mixed(mixing);
    const Problem here = problem.with_rows(rows);
    const TuningFold fold{here, HeldOutRows{held_out_rows, held_out.targets}};
    const TunedModel model = select_untuned({&fold, 1}, select_ridges, ridges, options, on_step).front();
    if (best_loss && model.held_out() >= *best_loss) break;
    best_loss = model.held_out();
    best = {mixing, round};
    const Matrix products = mean_slope_products(here, model.active);
    // By the inputs before they were mixed.
    const auto map = map_of(mixing);
    const RowMajor by_inputs = map.transpose() * map_of(products) * map;
    if (!(by_inputs.trace() > 0)) break;
    mixing = root(by_inputs, kind);
  }
  return best;
}

}  // namespace mfga
