#include "solve/moments.hpp"

#include <algorithm>
#include <utility>

#include "core/row_kernels.hpp"
#include "core/vectorise.hpp"

namespace mfga {
namespace {

constexpr Index kPanel = 6;  // weighted inputs at a time: a register tile, which the first-level cache holds

MFGA_VECTORISED void multiply_rows(const double* a, const double* b, Index count, double* out) {
  for (Index n = 0; n < count; ++n) out[n] = a[n] * b[n];
}

}  // namespace

MomentLayout::MomentLayout(Index n_inputs, int highest_order) : n_inputs_(n_inputs) {
  for (int length = 0; length <= highest_order; ++length) {
    std::vector<Index>& counts = tuples_.emplace_back(1, length == 0 ? 1 : 0);
    for (Index n = 1; n <= n_inputs; ++n)
      counts.push_back(length == 0 ? 1 : counts.back() + tuples(n, length - 1));
  }
  for (int order = 0; order <= highest_order; ++order) {
    matrices_.emplace_back();
    Index size = order == 2 ? n_inputs * n_inputs : tuples(n_inputs, order);
    if (order > 2) {
      size = 0;
      for (Index input = 0; input < n_inputs; ++input) add_matrices(order - 3, input, input, size);
    }
    first_.push_back(first_.back() + size);
  }
}

void MomentLayout::add_matrices(int left, Index middle_first, Index middle_last, Index& position) {
  if (left == 0) {
    matrices_.back().push_back(position);
    position += (middle_first + 1) * (n_inputs_ - middle_last);
    return;
  }
  for (Index next = middle_last; next < n_inputs_; ++next)
    add_matrices(left - 1, middle_first, next, position);
}

Index MomentLayout::first_with_middle(int order, Index input) const {
  const Index rank = tuples(n_inputs_, order - 2) - tuples(n_inputs_ - input, order - 2);
  return first(order) + matrix(order, rank);
}

Index MomentLayout::position(std::span<const Index> tuple) const {
  const auto order = static_cast<int>(tuple.size());
  if (order == 0) return 0;
  if (order == 1) return first(1) + tuple[0];
  if (order == 2) return first(2) + tuple[0] * n_inputs_ + tuple[1];
  // Those middles come before that have a smaller input where they first differ.
  Index rank = 0;
  Index lowest = 0;
  for (int left = order - 2; left > 0; --left) {
    const Index input = tuple[static_cast<std::size_t>(order - 1 - left)];
    rank += tuples(n_inputs_ - lowest, left) - tuples(n_inputs_ - input, left);
    lowest = input;
  }
  const Index n_first = tuple[1] + 1;
  const Index n_last = n_inputs_ - lowest;
  const Index i = tuple.front();
  const Index l = tuple.back() - lowest;
  return first(order) + matrix(order, rank) + (n_first <= n_last ? i * n_last + l : l * n_first + i);
}

double MomentLayout::count(Index n_inputs, int highest_order) {
  double total = 0;
  double of_order = 1;
  for (int order = 0; order <= highest_order; ++order) {
    total += of_order;
    of_order *= static_cast<double>(n_inputs + order) / (order + 1);
  }
  return total;
}

RowMoments::RowMoments(const RowBlock& block, Index first, Index rows, Arena& arena)
    : inputs_(block.inputs),
      stride_(block.stride),
      values_(block.values + first),
      rows_(rows),
      weighted_(arena.take(kPanel * block.stride)),
      arena_(arena) {}

void RowMoments::add_low_order(int order, const double* weights, double* out) const {
  if (order == 0) {
    double sum = 0;
    for (Index n = 0; n < rows_; ++n) sum += weights[n];
    *out += sum;
  } else if (order == 1) {
    add_row_products(weights, 1, stride_, values_, inputs_, stride_, rows_, out, inputs_);
  } else {
    for (Index i = 0; i < inputs_; i += kPanel)
      add_matrix(weights, {i, std::min(kPanel, inputs_ - i)}, {i, inputs_ - i}, out + i * inputs_ + i,
                 inputs_);
  }
}

void RowMoments::add_with_middle(int order, Index middle_first, const double* weights, double* out) const {
  const Arena::Scope scope(arena_);
  double* product = arena_.take(stride_);
  multiply_rows(weights, input(middle_first), rows_, product);
  add_longer_middles(order - 3, middle_first, middle_first, product, out);
}

// `product`: the weights times the inputs of the middle so far; `left` more inputs are to come.
void RowMoments::add_longer_middles(int left, Index middle_first, Index middle_last, const double* product,
                                    double*& out) const {
  if (left > 0) {
    const Arena::Scope scope(arena_);
    double* longer = arena_.take(stride_);
    for (Index next = middle_last; next < inputs_; ++next) {
      multiply_rows(product, input(next), rows_, longer);
      add_longer_middles(left - 1, middle_first, next, longer, out);
    }
    return;
  }
  Inputs rows{0, middle_first + 1};
  Inputs columns{middle_last, inputs_ - middle_last};
  if (columns.count < rows.count) std::swap(rows, columns);
  add_matrix(product, rows, columns, out, columns.count);
  out += rows.count * columns.count;
}

// out[i, l] += sum of weights x_i x_l.
void RowMoments::add_matrix(const double* weights, Inputs rows, Inputs columns, double* out,
                            Index out_stride) const {
  for (Index first = 0; first < rows.count; first += kPanel) {
    const Index height = std::min(kPanel, rows.count - first);
    for (Index i = 0; i < height; ++i)
      multiply_rows(weights, input(rows.first + first + i), rows_, weighted_ + i * stride_);
    add_row_products(weighted_, height, stride_, input(columns.first), columns.count, stride_, rows_,
                     out + first * out_stride, out_stride);
  }
}

}  // namespace mfga
