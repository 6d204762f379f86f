// The bins between the knots of an input. Steps and hinges are linear in each of them, so that sums over rows
// follow from a few sums over the rows of each bin.
#pragma once

#include <cstdint>
#include <vector>

#include "mfga/views.hpp"

namespace mfga {

// The same sum for two columns of weights: they are added up together, as one costs what two do.
using Two = double __attribute__((vector_size(16)));

class KnotBins {
 public:
  // Ascending knots, at least one.
  explicit KnotBins(std::vector<double> knots);

  [[nodiscard]] const std::vector<double>& knots() const { return knots_; }
  // One more than there are knots.
  [[nodiscard]] Index count() const { return static_cast<Index>(lower_.size()); }
  // The knot below each bin; of the first bin, which has none, that above.
  [[nodiscard]] const double* lower() const { return lower_.data(); }
  // How far it is from there to the knot above; 0 for the first and the last bin, which have one knot.
  [[nodiscard]] double width(std::size_t bin) const { return width_[bin]; }
  // The bins of some values: how many knots are at most as large.
  void find(const double* x, Index rows, std::uint16_t* out) const;

 private:
  std::vector<double> knots_;
  std::vector<double> lower_;
  std::vector<double> width_;
  std::vector<double> table_;  // to search in
};

// Calls value(2 k, sums) and value(2 k + 1, sums) for each knot k, with the sums over the rows above it and
// over those below of weight and of weight * distance to the knot. Sums of a bin are those of its rows'
// weights and of weight * (x - lower). `Sum` is a number, or several that are treated alike.
//
// From one knot to the next every distance grows by the gap between the two, and the rows of the bin in
// between are added. Both sides in one loop, for each step of one waits for the last one.
template <class Sum, class WeightOf, class DistanceOf, class Value>
[[gnu::always_inline]] inline void for_each_hinge(const KnotBins& bins, const Sum& zero, WeightOf weight_of,
                                                  DistanceOf distance_of, Value value) {
  const std::vector<double>& knots = bins.knots();
  const std::size_t count = knots.size();
  Sum above_weight = zero;
  Sum above_distance = zero;
  Sum below_weight = zero;
  Sum below_distance = zero;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t from_top = count - 1 - k;
    if (k > 0) {
      above_distance += (knots[from_top + 1] - knots[from_top]) * above_weight;
      below_distance += (knots[k] - knots[k - 1]) * below_weight;
    }
    above_weight += weight_of(from_top + 1);
    above_distance += distance_of(from_top + 1);
    below_weight += weight_of(k);
    below_distance += bins.width(k) * weight_of(k) - distance_of(k);
    value(2 * from_top, above_distance);
    value(2 * k + 1, below_distance);
  }
}

}  // namespace mfga
