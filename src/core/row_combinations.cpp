// Compiled once per instruction set (Google Highway); the best one for the machine is chosen at run time.
#include "core/row_combinations.hpp"

// The order of these matters; the file includes itself, once per instruction set.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/row_combinations.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mfga::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// kOut combinations at kVectors vectors of places. All sums stay in registers; eight of them hide the latency
// of the additions.
template <Index kOut, Index kVectors, class D>
HWY_INLINE void combine_tile(D d, const double* HWY_RESTRICT coefficients, const double* HWY_RESTRICT rows,
                             Index n_rows, Index stride, bool adds, double* HWY_RESTRICT out,
                             Index out_stride) {
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  hn::Vec<D> sum[kOut][kVectors];
  for (Index i = 0; i < kOut; ++i) {
    for (Index v = 0; v < kVectors; ++v)
      sum[i][v] = adds ? hn::LoadU(d, out + i * out_stride + v * lanes) : hn::Zero(d);
  }
  for (Index k = 0; k < n_rows; ++k) {
    hn::Vec<D> value[kVectors];
    for (Index v = 0; v < kVectors; ++v) value[v] = hn::LoadU(d, rows + k * stride + v * lanes);
    for (Index i = 0; i < kOut; ++i) {
      const auto coefficient = hn::Set(d, coefficients[i * n_rows + k]);
      for (Index v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(coefficient, value[v], sum[i][v]);
    }
  }
  for (Index i = 0; i < kOut; ++i) {
    for (Index v = 0; v < kVectors; ++v) hn::StoreU(sum[i][v], d, out + i * out_stride + v * lanes);
  }
}

// All combinations at some places.
template <Index kVectors, class D>
HWY_INLINE void combine_places(D d, const double* coefficients, Index n_out, const double* rows, Index n_rows,
                               Index stride, bool adds, double* out, Index out_stride) {
  constexpr Index kTile = 4;
  Index i = 0;
  for (; i + kTile <= n_out; i += kTile) {
    combine_tile<kTile, kVectors>(d, coefficients + i * n_rows, rows, n_rows, stride, adds,
                                  out + i * out_stride, out_stride);
  }
  for (; i < n_out; ++i) {
    combine_tile<1, kVectors>(d, coefficients + i * n_rows, rows, n_rows, stride, adds, out + i * out_stride,
                              out_stride);
  }
}

// Places outside, combinations inside: the rows' values at a few places stay in the first-level cache.
void combine(const double* coefficients, Index n_out, const double* rows, Index n_rows, Index stride,
             Index count, bool adds, double* out, Index out_stride) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> single;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index n = 0;
  if (n_out == 1) {
    for (; n + 8 * lanes <= count; n += 8 * lanes)
      combine_tile<1, 8>(d, coefficients, rows + n, n_rows, stride, adds, out + n, out_stride);
  }
  for (; n + 2 * lanes <= count; n += 2 * lanes)
    combine_places<2>(d, coefficients, n_out, rows + n, n_rows, stride, adds, out + n, out_stride);
  for (; n + lanes <= count; n += lanes)
    combine_places<1>(d, coefficients, n_out, rows + n, n_rows, stride, adds, out + n, out_stride);
  for (; n < count; ++n)
    combine_places<1>(single, coefficients, n_out, rows + n, n_rows, stride, adds, out + n, out_stride);
}

}  // namespace mfga::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mfga {

HWY_EXPORT(combine);

void set_combinations(const double* coefficients, Index n_out, const double* rows, Index n_rows, Index stride,
                      Index count, double* out, Index out_stride) {
  HWY_DYNAMIC_DISPATCH(combine)(coefficients, n_out, rows, n_rows, stride, count, false, out, out_stride);
}

void add_combination(const double* coefficients, const double* rows, Index n_rows, Index stride, Index count,
                     double* out) {
  HWY_DYNAMIC_DISPATCH(combine)(coefficients, 1, rows, n_rows, stride, count, true, out, 0);
}

}  // namespace mfga
#endif
