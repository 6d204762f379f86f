// What is computed for each row by itself: values of functions, combinations of columns, losses.
#pragma once

#include "device/row_values.hpp"
#include "memory.cuh"

namespace mfga::cuda {

inline constexpr int kThreads = 256;
inline constexpr Index blocks_for(Index rows) { return (rows + kThreads - 1) / kThreads; }

// The inputs of the rows, column after column, `stride` apart; the last one is 1.
struct Inputs {
  const double* values;
  const double* square_norms;
  Index stride;
  Index rows;
};

// Function `first` + blockIdx.y, into column blockIdx.y of `out`.
__global__ void evaluate_functions(Inputs inputs, ShownFunctions functions, int first, double* out) {
  const Index n = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (n >= inputs.stride) return;
  const int f = first + static_cast<int>(blockIdx.y);
  out[blockIdx.y * inputs.stride + n] =
      n < inputs.rows ? value_of(functions, f, inputs.values + n, inputs.stride) : 0;
}

__global__ void evaluate_monomials(Inputs inputs, ShownMonomials monomials, int first, double* out) {
  const Index n = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (n >= inputs.stride) return;
  const int m = first + static_cast<int>(blockIdx.y);
  out[blockIdx.y * inputs.stride + n] =
      n < inputs.rows ? value_of(monomials, m, inputs.values + n, inputs.stride, inputs.square_norms[n]) : 0;
}

// Inputs times factors, and the squares of the rows' lengths.
__global__ void stretch_inputs(const double* given, const double* factors, int n_inputs, Index stride,
                               Index rows, double* inputs, double* square_norms) {
  const Index n = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (n >= rows) return;
  double sum = 0;
  for (int j = 0; j < n_inputs; ++j) {
    const double x = factors[j] * given[j * stride + n];
    inputs[j * stride + n] = x;
    sum += x * x;
  }
  square_norms[n] = sum;
}

// The derivatives of function blockIdx.y, whose steps begin at `first`, over a part of the rows:
// partial[part * 2 * n_steps + step], and those by inputs n_steps further. Each warp has sums of its own in
// shared memory, for as many steps as the longest function has; they are taken together in order.
inline constexpr int kPullBackThreads = 128;
__global__ void __launch_bounds__(kPullBackThreads)
    pull_back_functions(Inputs inputs, ShownFunctions functions, const double* weights, const double* slopes,
                        Index rows_of_part, int longest, int n_steps, double* partial) {
  extern __shared__ double sums[];  // [warps x 2 x longest]
  constexpr int kWarps = kPullBackThreads / 32;
  const int f = static_cast<int>(blockIdx.y);
  const int first = f == 0 ? 0 : functions.ends[f - 1];
  const int steps = functions.ends[f] - first;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  double* own = sums + static_cast<int>(threadIdx.x) / 32 * 2 * longest;
  for (int i = lane; i < 2 * longest; i += 32) own[i] = 0;
  __syncwarp();
  const Index begin = static_cast<Index>(blockIdx.x) * rows_of_part;
  const Index end = min(begin + rows_of_part, inputs.stride);
  for (Index n = begin + threadIdx.x; n < end; n += kPullBackThreads) {
    // Rows are padded to whole warps; what is past the last one counts nothing.
    const bool counts = n < inputs.rows;
    pull_back(functions, f, inputs.values + n, inputs.stride, counts ? weights[f] * slopes[n] : 0,
              [&](int step, double by_number, double by_input) {
                if (!counts) by_number = by_input = 0;
                for (int half = 16; half > 0; half /= 2) {
                  by_number += __shfl_down_sync(0xffffffff, by_number, half);
                  by_input += __shfl_down_sync(0xffffffff, by_input, half);
                }
                if (lane == 0) {
                  own[step - first] += by_number;
                  own[longest + step - first] += by_input;
                }
              });
  }
  __syncthreads();
  double* out = partial + static_cast<Index>(blockIdx.x) * 2 * n_steps;
  for (int i = static_cast<int>(threadIdx.x); i < steps; i += kPullBackThreads) {
    double by_number = 0;
    double by_input = 0;
    for (int warp = 0; warp < kWarps; ++warp) {
      by_number += sums[warp * 2 * longest + i];
      by_input += sums[warp * 2 * longest + longest + i];
    }
    out[first + i] = by_number;
    out[n_steps + first + i] = by_input;
  }
}

// Columns blockIdx.y * kAtATime ... of `out`, each a constant and a combination of columns of `in`.
template <int kAtATime>
__global__ void combine_columns(const double* constants, const double* coefficients, const double* in,
                                int n_in, int n_out, Index stride, Index rows, double* out) {
  const Index n = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (n >= stride) return;
  const int first = static_cast<int>(blockIdx.y) * kAtATime;
  double sums[kAtATime];
#pragma unroll
  for (int c = 0; c < kAtATime; ++c) sums[c] = first + c < n_out ? constants[first + c] : 0;
  if (n < rows) {
#pragma unroll 8
    for (int j = 0; j < n_in; ++j) {
      const double value = in[j * stride + n];
#pragma unroll
      for (int c = 0; c < kAtATime; ++c)
        sums[c] += (first + c < n_out ? coefficients[(first + c) * n_in + j] : 0) * value;
    }
  }
#pragma unroll
  for (int c = 0; c < kAtATime; ++c)
    if (first + c < n_out) out[(first + c) * stride + n] = n < rows ? sums[c] : 0;
}

__global__ void multiply_columns(const double* a, const double* b, Index stride, double* out) {
  const Index n = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (n < stride) out[n] = a[n] * b[n];
}

__global__ void fill_ones(Index rows, Index stride, double* out) {
  const Index n = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (n < stride) out[n] = n < rows ? 1 : 0;
}

// Sums of the threads of a block, in one order; the first thread has them.
template <int kSums>
__device__ void sum_in_block(double (&values)[kSums]) {
  __shared__ double shared[kSums][kThreads];
  for (int k = 0; k < kSums; ++k) shared[k][threadIdx.x] = values[k];
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      for (int k = 0; k < kSums; ++k) shared[k][threadIdx.x] += shared[k][threadIdx.x + half];
    __syncthreads();
  }
  for (int k = 0; k < kSums; ++k) values[k] = shared[k][0];
}

