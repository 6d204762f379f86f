#include "solve/atom_products.hpp"

#include <algorithm>

#include "core/row_kernels.hpp"

namespace mfga {
namespace {

// out[0]: products of the new atoms with 1, out[1]: with y, then with every atom, the new ones last, and with
// the derivatives unless they are null; news.size() numbers each. Of two new atoms in different tiles, the
// product of the earlier with the later one is left out, for it is that of the later with the earlier one.
void add_products(const RowBlock& block, const double* targets, const double* derivatives,
                  const AtomValues& olds, const AtomValues& news, double* out, Arena& arena) {
  constexpr Index kTile = 48;  // atoms whose values stay in the second-level cache
  const Index n_new = news.size();
  double* values = arena.take(n_new * block.stride);
  news.evaluate(block, 0, n_new, values, block.stride, arena);
  double* weighted = values;
  if (block.weights != nullptr) {
    weighted = arena.take(n_new * block.stride);
    for (Index i = 0; i < n_new; ++i)
      static_cast<void>(times_weights(block, values + i * block.stride, weighted + i * block.stride));
  }
  const auto add = [&](const double* column, const double* of_atoms, double* sums) {
    add_row_products(column, 1, block.stride, of_atoms, n_new, block.stride, block.rows, sums, n_new);
  };
  double* ones = arena.take(block.rows);
  std::fill_n(ones, block.rows, 1.0);
  add(ones, weighted, out);
  add(targets, weighted, out + n_new);
  out += 2 * n_new;
  olds.correlate(block, weighted, block.stride, n_new, out, arena);
  out += olds.size() * n_new;
  for (Index column = 0; column < n_new; column += kTile) {
    const Index width = std::min(kTile, n_new - column);
    for (Index first = column; first < n_new; first += kTile) {
      add_row_products(values + first * block.stride, std::min(kTile, n_new - first), block.stride,
                       weighted + column * block.stride, width, block.stride, block.rows,
                       out + first * n_new + column, n_new);
    }
  }
  if (derivatives != nullptr) add(derivatives, values, out + n_new * n_new);
}

}  // namespace

Matrix atom_products(const BlockedRows& rows, std::span<const double> targets, std::span<const Atom> atoms,
                     Index n_new, Workers& workers, std::span<const double> derivatives) {
  const AtomValues olds(atoms.first(atoms.size() - static_cast<std::size_t>(n_new)));
  const AtomValues news(atoms.last(static_cast<std::size_t>(n_new)));
  const Index first_new = 2 + olds.size();
  Matrix sums(first_new + n_new + (derivatives.empty() ? 0 : 1), n_new);  // transposed
  sum_over_blocks(rows, workers, sums.values, [&](const RowBlock& block, Arena& arena, double* out) {
    add_products(block, targets.data() + block.first_row,
                 derivatives.empty() ? nullptr : derivatives.data() + block.first_row, olds, news, out,
                 arena);
  });
  Matrix result(n_new, sums.rows);
  for (Index i = 0; i < n_new; ++i) {
    for (Index j = 0; j < first_new; ++j) result(i, j) = sums(j, i);
    for (Index j = 0; j < n_new; ++j)
      result(i, first_new + j) = sums(first_new + std::max(i, j), std::min(i, j));
    if (!derivatives.empty()) result(i, result.cols - 1) = sums(sums.rows - 1, i);
  }
  return result;
}

Matrix weighted_atom_products(const Problem& problem, const ScoreFunction& score, std::span<const Atom> atoms,
                              Index n_new) {
  const AtomValues values(atoms);
  const Index n_atoms = values.size();
  Matrix result(n_new, 1 + n_atoms);
  sum_over_blocks(problem.rows, problem.workers, result.values,
                  [&](const RowBlock& block, Arena& arena, double* out) {
                    double* scores = arena.take(block.rows);
                    double* first = arena.take(block.rows);
                    double* second = arena.take(block.rows);
                    score.evaluate(block, scores, arena);
                    static_cast<void>(problem.derivatives_of(block, scores, first, second));
                    double* all = arena.take((1 + n_atoms) * block.stride);  // 1 and the atoms
                    std::fill_n(all, block.rows, 1.0);
                    values.evaluate(block, 0, n_atoms, all + block.stride, block.stride, arena);
                    double* weighted = arena.take(n_new * block.stride);
                    for (Index i = 0; i < n_new; ++i) {
                      const double* value = all + (1 + n_atoms - n_new + i) * block.stride;
                      double* product = weighted + i * block.stride;
                      for (Index n = 0; n < block.rows; ++n) product[n] = second[n] * value[n];
                    }
                    add_row_products(weighted, n_new, block.stride, all, 1 + n_atoms, block.stride,
                                     block.rows, out, 1 + n_atoms);
                  });
  return result;
}

}  // namespace mfga
