// Compiled once per instruction set (Google Highway); the best one for the machine is chosen at run time.
#include "core/row_kernels.hpp"

// The order of these matters; the file includes itself, once per instruction set.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/row_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mfga::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A tile of kTileA x kTileB sums stays in registers: 24 of the 32 that AVX-512 and NEON have, 8 of 16
// elsewhere.
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr Index kTileA = 6;
constexpr Index kTileB = 4;
#else
constexpr Index kTileA = 4;
constexpr Index kTileB = 3;
#endif

// Rows past the end are replaced by the last one; their sums are not stored.
template <Index kRowsA>
HWY_INLINE void add_tile(const double* HWY_RESTRICT a, Index a_stride, const double* HWY_RESTRICT b,
                         Index b_rows, Index b_stride, Index count, double* HWY_RESTRICT c, Index c_stride) {
  const hn::ScalableTag<double> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const double* b_row[kTileB];
  for (Index j = 0; j < kTileB; ++j) b_row[j] = b + (j < b_rows ? j : b_rows - 1) * b_stride;
  V sum[kRowsA][kTileB];
  for (Index i = 0; i < kRowsA; ++i) {
    for (Index j = 0; j < kTileB; ++j) sum[i][j] = hn::Zero(d);
  }
  Index n = 0;
  for (; n + lanes <= count; n += lanes) {
    V value_b[kTileB];
    for (Index j = 0; j < kTileB; ++j) value_b[j] = hn::LoadU(d, b_row[j] + n);
    for (Index i = 0; i < kRowsA; ++i) {
      const V value_a = hn::LoadU(d, a + i * a_stride + n);
      for (Index j = 0; j < kTileB; ++j) sum[i][j] = hn::MulAdd(value_a, value_b[j], sum[i][j]);
    }
  }
  for (Index i = 0; i < kRowsA; ++i) {
    for (Index j = 0; j < kTileB && j < b_rows; ++j) {
      double total = hn::GetLane(hn::SumOfLanes(d, sum[i][j]));
      for (Index rest = n; rest < count; ++rest) total += a[i * a_stride + rest] * b_row[j][rest];
      c[i * c_stride + j] += total;
    }
  }
}

template <Index kRowsA>
void add_panel(const double* a, Index a_stride, const double* b, Index b_rows, Index b_stride, Index count,
               double* c, Index c_stride) {
  for (Index j = 0; j < b_rows; j += kTileB) {
    add_tile<kRowsA>(a, a_stride, b + j * b_stride, b_rows - j, b_stride, count, c + j, c_stride);
  }
}

void add_row_products(const double* a, Index a_rows, Index a_stride, const double* b, Index b_rows,
                      Index b_stride, Index count, double* c, Index c_stride) {
  Index i = 0;
  for (; i + kTileA <= a_rows; i += kTileA) {
    add_panel<kTileA>(a + i * a_stride, a_stride, b, b_rows, b_stride, count, c + i * c_stride, c_stride);
  }
  for (; i + 2 <= a_rows; i += 2) {
    add_panel<2>(a + i * a_stride, a_stride, b, b_rows, b_stride, count, c + i * c_stride, c_stride);
  }
  for (; i < a_rows; ++i) {
    add_panel<1>(a + i * a_stride, a_stride, b, b_rows, b_stride, count, c + i * c_stride, c_stride);
  }
}

void combine_rows(const double* const* rows, const double* coefficients, Index n_rows, Index count,
                  double* out) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index n = 0;
  for (; n + 4 * lanes <= count; n += 4 * lanes) {  // four sums hide the latency of the additions
    auto sum0 = hn::Zero(d);
    auto sum1 = hn::Zero(d);
    auto sum2 = hn::Zero(d);
    auto sum3 = hn::Zero(d);
    for (Index k = 0; k < n_rows; ++k) {
      const auto coefficient = hn::Set(d, coefficients[k]);
      const double* row = rows[k] + n;
      sum0 = hn::MulAdd(coefficient, hn::LoadU(d, row), sum0);
      sum1 = hn::MulAdd(coefficient, hn::LoadU(d, row + lanes), sum1);
      sum2 = hn::MulAdd(coefficient, hn::LoadU(d, row + 2 * lanes), sum2);
      sum3 = hn::MulAdd(coefficient, hn::LoadU(d, row + 3 * lanes), sum3);
    }
    hn::StoreU(sum0, d, out + n);
    hn::StoreU(sum1, d, out + n + lanes);
    hn::StoreU(sum2, d, out + n + 2 * lanes);
    hn::StoreU(sum3, d, out + n + 3 * lanes);
  }
  // The last few with the same fused operation, so that a value does not depend on its place in the block.
  for (; n < count; ++n) {
    auto sum = hn::Zero(d);
    for (Index k = 0; k < n_rows; ++k)
      sum = hn::MulAdd(hn::Set(d, coefficients[k]), hn::Set(d, rows[k][n]), sum);
    out[n] = hn::GetLane(sum);
  }
}

void exponentials(const double* values, double factor, Index count, double* out) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index n = 0;
  for (; n + lanes <= count; n += lanes) {
    hn::StoreU(hn::Exp(d, hn::Mul(hn::Set(d, factor), hn::LoadU(d, values + n))), d, out + n);
  }
  // The last few go through the same code, so that a value does not depend on its place in the block.
  for (; n < count; ++n) out[n] = hn::GetLane(hn::Exp(d, hn::Set(d, factor * values[n])));
}

void cosines(const double* values, double factor, Index count, double* out) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index n = 0;
  for (; n + lanes <= count; n += lanes) {
    hn::StoreU(hn::Mul(hn::Set(d, factor), hn::Cos(d, hn::LoadU(d, values + n))), d, out + n);
  }
  for (; n < count; ++n) out[n] = hn::GetLane(hn::Mul(hn::Set(d, factor), hn::Cos(d, hn::Set(d, values[n]))));
}

}  // namespace mfga::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mfga {

HWY_EXPORT(add_row_products);

void add_row_products(const double* a, Index a_rows, Index a_stride, const double* b, Index b_rows,
                      Index b_stride, Index count, double* c, Index c_stride) {
  HWY_DYNAMIC_DISPATCH(add_row_products)(a, a_rows, a_stride, b, b_rows, b_stride, count, c, c_stride);
}

HWY_EXPORT(combine_rows);

void combine_rows(const double* const* rows, const double* coefficients, Index n_rows, Index count,
                  double* out) {
  HWY_DYNAMIC_DISPATCH(combine_rows)(rows, coefficients, n_rows, count, out);
}

HWY_EXPORT(exponentials);

void exponentials(const double* values, double factor, Index count, double* out) {
  HWY_DYNAMIC_DISPATCH(exponentials)(values, factor, count, out);
}

HWY_EXPORT(cosines);

void cosines(const double* values, double factor, Index count, double* out) {
  HWY_DYNAMIC_DISPATCH(cosines)(values, factor, count, out);
}

}  // namespace mfga
#endif