// partial[block * n_columns + column] = the sum over the block's rows of weight * value^2.
__global__ void sum_squares(const double* columns, const double* weights, Index stride, Index n_columns,
                            double* partial) {
  const Index n = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  double sums[1] = {0};
  if (n < stride) {
    const double value = columns[blockIdx.y * stride + n];
    sums[0] = (weights == nullptr ? 1 : weights[n]) * value * value;
  }
  sum_in_block(sums);
  if (threadIdx.x == 0) partial[blockIdx.x * n_columns + blockIdx.y] = sums[0];
}

// partial[block]: the losses of the block's rows.
template <DeviceLoss kLoss>
__global__ void loss_derivatives(const double* scores, const double* targets, const double* weights,
                                 Index rows, Index stride, double* first, double* second, double* partial) {
  const Index n = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  double sums[1] = {0};
  double slope = 0;
  double curvature = 0;
  if (n < rows) {
    const double weight = weights == nullptr ? 1 : weights[n];
    const LossOfRow at = loss_of(kLoss, scores[n], targets[n]);
    slope = weight * at.first;
    curvature = weight * at.second;
    sums[0] = weight * at.loss;
  }
  if (n < stride) {
    first[n] = slope;
    if (second != nullptr) second[n] = curvature;
  }
  sum_in_block(sums);
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

// out[e] = sum over parts p of partial[p * size + e], in one order.
__global__ void add_parts(const double* partial, Index parts, Index size, double* out) {
  constexpr int kLanes = 8;
  __shared__ double shared[kLanes][kThreads / kLanes];
  const int lane = static_cast<int>(threadIdx.x) / (kThreads / kLanes);
  const int own = static_cast<int>(threadIdx.x) % (kThreads / kLanes);
  const Index e = static_cast<Index>(blockIdx.x) * (kThreads / kLanes) + own;
  double sum = 0;
  if (e < size) {
    for (Index p = lane; p < parts; p += kLanes) sum += partial[p * size + e];
  }
  shared[lane][own] = sum;
  __syncthreads();
  if (lane > 0 || e >= size) return;
  for (int other = 1; other < kLanes; ++other) sum += shared[other][own];
  out[e] = sum;
}

}  // namespace mfga::cuda
