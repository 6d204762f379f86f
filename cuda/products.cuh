// Sums over rows of weight * column i of a * column j of b, for all i and j: the one kernel behind gradients,
// Gram matrices and Hessians. It multiplies on the matrix units in double precision.
//
// A block of kDown x kAcross warps walks along a part of the rows, 32 at a time, which it copies to shared
// memory while it multiplies those before them. Each warp has a tile of 16 kHigh columns of a and 8 kWide of
// b. The partial sums of the parts are added in their order (add_parts): how many parts there are depends on
// the numbers of rows and columns only.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "row_kernels.cuh"

namespace mfga::cuda {

struct ProductTask {
  const double* a;
  const double* b;
  const double* weights;  // null: 1
  int n_a;
  int n_b;
  bool is_symmetric;   // b is a, and tiles below the diagonal are left out
  Index stride;        // of columns, whole row tiles
  Index rows_of_part;  // whole row tiles
};

// c += a b^T for 16 x 8 rows of a and b^T, 8 columns wide, whose entries are spread over the warp.
__device__ inline void multiply_tiles(double (&c)[4], const double2& a_low, const double2& a_high,
                                      const double2& b) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a_low.x), "d"(a_high.x), "d"(a_low.y), "d"(a_high.y), "d"(b.x), "d"(b.y));
#else
  const auto multiply = [](double& c0, double& c1, double a, double b_part) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(c0), "+d"(c1)
        : "d"(a), "d"(b_part));
  };
  multiply(c[0], c[1], a_low.x, b.x);
  multiply(c[2], c[3], a_high.x, b.x);
  multiply(c[0], c[1], a_low.y, b.y);
  multiply(c[2], c[3], a_high.y, b.y);
#endif
}

inline constexpr int kStageRows = 32;
// Columns in shared memory are so far apart that the 16 bytes that 8 threads read at a time lie in all 32
// banks.
inline constexpr int kPitch = kStageRows + 8;

// kOwn: all columns are in one square of tiles, and b is a: the columns are copied once, and there are no
// warps for what is below the diagonal.
template <int kHigh, int kWide, int kDown, int kAcross, bool kOwn>
struct ProductTile {
  static constexpr int kHeight = 16 * kHigh * kDown;
  static constexpr int kWidth = 8 * kWide * kAcross;
  static constexpr int kCopied = kOwn ? kHeight : kHeight + kWidth;  // columns
  static constexpr int kThreads = 32 * (kOwn ? kDown * (kDown + 1) / 2 : kDown * kAcross);
  static constexpr int kStageNumbers = kCopied * kPitch + kStageRows;
  static constexpr std::size_t kSharedBytes = 2 * kStageNumbers * sizeof(double);
};

template <int kHigh, int kWide, int kDown, int kAcross, bool kOwn, bool kWeighted>
__global__ void __launch_bounds__(ProductTile<kHigh, kWide, kDown, kAcross, kOwn>::kThreads)
    sum_products(ProductTask task, double* partial) {
  using Tile = ProductTile<kHigh, kWide, kDown, kAcross, kOwn>;
  extern __shared__ __align__(16) double stages[];
  const int tiles_across = (task.n_b + Tile::kWidth - 1) / Tile::kWidth;
  int down = 0;
  int across = 0;
  if (task.is_symmetric && !kOwn) {  // square tiles, row by row from the diagonal on
    int tile = static_cast<int>(blockIdx.y);
    while (tile >= tiles_across - down) tile -= tiles_across - down++;
    across = down + tile;
  } else {
    down = static_cast<int>(blockIdx.y) / tiles_across;
    across = static_cast<int>(blockIdx.y) % tiles_across;
  }
  const Index first_row = static_cast<Index>(blockIdx.x) * task.rows_of_part;
  const Index rows = min(task.rows_of_part, task.stride - first_row);
  const double* weights = kWeighted ? task.weights + first_row : nullptr;

  // Columns past the last one are read as the last, and what comes of them is not stored.
  const auto copy_stage = [&](int stage, Index row) {
    constexpr int kPieces = kStageRows / 2;  // of 16 bytes
    double* to = stages + stage * Tile::kStageNumbers;
    for (int i = static_cast<int>(threadIdx.x); i < Tile::kCopied * kPieces; i += Tile::kThreads) {
      const int column = i / kPieces;
      const int piece = 2 * (i % kPieces);
      const double* from =
          column < Tile::kHeight
              ? task.a + min(down * Tile::kHeight + column, task.n_a - 1) * task.stride
              : task.b + min(across * Tile::kWidth + column - Tile::kHeight, task.n_b - 1) * task.stride;
      __pipeline_memcpy_async(to + column * kPitch + piece, from + first_row + row + piece, 16);
    }
    if (kWeighted && threadIdx.x < kPieces) {
      __pipeline_memcpy_async(to + Tile::kCopied * kPitch + 2 * threadIdx.x, weights + row + 2 * threadIdx.x,
                              16);
    }
    __pipeline_commit();
  };

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int group = lane / 4;
  const int place = lane % 4;
  int warp_down = warp / kAcross;
  int warp_across = warp % kAcross;
  if (kOwn) {
    warp_down = 0;
    warp_across = warp;
    while (warp_across >= kAcross - warp_down) warp_across -= kAcross - warp_down++;
    warp_across += warp_down;
  }
  const int first_a = warp_down * 16 * kHigh;
  const int first_b = warp_across * 8 * kWide;
  // Of the whole result; nothing of the warp's tile may be wanted.
  const int row_of_tile = down * Tile::kHeight + first_a;
  const int column_of_tile = across * Tile::kWidth + first_b;
  const bool is_wanted = row_of_tile < task.n_a && column_of_tile < task.n_b &&
                         !(task.is_symmetric && column_of_tile + 8 * kWide <= row_of_tile);

  double sums[kHigh][kWide][4] = {};
  copy_stage(0, 0);
  int stage = 0;
  for (Index row = 0; row < rows; row += kStageRows, stage ^= 1) {
    if (row + kStageRows < rows) {
      copy_stage(stage ^ 1, row + kStageRows);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    if (is_wanted) {
      const double* a = stages + stage * Tile::kStageNumbers + (first_a + group) * kPitch + 2 * place;
      const double* b = stages + stage * Tile::kStageNumbers +
                        ((kOwn ? 0 : Tile::kHeight) + first_b + group) * kPitch + 2 * place;
      const double* w = stages + stage * Tile::kStageNumbers + Tile::kCopied * kPitch + 2 * place;
#pragma unroll
      for (int n = 0; n < kStageRows; n += 8) {
        double2 left[kHigh][2];
        double2 right[kWide];
#pragma unroll
        for (int i = 0; i < kHigh; ++i) {
#pragma unroll
          for (int half = 0; half < 2; ++half)
            left[i][half] = *reinterpret_cast<const double2*>(a + (16 * i + 8 * half) * kPitch + n);
        }
#pragma unroll
        for (int j = 0; j < kWide; ++j) right[j] = *reinterpret_cast<const double2*>(b + 8 * j * kPitch + n);
        if constexpr (kWeighted) {
          const double2 weight = *reinterpret_cast<const double2*>(w + n);
#pragma unroll
          for (int i = 0; i < kHigh; ++i) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
              left[i][half].x *= weight.x;
              left[i][half].y *= weight.y;
            }
          }
        }
#pragma unroll
        for (int i = 0; i < kHigh; ++i) {
#pragma unroll
          for (int j = 0; j < kWide; ++j) multiply_tiles(sums[i][j], left[i][0], left[i][1], right[j]);
        }
      }
    }
    __syncthreads();  // before the next rows are copied to where these are
  }
  if (!is_wanted) return;

  double* out = partial + static_cast<Index>(blockIdx.x) * task.n_a * task.n_b;
