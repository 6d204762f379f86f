// A warp made ready for the values of a block.
#pragma once

#include <vector>

#include "mfga/views.hpp"
#include "mfga/warp.hpp"

namespace mfga {

class WarpedInput {
 public:
  WarpedInput(Index position, const Warp& warp, double stretch);

  [[nodiscard]] Index position() const { return position_; }
  // Multiplies what comes out.
  void stretch_by(double factor) { stretch_ *= factor; }
  // Warps standardised values in place. An infinite one becomes NaN, so that it shows; a missing one, which
  // is NaN, becomes 0, the middle of the scale.
  void apply(double* values, Index count) const {
    warp(values, count);
    stretch(values, count);
  }
  // The same in two steps.
  void warp(double* values, Index count) const;
  void stretch(double* values, Index count) const;

 private:
  Index position_;
  double lowest_;
  double highest_;
  std::vector<double> knots_;   // filled up with infinity to a power of two; empty: values are only cut
  std::vector<double> values_;  // at the knots
  std::vector<double> slopes_;  // from each knot to the next
  double stretch_;              // of what comes out
};

}  // namespace mfga
