#include "solve/atom_products.hpp"

#include <algorithm>

#include "core/row_kernels.hpp"

namespace mfga {
namespace {

// out[0]: products with 1, out[1]: with y, then with every atom, and with the derivatives unless they are
// null; news.size() numbers each.
void add_products(const RowBlock& block, const double* targets, const double* derivatives,
                  const AtomValues& all, const AtomValues& news, double* out, Arena& arena) {
  double* values = arena.take(news.size() * block.stride);
  news.evaluate(block, 0, news.size(), values, block.stride, arena);
  const auto add = [&](const double* column, double* sums) {
    add_row_products(column, 1, block.stride, values, news.size(), block.stride, block.rows, sums,
                     news.size());
  };
  double* ones = arena.take(block.rows);
  std::fill_n(ones, block.rows, 1.0);
  add(ones, out);
  add(targets, out + news.size());
  if (derivatives != nullptr) add(derivatives, out + (2 + all.size()) * news.size());
  all.correlate(block, values, block.stride, news.size(), out + 2 * news.size(), arena);
}

}  // namespace

Matrix atom_products(const BlockedRows& rows, std::span<const double> targets, std::span<const Atom> atoms,
                     Index n_new, Workers& workers, std::span<const double> derivatives) {
  const AtomValues all(atoms);
  const AtomValues news(atoms.last(static_cast<std::size_t>(n_new)));
  const Index n_columns = 2 + all.size() + (derivatives.empty() ? 0 : 1);
  std::vector<double> sums(static_cast<std::size_t>(n_columns * news.size()));  // transposed
  sum_over_blocks(rows, workers, sums, [&](const RowBlock& block, Arena& arena, double* out) {
    add_products(block, targets.data() + block.first_row,
                 derivatives.empty() ? nullptr : derivatives.data() + block.first_row, all, news, out, arena);
  });
  Matrix result(news.size(), n_columns);
  for (Index i = 0; i < result.rows; ++i) {
    for (Index j = 0; j < result.cols; ++j)
      result(i, j) = sums[static_cast<std::size_t>(j * result.rows + i)];
  }
  return result;
}

}  // namespace mfga
