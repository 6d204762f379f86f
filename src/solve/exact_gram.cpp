#include "solve/exact_gram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace mfga {
namespace {

constexpr int kFractionBits = 64;
// Of a square. The sum of two of these does not overflow, and no other product is larger than the larger of
// the squares of its factors, but for rounding.
constexpr int kLargestBits = 125;

constexpr Int128 kLargest = Int128{1} << kLargestBits;

bool is_small(Int128 value) { return value < kLargest && value > -kLargest; }

// Of a number of at most kLargestBits bits.
Int128 whole_number(double value) {
  constexpr double kSmall = 0x1p62;
  if (std::abs(value) < kSmall) return std::llrint(value);
  // It is whole: 53 bits, and how far they are shifted.
  constexpr int kMantissaBits = 52;
  constexpr std::uint64_t kHiddenBit = std::uint64_t{1} << kMantissaBits;
  constexpr int kBias = 1023 + kMantissaBits;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int shift = static_cast<int>(bits >> kMantissaBits & 0x7ffU) - kBias;
  const Int128 size = static_cast<Int128>((bits & (kHiddenBit - 1)) | kHiddenBit) << shift;
  return value < 0 ? -size : size;
}

double& entry_of(GramSums& sums, Index i, Index j) {
  if (i == 0)
    return j == 0 ? sums.rows : j == 1 ? sums.target_sum : sums.sums[static_cast<std::size_t>(j - 2)];
  if (i == 1) return j == 1 ? sums.target_square : sums.target_products[static_cast<std::size_t>(j - 2)];
  return sums.gram(i - 2, j - 2);
}
double entry_of(const GramSums& sums, Index i, Index j) {
  return entry_of(const_cast<GramSums&>(sums), i, j);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

}  // namespace

ExactGram::ExactGram(std::shared_ptr<const GramUnits> units) : units_(std::move(units)) {
  entries_.resize(static_cast<std::size_t>(size() * (size() + 1) / 2));
}

ExactGram::ExactGram(std::shared_ptr<const GramUnits> units, std::vector<Int128> entries)
    : units_(std::move(units)), entries_(std::move(entries)) {}

// What row i is multiplied by, before its columns are.
double ExactGram::row_factor(Index i) const {
  return std::ldexp(1, kFractionBits - units_->weight - units_->sizes[static_cast<std::size_t>(i)]);
}
std::vector<double> ExactGram::column_factors() const {
  std::vector<double> factors;
  for (const int size : units_->sizes) factors.push_back(std::ldexp(1, -size));
  return factors;
}

bool ExactGram::can_add(const GramSums& sums) const {
  const double largest = std::ldexp(1, kLargestBits);
  const std::vector<double> columns = column_factors();
  for (Index i = 0; i < size(); ++i) {
    const double units = entry_of(sums, i, i) * row_factor(i) * columns[static_cast<std::size_t>(i)];
    if (!(units < largest) || !is_small(square(i) + whole_number(units))) return false;
  }
  return true;
}

void ExactGram::add(const GramSums& sums) {
  const std::vector<double> columns = column_factors();
  for (Index i = 0; i < size(); ++i) {
    const double row = row_factor(i);
    for (Index j = i; j < size(); ++j) {
      entries_[static_cast<std::size_t>(row_offset(i) + j)] +=
          whole_number(entry_of(sums, i, j) * row * columns[static_cast<std::size_t>(j)]);
    }
  }
}

bool ExactGram::can_add(const ExactGram& other) const {
  for (Index i = 0; i < size(); ++i) {
    if (!is_small(square(i) + other.square(i))) return false;
  }
  return true;
}

void ExactGram::add(const ExactGram& other) {
  for (std::size_t k = 0; k < entries_.size(); ++k) entries_[k] += other.entries_[k];
}

std::shared_ptr<GramSums> ExactGram::rounded(const Workers& workers) const {
  const Index candidates = size() - 2;
  auto sums = std::make_shared<GramSums>();
  sums->gram = Matrix::uninitialised(candidates, candidates);
  sums->sums.resize(static_cast<std::size_t>(candidates));
  sums->target_products.resize(static_cast<std::size_t>(candidates));
  const std::vector<double> columns = column_factors();
  workers.run(size(), [&](Index i) {
    const double row = row_factor(i);
    for (Index j = i; j < size(); ++j) {
      const auto units = static_cast<double>(entries_[static_cast<std::size_t>(row_offset(i) + j)]);
      const double value = units / row / columns[static_cast<std::size_t>(j)];
      entry_of(*sums, i, j) = value;
      if (i >= 2) sums->gram(j - 2, i - 2) = value;
    }
  });
  return sums;
}

bool ExactGram::is_possible() const {
  for (Index i = 0; i < size(); ++i) {
    if (square(i) < 0 || !is_small(square(i))) return false;
  }
  for (Index i = 0; i < size(); ++i) {
    for (Index j = i + 1; j < size(); ++j) {
      const Int128 larger = std::max(square(i), square(j));
      const Int128 most = larger + (larger >> 20) + (Int128{1} << 62);  // with what rounding may add
      const Int128 entry = entries_[static_cast<std::size_t>(row_offset(i) + j)];
      if (entry > most || entry < -most) return false;
    }
  }
  return true;
}

}  // namespace mfga
