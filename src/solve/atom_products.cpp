#include "solve/atom_products.hpp"

#include <cblas.h>

#include <algorithm>

#include "core/row_kernels.hpp"

namespace mfga {
namespace {

// out[0]: products with 1, out[1]: with y, then with every atom; news.size() numbers each.
void add_products(const RowBlock& block, const double* targets, const AtomValues& all, const AtomValues& news,
                  double* out, Arena& arena) {
  constexpr Index kTile = 48;  // atoms whose values stay in the second-level cache
  double* new_values = arena.take(news.size() * block.stride);
  double* tile_values = arena.take(kTile * block.stride);
  news.evaluate(block, 0, news.size(), new_values, block.stride, arena);
  for (Index i = 0; i < news.size(); ++i) {
    const double* value = new_values + i * block.stride;
    double sum = 0;
    for (Index n = 0; n < block.rows; ++n) sum += value[n];
    out[i] += sum;
    out[news.size() + i] += cblas_ddot(static_cast<int>(block.rows), value, 1, targets, 1);
  }
  for (Index first = 0; first < all.size(); first += kTile) {
    const Index count = std::min(kTile, all.size() - first);
    all.evaluate(block, first, count, tile_values, block.stride, arena);
    add_row_products(tile_values, count, block.stride, new_values, news.size(), block.stride, block.rows,
                     out + (2 + first) * news.size(), news.size());
  }
}

}  // namespace

Matrix atom_products(const BlockedRows& rows, std::span<const double> targets, std::span<const Atom> atoms,
                     Index n_new, Workers& workers) {
  const AtomValues all(atoms);
  const AtomValues news(atoms.last(static_cast<std::size_t>(n_new)));
  std::vector<double> sums(static_cast<std::size_t>((2 + all.size()) * news.size()));  // transposed
  sum_over_blocks(rows, workers, sums, [&](const RowBlock& block, Arena& arena, double* out) {
    add_products(block, targets.data() + block.first_row, all, news, out, arena);
  });
  Matrix result(news.size(), 2 + all.size());
  for (Index i = 0; i < result.rows; ++i) {
    for (Index j = 0; j < result.cols; ++j)
      result(i, j) = sums[static_cast<std::size_t>(j * result.rows + i)];
  }
  return result;
}

}  // namespace mfga
