#include "solve/output_factors.hpp"

#include <cblas.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "core/row_combinations.hpp"

namespace mfga {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Of how many outputs each has a factor of its own.
Index own_factors(Index outputs, Index size) {
  constexpr Index kMostNumbers = Index{1} << 23U;  // 64 MiB
  return outputs <= kMostNumbers / (size * size) ? outputs : 1;
}

// Every so many rows.
struct Sample {
  Index rows;                  // of it
  std::vector<float> values;   // [(intercept + atoms) x rows]
  std::vector<float> weights;  // [factors x rows]: the curvature of the loss
};

// Where the same number may be added to all outputs, the minimum has a mean of 0 for every atom. Moves that
// change the mean would make the objective far from round: only the ridge resists them.
bool may_take_off_means(const Problem& problem) {
  return problem.loss.ignores_common_shifts() && problem.cost.is_square();
}

Sample sample(const Problem& problem, const ActiveAtoms& atoms, const Matrix& coefficients) {
  constexpr Index kRowsOfACoefficient = 4;
  constexpr Index kFewest = 1000;
  const Index n_rows = problem.rows.rows();
  const Index wanted = std::max(kFewest, kRowsOfACoefficient * coefficients.cols);
  const Index apart = std::max<Index>(1, n_rows / wanted);
  Sample result{(n_rows + apart - 1) / apart, {}, {}};
  result.values.resize(static_cast<std::size_t>(coefficients.cols * result.rows));
  result.weights.resize(
      static_cast<std::size_t>(own_factors(coefficients.rows, coefficients.cols) * result.rows));
  for_each_block(atoms.rows(), problem.workers, [&](const RowBlock& block, Arena& arena) {
    const Index outputs = coefficients.rows;
    const double* values = atoms.of(block, arena);
    double* scores = arena.take(outputs * block.stride);
    double* first = arena.take(outputs * block.stride);
    double* second = arena.take(outputs * block.stride);
    set_combinations(coefficients.values.data(), outputs, values, coefficients.cols, block.stride, block.rows,
                     scores, block.stride);
    static_cast<void>(problem.derivatives_of(block, scores, first, second));
    const Index begin = (block.first_row + apart - 1) / apart;
    const Index end = (block.first_row + block.rows + apart - 1) / apart;
    const auto copy = [&](const double* from, float* to) {
      for (Index i = begin; i < end; ++i) to[i] = static_cast<float>(from[i * apart - block.first_row]);
    };
    for (Index m = 0; m < coefficients.cols; ++m)
      copy(values + m * block.stride, result.values.data() + m * result.rows);
    const Index factors = own_factors(outputs, coefficients.cols);
    if (factors < outputs) {
      for (Index n = 0; n < block.rows; ++n) {
        for (Index k = 1; k < outputs; ++k) second[n] += second[k * block.stride + n];
        second[n] /= static_cast<double>(outputs);
      }
    }
    for (Index k = 0; k < factors; ++k)
      copy(second + k * block.stride, result.weights.data() + k * result.rows);
  });
  atoms.have_been_seen();
  if (Ranks* const ranks = problem.workers.ranks(); ranks != nullptr) {
    const auto first_of = [&](Index block) {
      return std::min((block * kBlockRows + apart - 1) / apart, result.rows);
    };
    for (std::vector<float>* numbers : {&result.values, &result.weights}) {
      for (std::size_t first = 0; first < numbers->size(); first += static_cast<std::size_t>(result.rows)) {
        ranks->share(problem.rows.blocks(),
                     std::span(*numbers).subspan(first, static_cast<std::size_t>(result.rows)), first_of);
      }
    }
  }
  return result;
}

}  // namespace

OutputFactors::OutputFactors(const Problem& problem, const GrowingCholesky& factor, double curvature)
    : size_(factor.size()), without_means_(may_take_off_means(problem)), lower_{factor.lower()} {
  for (double& value : lower_.front()) value *= std::sqrt(curvature);
}

