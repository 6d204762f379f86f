#include "features/landmark_choice.hpp"

#include <cblas.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/random.hpp"
#include "core/vectorise.hpp"
#include "features/kernel_columns.hpp"

namespace mfga {
namespace {

constexpr Index kLargestSample = 20000;
constexpr Index kRowsPerLandmark = 10;  // in the sample of the greedy choice

MFGA_VECTORISED void add_square_differences(const double* x, double centre, Index count, double* sums) {
  for (Index n = 0; n < count; ++n) sums[n] += (x[n] - centre) * (x[n] - centre);
}

MFGA_VECTORISED void subtract_squares(const double* values, Index count, double* out) {
  for (Index n = 0; n < count; ++n) out[n] -= values[n] * values[n];
}

std::vector<double> row_of(const RowBlock& block, Index n) {
  std::vector<double> row;
  for (Index j = 0; j < block.inputs; ++j) row.push_back(block.input(j)[n]);
  return row;
}

// Each next row with a probability in proportion to the square of its distance to the nearest one so far
// (Arthur and Vassilvitskii 2007). Positions in the sample, which is in random order.
std::vector<Index> choose_spread(const RowBlock& sample, Index count, std::uint64_t seed) {
  const CounterRandom random(seed, RandomStream::kLandmarkSampling);
  std::vector<double> nearest(static_cast<std::size_t>(sample.rows), INFINITY);
  std::vector<double> distances(nearest.size());
  std::vector<Index> chosen = {0};
  while (static_cast<Index>(chosen.size()) < count) {
    std::fill(distances.begin(), distances.end(), 0.0);
    for (Index j = 0; j < sample.inputs; ++j)
      add_square_differences(sample.input(j), sample.input(j)[chosen.back()], sample.rows, distances.data());
    double total = 0;
    for (std::size_t n = 0; n < nearest.size(); ++n) {
      nearest[n] = std::min(nearest[n], distances[n]);
      total += nearest[n];
    }
    if (!(total > 0)) break;  // all that is left are copies
    const double wanted = total * random.uniform(chosen.size());
    double sum = 0;
    Index last = 0;  // with a probability, for what rounding leaves over
    for (Index n = 0; n < sample.rows && sum <= wanted; ++n) {
      const double square = nearest[static_cast<std::size_t>(n)];
      sum += square;
      if (square > 0) last = n;
    }
    chosen.push_back(last);
  }
  return chosen;
}

// Pivoted Cholesky factorisation of the sample's kernel matrix: each next row is the one with the largest
// diagonal entry of what the rows so far do not explain.
std::vector<Index> choose_greedily(const RowBlock& sample, Index count, const Kernel& kernel, Arena& arena) {
  constexpr double kNegligible = 1e-10;
  Matrix factor = Matrix::uninitialised(count, sample.rows);
  std::vector<double> left(static_cast<std::size_t>(sample.rows), 1.0);  // k(x, x) of the radial kernels
  if (kernel.name == Kernel::Name::kPolynomial) {
    for (Index n = 0; n < sample.rows; ++n)
      left[static_cast<std::size_t>(n)] =
          std::pow(1 + sample.square_norms[n] / (kernel.sigma * kernel.sigma), kernel.parameter);
  }
  const double negligible = kNegligible * *std::max_element(left.begin(), left.end());
  std::vector<Index> chosen;
  while (static_cast<Index>(chosen.size()) < count) {
    const auto largest = std::max_element(left.begin(), left.end());
    if (!(*largest > negligible)) break;
    const auto step = static_cast<Index>(chosen.size());
    const Index pivot = largest - left.begin();
    const double scale = 1 / std::sqrt(*largest);
    double* column = factor.row(step);
    Matrix centre(1, sample.inputs);
    const std::vector<double> row = row_of(sample, pivot);
    std::copy(row.begin(), row.end(), centre.row(0));
    KernelColumns(std::move(centre), {{kernel, 1}}).evaluate(sample, 0, 1, column, sample.rows, arena);
    if (step > 0) {
      cblas_dgemv(CblasRowMajor, CblasTrans, static_cast<int>(step), static_cast<int>(sample.rows), -scale,
                  factor.values.data(), static_cast<int>(sample.rows), factor.values.data() + pivot,
                  static_cast<int>(sample.rows), scale, column, 1);
    } else {
      cblas_dscal(static_cast<int>(sample.rows), scale, column, 1);
    }
    subtract_squares(column, sample.rows, left.data());
    left[static_cast<std::size_t>(pivot)] = 0;
    chosen.push_back(pivot);
  }
  return chosen;
}

}  // namespace

LandmarkChoice parse_landmark_choice(std::string_view text) {
  static constexpr std::array<std::string_view, 3> kNames = {"random", "kmeans++", "greedy"};
  return static_cast<LandmarkChoice>(parse_choice(kLandmarkChoiceOption.name, text, kNames));
}

Matrix choose_landmarks(LandmarkChoice choice, Index count, const Kernel& kernel,
                        const CandidateContext& context, std::string_view family) {
  const BlockedRows& all = context.training_rows(family);
  const Index rows = all.rows();
  count = std::min(count, rows);
  Index sampled = count;
  if (choice == LandmarkChoice::kSpread) sampled = std::max(count, std::min(rows, kLargestSample));
  if (choice == LandmarkChoice::kGreedy)
    sampled = std::max(count, std::min({rows, kRowsPerLandmark * count, kLargestSample}));
  Arena arena;
  const RowBlock sample =
      all.gather(random_rows(rows, sampled, context.seed, RandomStream::kLandmarks), arena);
  std::vector<Index> chosen(static_cast<std::size_t>(count));
  std::iota(chosen.begin(), chosen.end(), Index{0});
  if (choice == LandmarkChoice::kSpread) chosen = choose_spread(sample, count, context.seed);
  if (choice == LandmarkChoice::kGreedy) chosen = choose_greedily(sample, count, kernel, arena);
  Matrix landmarks(static_cast<Index>(chosen.size()), context.n_inputs);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::vector<double> row = row_of(sample, chosen[i]);
    std::copy(row.begin(), row.end(), landmarks.row(static_cast<Index>(i)));
  }
  return landmarks;
}

}  // namespace mfga
