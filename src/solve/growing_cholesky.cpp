#include "solve/growing_cholesky.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>

namespace mfga {
namespace {

constexpr Index kLeastCapacity = 32;

}  // namespace

bool GrowingCholesky::append(std::span<const double> new_row, double tolerance) {
  if (size_ == capacity_) {
    const Index capacity = std::max(kLeastCapacity, 2 * capacity_);
    std::vector<double> grown(static_cast<std::size_t>(capacity * capacity));
    for (Index i = 0; i < size_; ++i) std::copy_n(row(i), i + 1, grown.data() + i * capacity);
    factor_ = std::move(grown);
    capacity_ = capacity;
  }
  double* last = row(size_);
  const double diagonal = new_row[static_cast<std::size_t>(size_)];
  std::copy_n(new_row.data(), size_, last);
  if (size_ > 0) {
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, static_cast<int>(size_),
                factor_.data(), static_cast<int>(capacity_), last, 1);
  }
  const double pivot = diagonal - cblas_ddot(static_cast<int>(size_), last, 1, last, 1);
  if (!(pivot > tolerance * diagonal)) return false;  // NaN-safe
  last[size_] = std::sqrt(pivot);
  ++size_;
  return true;
}

bool GrowingCholesky::can_append(std::span<const double> new_row, double tolerance) const {
  std::vector<double> last(new_row.begin(), new_row.end() - 1);
  solve_lower(last);
  const double pivot = new_row.back() - cblas_ddot(static_cast<int>(size_), last.data(), 1, last.data(), 1);
  return pivot > tolerance * new_row.back();
}

void GrowingCholesky::solve(std::span<double> b) const {
  solve_lower(b);
  solve_upper(b);
}

void GrowingCholesky::solve_lower(std::span<double> b) const {
  if (size_ == 0) return;
  cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, static_cast<int>(size_), factor_.data(),
              static_cast<int>(capacity_), b.data(), 1);
}

void GrowingCholesky::solve_upper(std::span<double> b) const {
  if (size_ == 0) return;
  cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, static_cast<int>(size_), factor_.data(),
              static_cast<int>(capacity_), b.data(), 1);
}

std::vector<double> GrowingCholesky::lower() const {
  std::vector<double> result(static_cast<std::size_t>(size_ * size_));
  for (Index i = 0; i < size_; ++i) std::copy_n(row(i), i + 1, result.begin() + i * size_);
  return result;
}

void archive(Archive& bytes, GrowingCholesky& factor) {
  std::vector<double> triangle;
  for (Index i = 0; i < factor.size_; ++i)
    triangle.insert(triangle.end(), factor.row(i), factor.row(i) + i + 1);
  bytes(factor.capacity_, factor.size_, triangle);
  if (!bytes.is_loading()) return;
  // No more room than growing makes.
  const Index size = factor.size_;
  const bool is_possible = size >= 0 && size <= std::ssize(triangle) &&
                           size * (size + 1) / 2 == std::ssize(triangle) && factor.capacity_ >= size &&
                           factor.capacity_ <= std::max(kLeastCapacity, 2 * size);
  if (!is_possible) Archive::fail();
  factor.factor_.assign(static_cast<std::size_t>(factor.capacity_ * factor.capacity_), 0.0);
  const double* entry = triangle.data();
  for (Index i = 0; i < factor.size_; entry += ++i) std::copy_n(entry, i + 1, factor.row(i));
}

}  // namespace mfga
