// Compiled once per instruction set (Google Highway); the best one for the machine is chosen at run time.
#include "core/row_kernels.hpp"

#include <cmath>
#include <type_traits>
#include <utility>

// The order of these matters; the file includes itself, once per instruction set.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/row_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
#include "core/lane_sums-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mfga::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A tile of kTileA x kTileB sums stays in registers: 24 of the 32 that AVX-512 and NEON have, 12 of 16
// elsewhere.
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr Index kTileA = 6;
#else
constexpr Index kTileA = 3;
#endif
constexpr Index kTileB = 4;

// Rows past the end are replaced by the last one; their sums are not stored.
template <Index kRowsA, class T>
HWY_INLINE void add_tile(const T* HWY_RESTRICT a, Index a_stride, const T* HWY_RESTRICT b, Index b_rows,
                         Index b_stride, Index count, double* HWY_RESTRICT c, Index c_stride_a,
                         Index c_stride_b) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const T* b_row[kTileB];
  for (Index j = 0; j < kTileB; ++j) b_row[j] = b + (j < b_rows ? j : b_rows - 1) * b_stride;
  V sum[kRowsA][kTileB];
  for (Index i = 0; i < kRowsA; ++i) {
    for (Index j = 0; j < kTileB; ++j) sum[i][j] = hn::Zero(d);
  }
  Index n = 0;
  for (; n + lanes <= count; n += lanes) {
    V value_a[kRowsA];
    for (Index i = 0; i < kRowsA; ++i) value_a[i] = hn::LoadU(d, a + i * a_stride + n);
    for (Index j = 0; j < kTileB; ++j) {
      const V value_b = hn::LoadU(d, b_row[j] + n);
      for (Index i = 0; i < kRowsA; ++i) sum[i][j] = hn::MulAdd(value_a[i], value_b, sum[i][j]);
    }
  }
  for (Index i = 0; i < kRowsA; ++i) {
    T totals[kTileB];
    sums_of_lanes(d, sum[i], totals);
    for (Index rest = n; rest < count; ++rest) {
      for (Index j = 0; j < kTileB; ++j) totals[j] += a[i * a_stride + rest] * b_row[j][rest];
    }
    for (Index j = 0; j < kTileB && j < b_rows; ++j)
      c[i * c_stride_a + j * c_stride_b] += static_cast<double>(totals[j]);
  }
}

template <Index kRowsA, class T>
void add_panel(const T* a, Index a_stride, const T* b, Index b_rows, Index b_stride, Index count, double* c,
               Index c_stride_a, Index c_stride_b) {
  for (Index j = 0; j < b_rows; j += kTileB) {
    add_tile<kRowsA>(a, a_stride, b + j * b_stride, b_rows - j, b_stride, count, c + j * c_stride_b,
                     c_stride_a, c_stride_b);
  }
}

template <class T>
void add_products(const T* a, Index a_rows, Index a_stride, const T* b, Index b_rows, Index b_stride,
                  Index count, double* c, Index c_stride_a, Index c_stride_b) {
  // A tile is narrower in `a` where there are too few rows left, but always kTileB wide.
  if (b_rows < kTileB && a_rows > b_rows) {
    std::swap(a, b);
    std::swap(a_rows, b_rows);
    std::swap(a_stride, b_stride);
    std::swap(c_stride_a, c_stride_b);
  }
  const auto add = [&](auto rows_a, Index i) {
    add_panel<decltype(rows_a)::value>(a + i * a_stride, a_stride, b, b_rows, b_stride, count,
                                       c + i * c_stride_a, c_stride_a, c_stride_b);
  };
  Index i = 0;
  for (; i + kTileA <= a_rows; i += kTileA) add(std::integral_constant<Index, kTileA>(), i);
  for (; i + 2 <= a_rows; i += 2) add(std::integral_constant<Index, 2>(), i);
  for (; i < a_rows; ++i) add(std::integral_constant<Index, 1>(), i);
}

void add_products_double(const double* a, Index a_rows, Index a_stride, const double* b, Index b_rows,
                         Index b_stride, Index count, double* c, Index c_stride) {
  add_products(a, a_rows, a_stride, b, b_rows, b_stride, count, c, c_stride, 1);
}

void add_products_single(const float* a, Index a_rows, Index a_stride, const float* b, Index b_rows,
                         Index b_stride, Index count, double* c, Index c_stride) {
  add_products(a, a_rows, a_stride, b, b_rows, b_stride, count, c, c_stride, 1);
}

// Each lane adds up its share in order; then log2(lanes) sums, and the rounding of the last rows' products.
double single_product_error(Index count) {
  const auto lanes = static_cast<Index>(hn::Lanes(hn::ScalableTag<float>()));
  const Index in_order = count / lanes;
  constexpr double kRounding = 0x1p-24;
  return kRounding * static_cast<double>(in_order + 2 * (lanes - 1) + 4);
}

