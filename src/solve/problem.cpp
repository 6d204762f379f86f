#include "solve/problem.hpp"

#include <cblas.h>

#include <algorithm>

namespace mfga {

void score_block(const RowBlock& block, const AtomValues& atoms, std::span<const double> theta,
                 double intercept, double* scores, Arena& arena) {
  // Few enough atoms at a time for their values to stay in the second-level cache.
  constexpr Index kTile = 128;
  const Arena::Scope scope(arena);
  double* values = arena.take(std::min(kTile, std::max<Index>(atoms.size(), 1)) * block.stride);
  std::fill(scores, scores + block.rows, intercept);
  for (Index first = 0; first < atoms.size(); first += kTile) {
    const Index count = std::min(kTile, atoms.size() - first);
    atoms.evaluate(block, first, count, values, block.stride, arena);
    cblas_dgemv(CblasRowMajor, CblasTrans, static_cast<int>(count), static_cast<int>(block.rows), 1.0, values,
                static_cast<int>(block.stride), theta.data() + first, 1, 1.0, scores, 1);
  }
}

}  // namespace mfga
