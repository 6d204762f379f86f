#include "solve/exact_gram.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>

namespace mfga {
namespace {

constexpr int kFractionBits = 64;
constexpr int kLargestBits = 126;  // the sum of two of these does not overflow

constexpr Int128 kLargest = Int128{1} << kLargestBits;

bool is_small(Int128 value) { return value < kLargest && value > -kLargest; }

// Of a number of less than kLargestBits bits.
Int128 whole_number(double value) {
  const double size = std::nearbyint(std::abs(value));
  const double high = std::floor(size * 0x1p-64);
  const double low = size - high * 0x1p64;  // exact
  const Int128 whole = (static_cast<Int128>(static_cast<std::int64_t>(high)) << 64) +
                       static_cast<Int128>(static_cast<std::uint64_t>(low));
  return value < 0 ? -whole : whole;
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

bool ExactGram::can_add(const GramSums& sums, const Workers& workers) const {
  const double largest = std::ldexp(1, kLargestBits);
  const std::vector<double> columns = column_factors();
  std::atomic<bool> can = true;
  workers.run(size(), [&](Index i) {
    const double row = row_factor(i);
    for (Index j = i; j < size(); ++j) {
      const double units = entry_of(sums, i, j) * row * columns[static_cast<std::size_t>(j)];
      const Int128 own = entries_[static_cast<std::size_t>(row_offset(i) + j)];
      if (!(std::abs(units) < largest) || !is_small(own + whole_number(units))) can = false;
    }
  });
  return can;
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
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    if (!is_small(entries_[k] + other.entries_[k])) return false;
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
    if (entries_[static_cast<std::size_t>(row_offset(i) + i)] < 0) return false;
  }
  return std::ranges::all_of(entries_, is_small);
}

}  // namespace mfga
