// The sums of the lanes of vectors, for kernels that Highway compiles once per instruction set: this file is
// included as often.
#if defined(MFGA_CORE_LANE_SUMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef MFGA_CORE_LANE_SUMS_INL_HPP
#undef MFGA_CORE_LANE_SUMS_INL_HPP
#else
#define MFGA_CORE_LANE_SUMS_INL_HPP
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mfga::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
template <class D>
HWY_INLINE void sums_of_lanes(D /*d*/, const hn::Vec<D>* v, hn::TFromD<D>* totals) {
  for (int j = 0; j < 4; ++j) totals[j] = hn::GetLane(v[j]);
}
#else
// Adds the halves of a vector to one another until 128 bits are left.
template <class D, class V = hn::Vec<D> >
HWY_INLINE auto fold(D /*d*/, V v) {
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) <= 16) {
    return v;
  } else {
    const hn::Half<D> half;
    return fold(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// The sums of the lanes of four vectors. All four together take a third of the instructions of four sums of
// their own, which matters: a row of a block is not much longer than a few dozen vectors.
template <class D>
HWY_INLINE void sums_of_lanes(D d, const hn::Vec<D>* v, hn::TFromD<D>* totals) {
  const auto a = hn::Add(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1]));
  const auto b = hn::Add(hn::InterleaveLower(d, v[2], v[3]), hn::InterleaveUpper(d, v[2], v[3]));
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(double)) {
    const hn::Full128<double> out;
    hn::StoreU(fold(d, a), out, totals);
    hn::StoreU(fold(d, b), out, totals + 2);
  } else {  // a: v0 v1 v0 v1 in every 128 bits, b: v2 v3 v2 v3
    const hn::RepartitionToWide<D> pairs;
    const auto lower = hn::InterleaveLower(pairs, hn::BitCast(pairs, a), hn::BitCast(pairs, b));
    const auto upper = hn::InterleaveUpper(pairs, hn::BitCast(pairs, a), hn::BitCast(pairs, b));
    const hn::Full128<float> out;
    hn::StoreU(fold(d, hn::Add(hn::BitCast(d, lower), hn::BitCast(d, upper))), out, totals);
  }
}
#endif

}  // namespace mfga::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
