#include "theory/bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mfga {
namespace {

// Which values floor(M^epsilon) and floor(M^(1 - epsilon)) take together, and an epsilon at which they do.
struct EpsilonChoice {
  Index sparsity;
  Index rounds;
  double epsilon;
};

// The best epsilon for a given floor(M^epsilon) = j is the smallest one, log j / log M, since it leaves most
// rounds, M / j. For j = 1 that would be 0, which is not in (0, 1); right above it M - 1 rounds are left.
EpsilonChoice choice_for(Index terms, Index sparsity) {
  if (terms == 1) return {1, 1, 0.5};
  const double log_terms = std::log(static_cast<double>(terms));
  const Index rounds = sparsity == 1 ? terms - 1 : terms / sparsity;
  const double lowest = std::log(static_cast<double>(sparsity)) / log_terms;
  const double highest = std::min(std::log(static_cast<double>(sparsity + 1)) / log_terms,
                                  1 - std::log(static_cast<double>(rounds)) / log_terms);
  return {sparsity, rounds, 0.5 * (lowest + std::max(lowest, highest))};
}

// sum over m = count + 1 ... count + unused of q^m, relative to the sum over m = 1 ... count.
double geometric_tail(double ratio, double count, double unused) {
  if (unused == 0) return 0;
  if (ratio == 1) return unused / count;
  if (ratio > 1) return std::expm1(unused * std::log(ratio)) / -std::expm1(-count * std::log(ratio));
  const double within = -std::expm1(count * std::log(ratio));
  return std::pow(ratio, count) * (1 - std::pow(ratio, unused)) / within;
}

// exp of the slope of the least-squares line through (m, log square_m), squares that are zero left out.
double fitted_ratio(std::span<const double> squares) {
  double count = 0;
  double mean_position = 0;
  double mean_log = 0;
  for (std::size_t m = 0; m < squares.size(); ++m) {
    if (!(squares[m] > 0)) continue;
    ++count;
    mean_position += (static_cast<double>(m) - mean_position) / count;
    mean_log += (std::log(squares[m]) - mean_log) / count;
  }
  if (count < 2) return 1;
  double covariance = 0;
  double variance = 0;
  for (std::size_t m = 0; m < squares.size(); ++m) {
    if (!(squares[m] > 0)) continue;
    const double position = static_cast<double>(m) - mean_position;
    covariance += position * (std::log(squares[m]) - mean_log);
    variance += position * position;
  }
  return std::exp(covariance / variance);
}

}  // namespace

// Supplement, proof of Lemma 1: r.
double log_kernels(Index kernels) { return std::max(1.0, std::ceil(std::log(static_cast<double>(kernels)))); }

// Lemma 1.
double rademacher_bound(const Bound& bound) {
  return bound.kernel_bound * bound.norm *
         std::sqrt(3 * log_kernels(bound.kernels) / static_cast<double>(bound.rows));
}

// Theorem 2, E_est; its proof, the bound on E_1.
double lipschitz_estimation(const Bound& bound) {
  const auto n_rows = static_cast<double>(bound.rows);
  return 8 * bound.lipschitz * rademacher_bound(bound) + 4 * bound.loss_at_zero / std::sqrt(n_rows) +
         2 * bound.lipschitz * bound.kernel_bound * bound.norm *
             std::sqrt(-std::log(bound.delta) / (2 * n_rows));
}

// Supplement, extension to quadratic loss.
double quadratic_estimation(const Bound& bound) {
  const double largest_score = bound.kernel_bound * bound.norm;
  return 16 * largest_score * largest_score / std::sqrt(static_cast<double>(bound.rows)) *
         (1 + 0.5 * std::sqrt(-std::log(bound.delta) / 2));
}

// Theorem 2, E_app.
double approximation_error(Index rounds, double condition) {
  return std::exp(-static_cast<double>(rounds) / condition);
}

// Theorem 2, E_spec; its proof, the bound on E_2.
double spectral_error(const Bound& bound, Index sparsity) {
  // m counts from 1, so that starting at 0 is the same as starting at 1.
  const Index start = std::max<Index>(sparsity / bound.kernels, 1);
  double sum = 0;
  for (const KernelTail& tail : bound.tails) {
    sum += tail.beyond;
    for (auto m = static_cast<std::size_t>(start - 1); m < tail.squares.size(); ++m) sum += tail.squares[m];
  }
  // The paper's class (3) bounds the sum of squares by C where class (2) has the norm; the reading that makes
  // (2) a subset of (3) is a norm of at most C.
  return bound.lipschitz * bound.kernel_bound * std::min(std::sqrt(sum), bound.norm);
}

void extrapolate(KernelTail& tail, double unused) {
  double energy = 0;
  for (const double square : tail.squares) energy += square;
  tail.decay = fitted_ratio(tail.squares);
  // The line through the logarithms gives the ratio; the level is such that the fitted squares have the
  // energy of the real ones, which the line itself would underestimate.
  tail.beyond =
      energy > 0 ? energy * geometric_tail(tail.decay, static_cast<double>(tail.squares.size()), unused) : 0;
}

void optimise_epsilon(Bound& bound) {
  // Both floors are constant between breakpoints, so trying every floor(M^epsilon) finds the exact minimum.
  double best = std::numeric_limits<double>::infinity();
  for (Index sparsity = 1; sparsity <= std::max<Index>(bound.terms - 1, 1); ++sparsity) {
    const EpsilonChoice choice = choice_for(bound.terms, sparsity);
    const double approximation = approximation_error(choice.rounds, bound.condition);
    const double spectral = spectral_error(bound, sparsity);
    if (!(approximation + spectral < best)) continue;
    best = approximation + spectral;
    bound.epsilon = choice.epsilon;
    bound.sparsity = choice.sparsity;
    bound.rounds = choice.rounds;
    bound.approximation = approximation;
    bound.spectral = spectral;
  }
}

}  // namespace mfga