#pragma unroll
  for (int i = 0; i < kHigh; ++i) {
#pragma unroll
    for (int j = 0; j < kWide; ++j) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int row = row_of_tile + 16 * i + 8 * (k / 2) + group;
        const int column = column_of_tile + 8 * j + 2 * place + k % 2;
        if (row < task.n_a && column < task.n_b)
          out[static_cast<Index>(row) * task.n_b + column] = sums[i][j][k];
      }
    }
  }
}

// The same for one or two columns of a, which takes no more than reading b: each block has kFewWide columns
// of b.
inline constexpr int kFewWide = 8;
template <int kOfA, bool kWeighted>
__global__ void __launch_bounds__(kThreads) sum_few_products(ProductTask task, double* partial) {
  const int first_b = static_cast<int>(blockIdx.y) * kFewWide;
  const Index begin = static_cast<Index>(blockIdx.x) * task.rows_of_part;
  const Index end = min(begin + task.rows_of_part, task.stride);
  double sums[kOfA * kFewWide] = {};
  const double2* b[kFewWide];
#pragma unroll
  for (int j = 0; j < kFewWide; ++j)
    b[j] = reinterpret_cast<const double2*>(task.b + min(first_b + j, task.n_b - 1) * task.stride);
  for (Index n = begin / 2 + threadIdx.x; n < end / 2; n += kThreads) {
    double2 right[kFewWide];
#pragma unroll
    for (int j = 0; j < kFewWide; ++j) right[j] = b[j][n];
#pragma unroll
    for (int i = 0; i < kOfA; ++i) {
      double2 left = reinterpret_cast<const double2*>(task.a + i * task.stride)[n];
      if constexpr (kWeighted) {
        const double2 weight = reinterpret_cast<const double2*>(task.weights)[n];
        left.x *= weight.x;
        left.y *= weight.y;
      }
#pragma unroll
      for (int j = 0; j < kFewWide; ++j) sums[i * kFewWide + j] += left.x * right[j].x + left.y * right[j].y;
    }
  }
  // First within each warp, then of the warps in their order.
  __shared__ double of_warps[kThreads / 32][kOfA * kFewWide];
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < kOfA * kFewWide; ++i) {
    for (int half = 16; half > 0; half /= 2) sums[i] += __shfl_down_sync(0xffffffff, sums[i], half);
    if (lane == 0) of_warps[threadIdx.x / 32][i] = sums[i];
  }
  __syncthreads();
  if (threadIdx.x >= kOfA * kFewWide) return;
  double sum = 0;
  for (int warp = 0; warp < kThreads / 32; ++warp) sum += of_warps[warp][threadIdx.x];
  const int i = static_cast<int>(threadIdx.x) / kFewWide;
  const int j = first_b + static_cast<int>(threadIdx.x) % kFewWide;
  if (j < task.n_b) partial[(static_cast<Index>(blockIdx.x) * kOfA + i) * task.n_b + j] = sum;
}

}  // namespace mfga::cuda
