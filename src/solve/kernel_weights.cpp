#include "solve/kernel_weights.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.hpp"

namespace mfga {

std::vector<double> norm_weights(const Problem& problem, const Candidates& candidates) {
  const std::vector<double> squares = candidates.square_norms(problem.rows, problem.workers);
  std::vector<double> result;
  for (std::size_t p = 0; p + 1 < candidates.offsets().size(); ++p) {
    const double trace = std::accumulate(squares.begin() + candidates.offsets()[p],
                                         squares.begin() + candidates.offsets()[p + 1], 0.0);
    result.push_back(trace > 0 ? problem.count() / trace : 0);
  }
  return result;
}

std::vector<double> alignment_weights_of_kernels(const Problem& problem, const Candidates& candidates,
                                                 std::uint64_t seed) {
  constexpr Index kProbes = 16;
  const Index n_rows = problem.rows.rows();
  // The centred target, and centred random signs z: the mean of (z^T K w)^2 over pairs of them is |K|_F^2.
  Matrix columns(1 + kProbes, n_rows);
  const CounterRandom random(seed, RandomStream::kKernelProbes);
  for (Index c = 0; c < columns.rows; ++c) {
    double* column = columns.row(c);
    for (Index n = 0; n < n_rows; ++n) {
      column[n] = c == 0 ? problem.targets[static_cast<std::size_t>(n)]
                         : (random.uniform(static_cast<std::uint64_t>(c * n_rows + n)) < 0.5 ? -1.0 : 1.0);
    }
    const std::span<const double> weights = problem.rows.weights();
    const double mean = TargetColumn{{column, static_cast<std::size_t>(n_rows)}, weights}.mean();
    for (Index n = 0; n < n_rows; ++n) {
      column[n] -= mean;
      if (!weights.empty()) column[n] *= weights[static_cast<std::size_t>(n)];
    }
  }
  Matrix products(columns.rows, candidates.size());
  const std::vector<double> sums =
      candidates.sums(problem.rows, problem.workers, columns.rows, 0,
                      [&](const RowBlock& block, Arena& /*arena*/, double* /*more*/) {
                        return Candidates::BlockColumns{columns.values.data() + block.first_row, n_rows};
                      });
  std::copy(sums.begin(), sums.end(), products.values.begin());
  std::vector<double> result = norm_weights(problem, candidates);
  for (std::size_t p = 0; p < result.size(); ++p) {
    const Index first = candidates.offsets()[p];
    const Index count = candidates.offsets()[p + 1] - first;
    const auto inner = [&](Index a, Index b) {
      return std::inner_product(products.row(a) + first, products.row(a) + first + count,
                                products.row(b) + first, 0.0);
    };
    double square = 0;
    for (Index a = 1; a <= kProbes; ++a) {
      for (Index b = 1; b < a; ++b) square += inner(a, b) * inner(a, b) / (kProbes * (kProbes - 1) / 2.0);
    }
    result[p] *= square > 0 ? inner(0, 0) / std::sqrt(square) : 0;
  }
  return result;
}

}  // namespace mfga
