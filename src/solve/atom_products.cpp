#include "solve/atom_products.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/row_kernels.hpp"

namespace mfga {
namespace {

// out[0]: products of the new atoms, whose values are given, with 1, out[1]: with y, then with every atom,
// the new ones last, and with the derivatives unless they are null; n_new numbers each. Those with the old
// ones are left to add_olds(weighted values of the new ones, out). Of two new atoms in different tiles, the
// product of the earlier with the later one is left out, for it is that of the later with the earlier one.
template <class AddOlds>
void add_products(const RowBlock& block, const double* targets, const double* derivatives,
                  const double* values, Index n_new, Index n_old, AddOlds add_olds, double* out,
                  Arena& arena) {
  constexpr Index kTile = 48;  // atoms whose values stay in the second-level cache
  const double* weighted = values;
  if (block.weights != nullptr) {
    double* products = arena.take(n_new * block.stride);
    for (Index i = 0; i < n_new; ++i)
      static_cast<void>(times_weights(block, values + i * block.stride, products + i * block.stride));
    weighted = products;
  }
  const auto add = [&](const double* column, const double* of_atoms, double* sums) {
    add_row_products(column, 1, block.stride, of_atoms, n_new, block.stride, block.rows, sums, n_new);
  };
  double* ones = arena.take(block.rows);
  std::fill_n(ones, block.rows, 1.0);
  add(ones, weighted, out);
  add(targets, weighted, out + n_new);
  out += 2 * n_new;
  add_olds(weighted, out);
  out += n_old * n_new;
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

// One row for each new atom, from the sums of add_products.
Matrix transposed_products(const double* sums, Index n_new, Index n_old, bool with_derivatives) {
  const auto at = [&](Index row, Index i) { return sums[row * n_new + i]; };
  const Index first_new = 2 + n_old;
  Matrix result(n_new, first_new + n_new + (with_derivatives ? 1 : 0));
  for (Index i = 0; i < n_new; ++i) {
    for (Index j = 0; j < first_new; ++j) result(i, j) = at(j, i);
    for (Index j = 0; j < n_new; ++j)
      result(i, first_new + j) = at(first_new + std::max(i, j), std::min(i, j));
    if (with_derivatives) result(i, result.cols - 1) = at(first_new + n_new, i);
  }
  return result;
}

}  // namespace

Matrix atom_products(const BlockedRows& rows, std::span<const double> targets, std::span<const Atom> atoms,
                     Index n_new, Workers& workers, std::span<const double> derivatives) {
  const AtomValues olds(atoms.first(atoms.size() - static_cast<std::size_t>(n_new)));
  const AtomValues news(atoms.last(static_cast<std::size_t>(n_new)));
  const Index n_sums = 2 + olds.size() + n_new + (derivatives.empty() ? 0 : 1);
  std::vector<double> sums(static_cast<std::size_t>(n_sums * n_new));
  sum_over_blocks(rows, workers, sums, [&](const RowBlock& block, Arena& arena, double* out) {
    double* values = arena.take(n_new * block.stride);
    news.evaluate(block, 0, n_new, values, block.stride, arena);
    add_products(
        block, targets.data() + block.first_row,
        derivatives.empty() ? nullptr : derivatives.data() + block.first_row, values, n_new, olds.size(),
        [&](const double* weighted, double* products) {
          olds.correlate(block, weighted, block.stride, n_new, products, arena);
        },
        out, arena);
  });
  return transposed_products(sums.data(), n_new, olds.size(), !derivatives.empty());
}

CurvedProducts curved_atom_products(const BlockedRows& rows, std::span<const double> targets,
                                    std::span<const Atom> atoms, Index n_new, Workers& workers,
                                    std::span<const double> derivatives, std::span<const double> curvatures) {
  const AtomValues atom_values(atoms);
  const Index n_atoms = atom_values.size();
  const Index n_old = n_atoms - n_new;
  const Index n_plain = (3 + n_atoms) * n_new;
  Matrix curvature(n_new, 1 + n_atoms);
  std::vector<double> sums(static_cast<std::size_t>(n_plain) + curvature.values.size());
  sum_over_blocks(rows, workers, sums, [&](const RowBlock& block, Arena& arena, double* out) {
    double* all = arena.take((1 + n_atoms) * block.stride);  // 1 and the atoms
    std::fill_n(all, block.rows, 1.0);
    atom_values.evaluate(block, 0, n_atoms, all + block.stride, block.stride, arena);
    const double* news = all + (1 + n_old) * block.stride;
    add_products(
        block, targets.data() + block.first_row, derivatives.data() + block.first_row, news, n_new, n_old,
        [&](const double* weighted, double* products) {
          add_row_products(all + block.stride, n_old, block.stride, weighted, n_new, block.stride, block.rows,
                           products, n_new);
        },
        out, arena);
    const double* second = curvatures.data() + block.first_row;
    double* curved = arena.take(n_new * block.stride);
    for (Index i = 0; i < n_new; ++i) {
      const double* value = news + i * block.stride;
      double* product = curved + i * block.stride;
      for (Index n = 0; n < block.rows; ++n) product[n] = second[n] * value[n];
    }
    add_row_products(curved, n_new, block.stride, all, 1 + n_atoms, block.stride, block.rows, out + n_plain,
                     1 + n_atoms);
  });
  std::copy(sums.begin() + n_plain, sums.end(), curvature.values.begin());
  return {transposed_products(sums.data(), n_new, n_old, true), std::move(curvature)};
}

}  // namespace mfga
