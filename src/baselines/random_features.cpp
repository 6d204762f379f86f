#include "baselines/random_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "baselines/alignment_weights.hpp"
#include "solve/select.hpp"

namespace mfga {
namespace {

// sum_n y_n phi_m(x_n) for every candidate; the mean of the target is left to the intercept, if there is one:
// for classes it says how many rows each has and nothing about the features.
std::vector<double> target_correlations(const Problem& problem, const Candidates& candidates) {
  const double mean = problem.intercept == Intercept::kUnpenalised
                          ? TargetColumn{problem.targets, problem.rows.weights()}.mean()
                          : 0;
  return candidates.sums(problem.rows, problem.workers, 1, 0,
                         [&](const RowBlock& block, Arena& arena, double* /*more*/) {
                           double* column = arena.take(block.rows);
                           const double* targets = problem.targets.data() + block.first_row;
                           for (Index n = 0; n < block.rows; ++n) column[n] = targets[n] - mean;
                           return Candidates::BlockColumns{times_weights(block, column, column), block.rows};
                         });
}

}  // namespace

std::vector<Atom> choose_random_features(const Problem& problem, const RandomFeatureOptions& options) {
  const Index count = options.method == paper::Method::kRks ? options.terms : options.candidates;
  const Candidates candidates(Dictionary(fmt::format("fourier(count={}, sigma={})", count, options.sigma)),
                              {problem.rows.inputs(), options.sigma, options.seed, &problem.rows});
  std::vector<Index> chosen(static_cast<std::size_t>(options.terms));
  std::iota(chosen.begin(), chosen.end(), Index{0});
  std::vector<double> weights(static_cast<std::size_t>(count), 1.0);
  if (options.method != paper::Method::kRks) {
    const std::vector<double> correlations = target_correlations(problem, candidates);
    chosen = largest_gradients(correlations, std::vector<bool>(correlations.size()), options.terms);
    if (options.method == paper::Method::kLkrf) {
      std::vector<double> scores;
      for (const double c : correlations) scores.push_back(c * c);
      weights = alignment_weights(scores, kAlignmentRadius * static_cast<double>(count));
    }
  }
  std::vector<Atom> atoms;
  for (const Index j : chosen) {
    const double weight = weights[static_cast<std::size_t>(j)];
    if (!(weight > 0)) continue;
    atoms.push_back(candidates.atom(j));
    atoms.back().nu = weight;  // cos(<w, x> + b) without the factor of the kernel's approximation
  }
  return atoms;
}

}  // namespace mfga
