// Compiled once per instruction set (Google Highway); the best one for the machine is chosen at run time.
#include "core/monomial_kernels.hpp"

#include <algorithm>
#include <type_traits>

// The order of these matters; the file includes itself, once per instruction set.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/monomial_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "core/lane_sums-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mfga::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// What stays in registers, of which AVX-512 and NEON have 32 and others 16: vectors of places that sums are
// made for together, which hides the latency of the additions; and a tile of pairs x rows of b.
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr Index kTogether = 8;
constexpr Index kTilePairs = 6;
#else
constexpr Index kTogether = 4;
constexpr Index kTilePairs = 3;
#endif
constexpr Index kTileB = 4;

// The sums at kVectors vectors of places.
template <Index kVectors, class D>
HWY_INLINE void set_places(D d, std::span<const SumTimesRows> sums, const double* rows, Index stride,
                           double* HWY_RESTRICT out) {
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  hn::Vec<D> total[kVectors];
  for (Index v = 0; v < kVectors; ++v) total[v] = hn::Zero(d);
  for (const SumTimesRows& own : sums) {
    hn::Vec<D> sum[kVectors];
    for (Index v = 0; v < kVectors; ++v) sum[v] = hn::Set(d, own.constant);
    for (std::size_t k = 0; k < own.summands.size(); ++k) {
      const double* row = rows + own.summands[k] * stride;
      const auto coefficient = hn::Set(d, own.coefficients[k]);
      for (Index v = 0; v < kVectors; ++v)
        sum[v] = hn::MulAdd(coefficient, hn::LoadU(d, row + v * lanes), sum[v]);
    }
    if (own.factors.empty()) {
      for (Index v = 0; v < kVectors; ++v) total[v] = hn::Add(total[v], sum[v]);
      continue;
    }
    for (std::size_t f = 1; f < own.factors.size(); ++f) {
      const double* row = rows + own.factors[f] * stride;
      for (Index v = 0; v < kVectors; ++v) sum[v] = hn::Mul(sum[v], hn::LoadU(d, row + v * lanes));
    }
    const double* row = rows + own.factors[0] * stride;
    for (Index v = 0; v < kVectors; ++v)
      total[v] = hn::MulAdd(sum[v], hn::LoadU(d, row + v * lanes), total[v]);
  }
  for (Index v = 0; v < kVectors; ++v) hn::StoreU(total[v], d, out + v * lanes);
}

void set_sums_times_rows(std::span<const SumTimesRows> sums, const double* rows, Index stride, Index count,
                         double* out) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> single;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index n = 0;
  for (; n + kTogether * lanes <= count; n += kTogether * lanes)
    set_places<kTogether>(d, sums, rows + n, stride, out + n);
  for (; n + lanes <= count; n += lanes) set_places<1>(d, sums, rows + n, stride, out + n);
  for (; n < count; ++n) set_places<1>(single, sums, rows + n, stride, out + n);
}

// kPairs pairs and kTileB rows of b; rows past the end are replaced by the last one, and their sums not
// stored.
template <Index kPairs>
HWY_INLINE void add_pair_tile(const double* const* first, const double* const* second,
                              const double* HWY_RESTRICT b, Index b_rows, Index b_stride, Index count,
                              double* HWY_RESTRICT c, Index c_stride) {
  const hn::ScalableTag<double> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const double* b_row[kTileB];
  for (Index j = 0; j < kTileB; ++j) b_row[j] = b + std::min(j, b_rows - 1) * b_stride;
  V sum[kPairs][kTileB];
  for (Index i = 0; i < kPairs; ++i) {
    for (Index j = 0; j < kTileB; ++j) sum[i][j] = hn::Zero(d);
  }
  Index n = 0;
  for (; n + lanes <= count; n += lanes) {
    V product[kPairs];
    for (Index i = 0; i < kPairs; ++i)
      product[i] = hn::Mul(hn::LoadU(d, first[i] + n), hn::LoadU(d, second[i] + n));
    for (Index j = 0; j < kTileB; ++j) {
      const V value = hn::LoadU(d, b_row[j] + n);
      for (Index i = 0; i < kPairs; ++i) sum[i][j] = hn::MulAdd(product[i], value, sum[i][j]);
    }
  }
  for (Index i = 0; i < kPairs; ++i) {
    double totals[kTileB];
    sums_of_lanes(d, sum[i], totals);
    for (Index rest = n; rest < count; ++rest) {
      const double product = first[i][rest] * second[i][rest];
      for (Index j = 0; j < kTileB; ++j) totals[j] += product * b_row[j][rest];
    }
    for (Index j = 0; j < std::min(kTileB, b_rows); ++j) c[i * c_stride + j] += totals[j];
  }
}

// A few rows of b outside, which stay in the first-level cache, pairs inside.
void add_pair_products(const double* const* first, const double* const* second, Index n_pairs,
                       const double* b, Index b_rows, Index b_stride, Index count, double* c,
                       Index c_stride) {
  for (Index j = 0; j < b_rows; j += kTileB) {
    const auto add = [&](auto pairs, Index i) {
      add_pair_tile<decltype(pairs)::value>(first + i, second + i, b + j * b_stride, b_rows - j, b_stride,
                                            count, c + i * c_stride + j, c_stride);
    };
    Index i = 0;
    for (; i + kTilePairs <= n_pairs; i += kTilePairs) add(std::integral_constant<Index, kTilePairs>(), i);
    for (; i < n_pairs; ++i) add(std::integral_constant<Index, 1>(), i);
  }
}

}  // namespace mfga::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mfga {

HWY_EXPORT(set_sums_times_rows);

void set_sums_times_rows(std::span<const SumTimesRows> sums, const double* rows, Index stride, Index count,
                         double* out) {
  HWY_DYNAMIC_DISPATCH(set_sums_times_rows)(sums, rows, stride, count, out);
}

HWY_EXPORT(add_pair_products);

void add_pair_products(const double* const* first, const double* const* second, Index n_pairs,
                       const double* b, Index b_rows, Index b_stride, Index count, double* c,
                       Index c_stride) {
  HWY_DYNAMIC_DISPATCH(add_pair_products)(first, second, n_pairs, b, b_rows, b_stride, count, c, c_stride);
}

}  // namespace mfga
#endif