double row_sum(const double* values, Index count) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  auto sum2 = hn::Zero(d);
  auto sum3 = hn::Zero(d);
  Index n = 0;
  for (; n + 4 * lanes <= count; n += 4 * lanes) {  // four sums hide the latency of the additions
    sum0 = hn::Add(sum0, hn::LoadU(d, values + n));
    sum1 = hn::Add(sum1, hn::LoadU(d, values + n + lanes));
    sum2 = hn::Add(sum2, hn::LoadU(d, values + n + 2 * lanes));
    sum3 = hn::Add(sum3, hn::LoadU(d, values + n + 3 * lanes));
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
  for (; n < count; ++n) sum += values[n];
  return sum;
}

// out[n] = function(values[n]). The last few numbers go through the same code, so that a value does not
// depend on its place in the block.
template <class T, class Function>
HWY_INLINE void map_row(const T* values, Index count, T* out, Function function) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index n = 0;
  for (; n + lanes <= count; n += lanes) hn::StoreU(function(d, hn::LoadU(d, values + n)), d, out + n);
  for (; n < count; ++n) out[n] = hn::GetLane(function(d, hn::Set(d, values[n])));
}

void square_roots(const double* values, Index count, double* out) {
  map_row(values, count, out, [](auto /*d*/, auto v) { return hn::Sqrt(v); });
}

void logarithms(const double* values, Index count, double* out) {
  map_row(values, count, out, [](auto d, auto v) { return hn::Log(d, v); });
}

void exponentials_double(const double* values, double factor, Index count, double* out) {
  map_row(values, count, out, [&](auto d, auto v) { return hn::Exp(d, hn::Mul(hn::Set(d, factor), v)); });
}

void exponentials_single(const float* values, float factor, Index count, float* out) {
  map_row(values, count, out, [&](auto d, auto v) {
    return hn::Exp(d, hn::Max(hn::Mul(hn::Set(d, factor), v), hn::Set(d, kLowestExponent)));
  });
}

void cosines_double(const double* values, double factor, Index count, double* out) {
  map_row(values, count, out, [&](auto d, auto v) {
    auto cosine = hn::Cos(d, v);
    const auto far = hn::Gt(hn::Abs(v), hn::Set(d, double{kFarthestAngle}));
    if (HWY_UNLIKELY(!hn::AllFalse(d, far))) {
      HWY_ALIGN double angles[hn::MaxLanes(d)];
      HWY_ALIGN double exact[hn::MaxLanes(d)];
      hn::Store(v, d, angles);
      for (std::size_t i = 0; i < hn::Lanes(d); ++i) exact[i] = std::cos(angles[i]);
      cosine = hn::IfThenElse(far, hn::Load(d, exact), cosine);
    }
    return hn::Mul(hn::Set(d, factor), cosine);
  });
}

void cosines_single(const float* values, float factor, Index count, float* out) {
  map_row(values, count, out, [&](auto d, auto v) {
    const auto near = hn::IfThenElseZero(hn::Le(hn::Abs(v), hn::Set(d, kFarthestAngle)), v);
    return hn::Mul(hn::Set(d, factor), hn::Cos(d, near));
  });
}

template <class T>
HWY_INLINE void add_absolute_distances(const T* rows, Index n_rows, Index stride, const T* centre,
                                       Index count, T* out) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index n = 0;
  for (; n + 4 * lanes <= count; n += 4 * lanes) {  // four sums hide the latency of the additions
    auto sum0 = hn::Zero(d);
    auto sum1 = hn::Zero(d);
    auto sum2 = hn::Zero(d);
    auto sum3 = hn::Zero(d);
    for (Index j = 0; j < n_rows; ++j) {
      const auto c = hn::Set(d, centre[j]);
      const T* row = rows + j * stride + n;
      sum0 = hn::Add(sum0, hn::Abs(hn::Sub(hn::LoadU(d, row), c)));
      sum1 = hn::Add(sum1, hn::Abs(hn::Sub(hn::LoadU(d, row + lanes), c)));
      sum2 = hn::Add(sum2, hn::Abs(hn::Sub(hn::LoadU(d, row + 2 * lanes), c)));
      sum3 = hn::Add(sum3, hn::Abs(hn::Sub(hn::LoadU(d, row + 3 * lanes), c)));
    }
    hn::StoreU(sum0, d, out + n);
    hn::StoreU(sum1, d, out + n + lanes);
    hn::StoreU(sum2, d, out + n + 2 * lanes);
    hn::StoreU(sum3, d, out + n + 3 * lanes);
  }
  for (; n < count; ++n) {
    T sum = 0;
    for (Index j = 0; j < n_rows; ++j) {
      const T difference = rows[j * stride + n] - centre[j];
      sum += difference < 0 ? -difference : difference;
    }
    out[n] = sum;
  }
}

