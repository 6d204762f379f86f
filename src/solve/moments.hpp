// Sums over rows of weights times products of inputs, sum_n w_n x_ni x_nj x_nk ..., for all sorted tuples
// i <= j <= k ... of inputs up to some length, the order.
#pragma once

#include <span>
#include <vector>

#include "core/arena.hpp"
#include "core/row_blocks.hpp"
#include "mfga/views.hpp"

namespace mfga {

// Where the moment of a tuple stands among all moments: by order, then
//
//   order 0, 1   by the input
//   order 2      in a matrix [first input x last input], of which the upper triangle counts
//   more         by the tuple less its ends, the middle, in lexicographic order; and for each middle in a
//                matrix [first input, up to the middle's first x last input, from the middle's last on], or
//                its transpose if that has fewer rows.
//
// Each of these matrices is a product of some weighted inputs, its rows, with some inputs.
class MomentLayout {
 public:
  MomentLayout(Index n_inputs, int highest_order);

  // The moments of an order stand from first(order) to first(order + 1).
  [[nodiscard]] Index first(int order) const { return first_[static_cast<std::size_t>(order)]; }
  // The first moment of three or more inputs whose middle begins with this input.
  [[nodiscard]] Index first_with_middle(int order, Index input) const;
  // Of a sorted tuple.
  [[nodiscard]] Index position(std::span<const Index> tuple) const;

  // The number of moments of all orders up to this one; as a double, since it may be huge.
  [[nodiscard]] static double count(Index n_inputs, int highest_order);

 private:
  // The number of sorted tuples of this length out of n inputs.
  [[nodiscard]] Index tuples(Index n, int length) const {
    return tuples_[static_cast<std::size_t>(length)][static_cast<std::size_t>(n)];
  }
  [[nodiscard]] Index matrix(int order, Index middle_rank) const {
    return matrices_[static_cast<std::size_t>(order)][static_cast<std::size_t>(middle_rank)];
  }
  void add_matrices(int left, Index middle_first, Index middle_last, Index& position);

  Index n_inputs_;
  std::vector<std::vector<Index>> tuples_;    // by length and number of inputs
  std::vector<Index> first_{0};               // moment of each order, and the total
  std::vector<std::vector<Index>> matrices_;  // by order and rank of the middle: where its matrix begins
};

// The moments of the rows [first, first + rows) of a block, a part of them at a time.
class RowMoments {
 public:
  RowMoments(const RowBlock& block, Index first, Index rows, Arena& arena);

  // Orders 0, 1 and 2.
  void add_low_order(int order, const double* weights, double* out) const;
  // Orders from 3 on: all moments whose middle begins with `middle_first`.
  void add_with_middle(int order, Index middle_first, const double* weights, double* out) const;

 private:
  [[nodiscard]] const double* input(Index j) const { return values_ + j * stride_; }
  void add_longer_middles(int left, Index middle_first, Index middle_last, const double* product,
                          double*& out) const;
  struct Inputs {
    Index first;
    Index count;
  };
  void add_matrix(const double* weights, Inputs rows, Inputs columns, double* out, Index out_stride) const;

  Index inputs_;
  Index stride_;
  const double* values_;
  Index rows_;
  double* weighted_;  // some inputs times weights
  Arena& arena_;
};

}  // namespace mfga
