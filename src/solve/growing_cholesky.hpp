// The Cholesky factor L of a symmetric matrix that grows by one row and column at a time: G = L L^T.
#pragma once

#include <span>
#include <vector>

#include "core/archive.hpp"
#include "mfga/views.hpp"

namespace mfga {

class GrowingCholesky {
 public:
  [[nodiscard]] Index size() const { return size_; }

  // Appends a row of G: its entries against the rows so far, then its diagonal entry. Returns false, and
  // changes nothing, if the new pivot is not above `tolerance` times the diagonal entry, that is if the new
  // column depends on the others. Cost: size^2.
  [[nodiscard]] bool append(std::span<const double> row, double tolerance);
  // Whether that would return true.
  [[nodiscard]] bool can_append(std::span<const double> row, double tolerance) const;
  // Solves G x = b in place. Cost: 2 size^2.
  void solve(std::span<double> b) const;
  // Solves L x = b in place, or L^T x = b.
  void solve_lower(std::span<double> b) const;
  void solve_upper(std::span<double> b) const;
  // L, row by row, [size x size].
  [[nodiscard]] std::vector<double> lower() const;
  friend void archive(Archive& bytes, GrowingCholesky& factor);

 private:
  [[nodiscard]] double* row(Index i) { return factor_.data() + i * capacity_; }
  [[nodiscard]] const double* row(Index i) const { return factor_.data() + i * capacity_; }

  std::vector<double> factor_;  // [capacity x capacity], lower triangle
  Index capacity_ = 0;
  Index size_ = 0;
};

}  // namespace mfga