void absolute_distances_double(const double* rows, Index n_rows, Index stride, const double* centre,
                               Index count, double* out) {
  add_absolute_distances(rows, n_rows, stride, centre, count, out);
}

void absolute_distances_single(const float* rows, Index n_rows, Index stride, const float* centre,
                               Index count, float* out) {
  add_absolute_distances(rows, n_rows, stride, centre, count, out);
}

// a, b = a + b, a - b
template <class T>
HWY_INLINE void butterfly(T* HWY_RESTRICT a, T* HWY_RESTRICT b, Index count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index n = 0;
  for (; n + lanes <= count; n += lanes) {
    const auto x = hn::LoadU(d, a + n);
    const auto y = hn::LoadU(d, b + n);
    hn::StoreU(hn::Add(x, y), d, a + n);
    hn::StoreU(hn::Sub(x, y), d, b + n);
  }
  for (; n < count; ++n) {
    const T x = a[n];
    a[n] = x + b[n];
    b[n] = x - b[n];
  }
}

template <class T>
HWY_INLINE void transform(T* rows, Index n_rows, Index count) {
  for (Index half = 1; half < n_rows; half *= 2) {
    for (Index first = 0; first < n_rows; first += 2 * half) {
      for (Index i = first; i < first + half; ++i)
        butterfly(rows + i * count, rows + (i + half) * count, count);
    }
  }
}

void hadamard_double(double* rows, Index n_rows, Index count) { transform(rows, n_rows, count); }
void hadamard_single(float* rows, Index n_rows, Index count) { transform(rows, n_rows, count); }

// Transposes a square tile, as wide as a vector (of at most four numbers: wider ones gain nothing).
#if HWY_TARGET == HWY_SCALAR
template <class D>
HWY_INLINE void transpose(D /*d*/, hn::Vec<D>* /*v*/) {}
#else
template <class D>
HWY_INLINE void transpose(D d, hn::Vec<D>* v) {
  if constexpr (hn::MaxLanes(D()) == 2) {
    const auto first = v[0];
    v[0] = hn::InterleaveLower(d, first, v[1]);
    v[1] = hn::InterleaveUpper(d, first, v[1]);
  } else {
    const auto even01 = hn::InterleaveLower(d, v[0], v[1]);
    const auto odd01 = hn::InterleaveUpper(d, v[0], v[1]);
    const auto even23 = hn::InterleaveLower(d, v[2], v[3]);
    const auto odd23 = hn::InterleaveUpper(d, v[2], v[3]);
    v[0] = hn::ConcatLowerLower(d, even23, even01);
    v[1] = hn::ConcatLowerLower(d, odd23, odd01);
    v[2] = hn::ConcatUpperUpper(d, even23, even01);
    v[3] = hn::ConcatUpperUpper(d, odd23, odd01);
  }
}
#endif

void standardise_rows(const double* const* rows, Index count, Index col_stride, const Standardiser& how,
                      double* HWY_RESTRICT values, Index stride, double* HWY_RESTRICT square_norms) {
  const hn::CappedTag<double, 4> d;
  constexpr Index kSide = hn::MaxLanes(decltype(d)());
  constexpr Index kTiles = kRowTile / kSide;  // on top of one another, so that whole cache lines are written
  constexpr Index kLine = 8;                  // numbers
  const auto n_inputs = static_cast<Index>(how.columns.size());
  for (Index first = 0; first < count; first += kRowTile) {
    hn::Vec<decltype(d)> square[kTiles];
    for (Index t = 0; t < kTiles; ++t) square[t] = hn::Zero(d);
    const double* const* row = rows + first;
    bool by_columns = true;
    for (Index r = 1; r < kRowTile; ++r) by_columns = by_columns && row[r] == row[0] + r;
    Index j = 0;
    while (j < n_inputs) {
      const Index column = how.columns[static_cast<std::size_t>(j)];
      const auto* mean = how.means.data() + j;
      const auto* inverse = how.inverse_deviations.data() + j;
      // The hardware does not see what comes next in eight streams of short rows.
      if (j % kLine < kSide) {
        for (Index r = 0; r < kRowTile; ++r)
          __builtin_prefetch(rows[first + r + kRowsAhead] + column * col_stride, 0, 2);
      }
      bool adjacent = col_stride == 1 && j + kSide <= n_inputs;
      for (Index i = 1; adjacent && i < kSide; ++i)
        adjacent = how.columns[static_cast<std::size_t>(j + i)] == column + i;
      if (adjacent) {
        const auto means = hn::LoadU(d, mean);
        const auto inverses = hn::LoadU(d, inverse);
        for (Index t = 0; t < kTiles; ++t) {
          hn::Vec<decltype(d)> v[kSide];
          for (Index r = 0; r < kSide; ++r) {
            v[r] = hn::Mul(hn::Sub(hn::LoadU(d, rows[first + t * kSide + r] + column), means), inverses);
          }
          transpose(d, v);
          for (Index i = 0; i < kSide; ++i) {
            square[t] = hn::MulAdd(v[i], v[i], square[t]);
            hn::StoreU(v[i], d, values + (j + i) * stride + first + t * kSide);
          }
        }
        j += kSide;
      } else {
        double* out = values + j * stride + first;
        for (Index r = 0; r < kRowTile; ++r) {
          const double x = by_columns ? row[0][column * col_stride + r] : row[r][column * col_stride];
          out[r] = (x - *mean) * *inverse;
        }
        for (Index t = 0; t < kTiles; ++t) {
          const auto v = hn::LoadU(d, out + t * kSide);
          square[t] = hn::MulAdd(v, v, square[t]);
        }
        ++j;
      }
    }
    for (Index t = 0; t < kTiles; ++t) hn::StoreU(square[t], d, square_norms + first + t * kSide);
  }
}

}  // namespace mfga::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mfga {