OutputFactors::OutputFactors(const Problem& problem, const ActiveAtoms& atoms, const Matrix& coefficients,
                             double ridge)
    : size_(coefficients.cols),
      without_means_(may_take_off_means(problem)),
      lower_(static_cast<std::size_t>(own_factors(coefficients.rows, coefficients.cols))) {
  const Sample some = sample(problem, atoms, coefficients);
  const double factor = static_cast<double>(problem.rows.rows()) / static_cast<double>(some.rows);
  const Index intercepts = coefficients.cols - static_cast<Index>(atoms.list().size());
  problem.workers.run(std::ssize(lower_), [&](Index k) {
    // Rows that are certain now may not be so nearby.
    constexpr float kPartOfMean = 0.02F;
    const float* weights = some.weights.data() + k * some.rows;
    float mean = 0;
    for (Index i = 0; i < some.rows; ++i) mean += std::max(weights[i], 0.0F) / static_cast<float>(some.rows);
    std::vector<float> roots(static_cast<std::size_t>(some.rows));
    for (Index i = 0; i < some.rows; ++i)
      roots[static_cast<std::size_t>(i)] = std::sqrt(std::max(weights[i], 0.0F) + kPartOfMean * mean);
    std::vector<float> weighted(some.values.size());
    for (Index m = 0; m < size_; ++m) {
      const float* values = some.values.data() + m * some.rows;
      float* out = weighted.data() + m * some.rows;
      for (Index i = 0; i < some.rows; ++i) out[i] = values[i] * roots[static_cast<std::size_t>(i)];
    }
    const auto n = static_cast<int>(size_);
    std::vector<float> sums(static_cast<std::size_t>(size_ * size_));
    cblas_ssyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, static_cast<int>(some.rows), 1.0F,
                weighted.data(), static_cast<int>(some.rows), 0.0F, sums.data(), n);
    std::vector<double>& own = lower_[static_cast<std::size_t>(k)];
    own.resize(sums.size());
    for (Index i = 0; i < size_; ++i) {
      for (Index j = 0; j <= i; ++j)
        own[static_cast<std::size_t>(i * size_ + j)] =
            factor * static_cast<double>(sums[static_cast<std::size_t>(i * size_ + j)]);
      // Beside the ridge, what keeps rounding from making it indefinite.
      constexpr double kRounding = 1e-5;
      double& diagonal = own[static_cast<std::size_t>(i * size_ + i)];
      diagonal += kRounding * diagonal + (i < intercepts ? 0 : 2 * ridge) + 1e-300;
    }
    Eigen::Map<RowMajor> map(own.data(), size_, size_);
    const Eigen::LLT<Eigen::MatrixXd> cholesky(Eigen::MatrixXd(map.selfadjointView<Eigen::Lower>()));
    if (cholesky.info() == Eigen::Success && cholesky.matrixLLT().diagonal().allFinite()) {
      map.triangularView<Eigen::Lower>() = Eigen::MatrixXd(cholesky.matrixL());
      return;
    }
    // The diagonal alone is a scale, too.
    const Eigen::VectorXd diagonal = map.diagonal();
    map.setZero();
    map.diagonal() = diagonal.cwiseSqrt();
  });
}

Matrix OutputFactors::moved(const Matrix& start, const double* moves) const {
  const auto size = static_cast<int>(size_);
  Matrix result(start.rows, start.cols);
  std::copy_n(moves, result.values.size(), result.values.begin());
  for (Index k = 0; k < start.rows; ++k) {
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, size, lower(k).data(), size,
                result.row(k), 1);
    for (Index m = 0; m < start.cols; ++m) result(k, m) += start(k, m);
  }
  take_off_means(result);
  return result;
}

void OutputFactors::gradient_by_moves(Matrix by_coefficients, double* by_moves) const {
  const auto size = static_cast<int>(size_);
  take_off_means(by_coefficients);
  for (Index k = 0; k < by_coefficients.rows; ++k) {
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, size, lower(k).data(), size,
                by_coefficients.row(k), 1);
  }
  std::ranges::copy(by_coefficients.values, by_moves);
}

void OutputFactors::take_off_means(Matrix& values) const {
  if (!without_means_) return;
  for (Index m = 0; m < values.cols; ++m) {
    double mean = 0;
    for (Index k = 0; k < values.rows; ++k) mean += values(k, m) / static_cast<double>(values.rows);
    for (Index k = 0; k < values.rows; ++k) values(k, m) -= mean;
  }
}

}  // namespace mfga
