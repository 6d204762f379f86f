#include "solve/atom_products.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/row_kernels.hpp"

namespace mfga {
namespace {

// Columns of numbers of the rows of a block.
struct Columns {
  const double* values;
  Index count;
  Index stride;
};

Columns targets_of(const RowBlock& block, const BlockedRows& rows, std::span<const double> targets) {
  return {targets.data() + block.first_row, std::ssize(targets) / rows.rows(), rows.rows()};
}

Columns derivatives_of(const RowBlock& block, const BlockedRows& rows, std::span<const double> derivatives) {
  const Index outputs = std::ssize(derivatives) / rows.rows();
  return {derivatives.data() + outputs * block.first_row, outputs, block.rows};
}

// Reads the inputs of a kept block from one end to the other, which memory does faster than in the order in
// which atoms ask for them.
void fetch(const RowBlock& block) {
  constexpr Index kLine = 8;  // numbers
  for (Index i = 0; i < block.inputs * block.stride; i += kLine) __builtin_prefetch(block.values + i, 0, 2);
}

// The products of the new atoms, whose values are given, with 1, then with the targets, with every atom, the
// new ones last, and with the derivatives; n_new numbers each. Those with the old
// ones are left to add_olds(weighted values of the new ones, out). Of two new atoms in different tiles, the
// product of the earlier with the later one is left out, for it is that of the later with the earlier one.
template <class AddOlds>
void add_products(const RowBlock& block, const Columns& targets, const Columns& derivatives,
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
  const auto add = [&](const Columns& columns, const double* of_atoms, double* sums) {
    add_row_products(columns.values, columns.count, columns.stride, of_atoms, n_new, block.stride, block.rows,
                     sums, n_new);
  };
  double* ones = arena.take(block.rows);
  std::fill_n(ones, block.rows, 1.0);
  add({ones, 1, block.stride}, weighted, out);
  add(targets, weighted, out + n_new);
  out += (1 + targets.count) * n_new;
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
  if (derivatives.count > 0) add(derivatives, values, out + n_new * n_new);
}

// One row for each new atom, from the sums of add_products.
Matrix transposed_products(const double* sums, Index n_new, Index first_new, Index n_derivatives) {
  const auto at = [&](Index row, Index i) { return sums[row * n_new + i]; };
  Matrix result(n_new, first_new + n_new + n_derivatives);
  for (Index i = 0; i < n_new; ++i) {
    for (Index j = 0; j < first_new; ++j) result(i, j) = at(j, i);
    for (Index j = 0; j < n_new; ++j)
      result(i, first_new + j) = at(first_new + std::max(i, j), std::min(i, j));
    for (Index j = first_new + n_new; j < result.cols; ++j) result(i, j) = at(j, i);
  }
  return result;
}

}  // namespace

Matrix atom_products(const BlockedRows& rows, std::span<const double> targets, std::span<const Atom> atoms,
                     Index n_new, Workers& workers, std::span<const double> derivatives) {
  const AtomValues olds(atoms.first(atoms.size() - static_cast<std::size_t>(n_new)));
  const AtomValues news(atoms.last(static_cast<std::size_t>(n_new)));
  const Index first_new = 1 + std::ssize(targets) / rows.rows() + olds.size();
  const Index n_derivatives = std::ssize(derivatives) / rows.rows();
  const Index n_sums = first_new + n_new + n_derivatives;
  std::vector<double> sums(static_cast<std::size_t>(n_sums * n_new));
  sum_over_blocks(rows, workers, sums, [&](const RowBlock& block, Arena& arena, double* out) {
    fetch(block);
    double* values = arena.take(n_new * block.stride);
    news.evaluate(block, 0, n_new, values, block.stride, arena);
    add_products(
        block, targets_of(block, rows, targets), derivatives_of(block, rows, derivatives), values, n_new,
        olds.size(),
        [&](const double* weighted, double* products) {
          olds.correlate(block, weighted, block.stride, n_new, products, arena);
        },
        out, arena);
  });
  return transposed_products(sums.data(), n_new, first_new, n_derivatives);
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
        block, targets_of(block, rows, targets), derivatives_of(block, rows, derivatives), news, n_new, n_old,
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
  return {transposed_products(sums.data(), n_new, 2 + n_old, 1), std::move(curvature)};
}

}  // namespace mfga
