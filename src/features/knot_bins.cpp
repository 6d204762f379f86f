#include "features/knot_bins.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "core/vectorise.hpp"

namespace mfga {
namespace {

// out[i] = how many knots are at most x[i], i < kRows. The table has the knots and as many NaN as make it one
// less than a power of two. A search without branches, of some rows side by side: each step of one waits for
// the last one.
template <int kRows>
[[gnu::always_inline]] inline void find_some_bins(const double* x, const double* table,
                                                  std::uint32_t table_size, std::uint16_t* out) {
  std::uint32_t bins[kRows] = {};
  for (std::uint32_t half = (table_size + 1) / 2; half > 0; half /= 2) {
    for (int i = 0; i < kRows; ++i) bins[i] += x[i] >= table[bins[i] + half - 1] ? half : 0U;
  }
  for (int i = 0; i < kRows; ++i) out[i] = static_cast<std::uint16_t>(bins[i]);
}

MFGA_VECTORISED void find_bins(const double* x, Index rows, const double* table, std::uint32_t table_size,
                               std::uint16_t* out) {
  constexpr int kSideBySide = 8;
  Index n = 0;
  for (; n + kSideBySide <= rows; n += kSideBySide)
    find_some_bins<kSideBySide>(x + n, table, table_size, out + n);
  for (; n < rows; ++n) find_some_bins<1>(x + n, table, table_size, out + n);
}

}  // namespace

KnotBins::KnotBins(std::vector<double> knots) : knots_(std::move(knots)), table_(knots_) {
  for (std::size_t bin = 0; bin <= knots_.size(); ++bin) {
    lower_.push_back(knots_[bin == 0 ? 0 : bin - 1]);
    width_.push_back(knots_[std::min(bin, knots_.size() - 1)] - lower_.back());
  }
  table_.resize(std::bit_ceil(knots_.size() + 1) - 1, std::numeric_limits<double>::quiet_NaN());
}

void KnotBins::find(const double* x, Index rows, std::uint16_t* out) const {
  find_bins(x, rows, table_.data(), static_cast<std::uint32_t>(table_.size()), out);
}

}  // namespace mfga