HWY_EXPORT(add_products_double);
HWY_EXPORT(add_products_single);

void add_row_products(const double* a, Index a_rows, Index a_stride, const double* b, Index b_rows,
                      Index b_stride, Index count, double* c, Index c_stride) {
  HWY_DYNAMIC_DISPATCH(add_products_double)(a, a_rows, a_stride, b, b_rows, b_stride, count, c, c_stride);
}

void add_row_products(const float* a, Index a_rows, Index a_stride, const float* b, Index b_rows,
                      Index b_stride, Index count, double* c, Index c_stride) {
  HWY_DYNAMIC_DISPATCH(add_products_single)(a, a_rows, a_stride, b, b_rows, b_stride, count, c, c_stride);
}

HWY_EXPORT(single_product_error);

double single_product_error(Index count) { return HWY_DYNAMIC_DISPATCH(single_product_error)(count); }

HWY_EXPORT(row_sum);

double row_sum(const double* values, Index count) { return HWY_DYNAMIC_DISPATCH(row_sum)(values, count); }

HWY_EXPORT(exponentials_double);
HWY_EXPORT(exponentials_single);

void exponentials(const double* values, double factor, Index count, double* out) {
  HWY_DYNAMIC_DISPATCH(exponentials_double)(values, factor, count, out);
}

HWY_EXPORT(square_roots);

void square_roots(const double* values, Index count, double* out) {
  HWY_DYNAMIC_DISPATCH(square_roots)(values, count, out);
}

HWY_EXPORT(logarithms);

void logarithms(const double* values, Index count, double* out) {
  HWY_DYNAMIC_DISPATCH(logarithms)(values, count, out);
}

void exponentials(const float* values, float factor, Index count, float* out) {
  HWY_DYNAMIC_DISPATCH(exponentials_single)(values, factor, count, out);
}

HWY_EXPORT(cosines_double);
HWY_EXPORT(cosines_single);

void cosines(const double* values, double factor, Index count, double* out) {
  HWY_DYNAMIC_DISPATCH(cosines_double)(values, factor, count, out);
}

void cosines(const float* values, float factor, Index count, float* out) {
  HWY_DYNAMIC_DISPATCH(cosines_single)(values, factor, count, out);
}

HWY_EXPORT(absolute_distances_double);
HWY_EXPORT(absolute_distances_single);

void absolute_distances(const double* rows, Index n_rows, Index stride, const double* centre, Index count,
                        double* out) {
  HWY_DYNAMIC_DISPATCH(absolute_distances_double)(rows, n_rows, stride, centre, count, out);
}

void absolute_distances(const float* rows, Index n_rows, Index stride, const float* centre, Index count,
                        float* out) {
  HWY_DYNAMIC_DISPATCH(absolute_distances_single)(rows, n_rows, stride, centre, count, out);
}

HWY_EXPORT(hadamard_double);
HWY_EXPORT(hadamard_single);

void hadamard_transform(double* rows, Index n_rows, Index count) {
  HWY_DYNAMIC_DISPATCH(hadamard_double)(rows, n_rows, count);
}

void hadamard_transform(float* rows, Index n_rows, Index count) {
  HWY_DYNAMIC_DISPATCH(hadamard_single)(rows, n_rows, count);
}

HWY_EXPORT(standardise_rows);

void standardise_rows(const double* const* rows, Index count, Index col_stride, const Standardiser& how,
                      double* values, Index stride, double* square_norms) {
  HWY_DYNAMIC_DISPATCH(standardise_rows)(rows, count, col_stride, how, values, stride, square_norms);
}

}  // namespace mfga
#endif
