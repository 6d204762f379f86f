// An axis of a chart: from values to positions, and round numbers to mark.
#pragma once

#include <string>
#include <vector>

namespace mfga::charts {

class Axis {
 public:
  // Covers the values from lowest to highest. Logarithmic only if lowest is positive.
  static Axis linear(double lowest, double highest, bool from_zero);
  // From lowest to highest and no farther, with the round numbers in between.
  static Axis exact(double lowest, double highest);
  static Axis logarithmic(double lowest, double highest);

  void place(double from, double to) {
    from_ = from;
    to_ = to;
  }
  // Values beyond the ends are put on them.
  [[nodiscard]] double position(double value) const;
  [[nodiscard]] const std::vector<double>& ticks() const { return ticks_; }
  [[nodiscard]] bool is_logarithmic() const { return logarithmic_; }

 private:
  double low_ = 0, high_ = 1;
  double from_ = 0, to_ = 1;
  bool logarithmic_ = false;
  std::vector<double> ticks_;
};

std::string tick_text(double value);

// Moves positions as little as possible (least squares) so that neighbours are at least `distance` apart and
// all lie between lowest and highest; if there is no room for that, the distance is what there is room for.
std::vector<double> spread(const std::vector<double>& wanted, double distance, double lowest, double highest);

}  // namespace mfga::charts
