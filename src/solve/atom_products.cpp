#include "solve/atom_products.hpp"

#include <cblas.h>

#include <algorithm>

#include "core/row_kernels.hpp"

namespace mfga {
namespace {

constexpr Index kTile = 48;  // atoms whose values stay in the second-level cache

// out[0]: products of the new atoms with 1, out[1]: with y, then with every atom, the new ones last;
// news.size() numbers each. Of two new atoms in different tiles, the product of the earlier with the later
// one is left out, for it is that of the later with the earlier one.
void add_products(const RowBlock& block, const double* targets, const AtomValues& olds,
                  const AtomValues& news, double* out, Arena& arena) {
  const Index n_new = news.size();
  double* new_values = arena.take(n_new * block.stride);
  double* tile_values = arena.take(kTile * block.stride);
  news.evaluate(block, 0, n_new, new_values, block.stride, arena);
  for (Index i = 0; i < n_new; ++i) {
    const double* value = new_values + i * block.stride;
    double sum = 0;
    for (Index n = 0; n < block.rows; ++n) sum += value[n];
    out[i] += sum;
    out[n_new + i] += cblas_ddot(static_cast<int>(block.rows), value, 1, targets, 1);
  }
  out += 2 * n_new;
  for (Index first = 0; first < olds.size(); first += kTile) {
    const Index count = std::min(kTile, olds.size() - first);
    olds.evaluate(block, first, count, tile_values, block.stride, arena);
    add_row_products(tile_values, count, block.stride, new_values, n_new, block.stride, block.rows,
                     out + first * n_new, n_new);
  }
  out += olds.size() * n_new;
  for (Index column = 0; column < n_new; column += kTile) {
    const Index width = std::min(kTile, n_new - column);
    for (Index first = column; first < n_new; first += kTile) {
      add_row_products(new_values + first * block.stride, std::min(kTile, n_new - first), block.stride,
                       new_values + column * block.stride, width, block.stride, block.rows,
                       out + first * n_new + column, n_new);
    }
  }
}

}  // namespace

Matrix atom_products(const BlockedRows& rows, std::span<const double> targets, std::span<const Atom> atoms,
                     Index n_new, Workers& workers) {
  const AtomValues olds(atoms.first(atoms.size() - static_cast<std::size_t>(n_new)));
  const AtomValues news(atoms.last(static_cast<std::size_t>(n_new)));
  const Index first_new = 2 + olds.size();
  Matrix sums(first_new + n_new, n_new);  // transposed
  sum_over_blocks(rows, workers, sums.values, [&](const RowBlock& block, Arena& arena, double* out) {
    add_products(block, targets.data() + block.first_row, olds, news, out, arena);
  });
  Matrix result(n_new, first_new + n_new);
  for (Index i = 0; i < n_new; ++i) {
    for (Index j = 0; j < first_new; ++j) result(i, j) = sums(j, i);
    for (Index j = 0; j < n_new; ++j)
      result(i, first_new + j) = sums(first_new + std::max(i, j), std::min(i, j));
  }
  return result;
}

}  // namespace mfga
