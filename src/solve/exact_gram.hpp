// GramSums as whole numbers, whose sums are exact: they come out the same to the last bit in whatever order
// and grouping they are added.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/workers.hpp"
#include "solve/gram_sums.hpp"

namespace mfga {

__extension__ using Int128 = __int128;

// Beyond this, units would not be doubles any more where several are multiplied.
inline constexpr int kLargestUnit = 300;

// How large numbers are, roughly, as powers of two.
struct GramUnits {
  int weight = 0;          // of a row
  std::vector<int> sizes;  // of 1, the target and the candidates

  friend bool operator==(const GramUnits&, const GramUnits&) = default;
};

// With phi_0 = 1, phi_1 the target and phi_2, ... the candidates: the sums over rows of w phi_i phi_j, i <=
// j. Each is counted in units of 2^-64 of what a row of the usual size adds to it, so that 2^61 such rows fit
// in; what is added is rounded to whole units.
class ExactGram {
 public:
  explicit ExactGram(std::shared_ptr<const GramUnits> units);
  // From entries as `entries` gives them.
  ExactGram(std::shared_ptr<const GramUnits> units, std::vector<Int128> entries);
  [[nodiscard]] static double count(double candidates) { return 0.5 * (candidates + 2) * (candidates + 3); }

  // Whether the sums would not overflow, and are finite.
  [[nodiscard]] bool can_add(const GramSums& sums) const;
  void add(const GramSums& sums);
  [[nodiscard]] bool can_add(const ExactGram& other) const;
  void add(const ExactGram& other);

  [[nodiscard]] bool has_rows() const { return entries_.front() > 0; }
  // In double precision.
  [[nodiscard]] std::shared_ptr<GramSums> rounded(const Workers& workers) const;
  // Row by row from the diagonal on.
  [[nodiscard]] std::span<const Int128> entries() const { return entries_; }
  // Whether these can be sums: no square is negative or near an overflow, and no product is larger than the
  // squares allow.
  [[nodiscard]] bool is_possible() const;

 private:
  [[nodiscard]] Index size() const { return std::ssize(units_->sizes); }
  // Where the row stands, less the position of its first entry.
  [[nodiscard]] Index row_offset(Index i) const { return i * (size() - 1) - i * (i - 1) / 2; }
  [[nodiscard]] Int128 square(Index i) const { return entries_[static_cast<std::size_t>(row_offset(i) + i)]; }
  // Units are powers of two: these multiply without rounding.
  [[nodiscard]] double row_factor(Index i) const;
  [[nodiscard]] std::vector<double> column_factors() const;

  std::shared_ptr<const GramUnits> units_;
  std::vector<Int128> entries_;
};

}  // namespace mfga
