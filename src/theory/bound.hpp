// The formulas of the paper's bound, each beside its place in the paper.
#pragma once

#include <span>

#include "mfga/bound.hpp"

namespace mfga {

// ceil(log P), at least 1: the proof of Lemma 1 takes an integer r >= 1 in its place, so that with one kernel
// r is 1, not 0.
[[nodiscard]] double log_kernels(Index kernels);

// Lemma 1: B C sqrt(3 ceil(log P) / N).
[[nodiscard]] double rademacher_bound(const Bound& bound);

// Theorem 2, E_est, with the constants of its proof (the first three terms of the bound on E_1):
// 8 G B C sqrt(3 ceil(log P) / N) + 4 |L(0)| / sqrt(N) + 2 G B C sqrt(-log delta / 2 N).
[[nodiscard]] double lipschitz_estimation(const Bound& bound);

// Supplement, extension to quadratic loss: 16 B^2 C^2 / sqrt(N) (1 + 1/2 sqrt(-log delta / 2)).
[[nodiscard]] double quadratic_estimation(const Bound& bound);

// Theorem 2, E_app: exp(-floor(M^(1 - epsilon)) / ceil(beta / mu)).
[[nodiscard]] double approximation_error(Index rounds, double condition);

// Theorem 2, E_spec, with the constants of its proof (the bound on E_2):
// G B sqrt(sum over p and m >= floor(floor(M^epsilon) / P) of theta*_{p,m}^2).
// The sum is at most C^2, as theta* belongs to the class.
[[nodiscard]] double spectral_error(const Bound& bound, Index sparsity);

// Sets decay and beyond from the squares; `unused` features of the kernel are left, perhaps infinitely many.
void extrapolate(KernelTail& tail, double unused);

// Sets epsilon, sparsity, rounds and the two terms that depend on them ("it can be optimized over the choice
// of epsilon", after Theorem 2).
void optimise_epsilon(Bound& bound);

}  // namespace mfga
