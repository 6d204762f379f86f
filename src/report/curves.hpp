// How good predictions are, as curves and tables to be drawn.
#pragma once

#include <span>
#include <vector>

#include "charts/frame.hpp"
#include "charts/plots.hpp"
#include "mfga/views.hpp"

namespace mfga::report {

// Rows with a number that says how likely it is that they are of the class, and whether they are.
struct Ranked {
  std::span<const double> likely;
  const std::vector<bool>& is_of_class;
  std::span<const double> weights;  // empty: 1
};
// Few enough points to be drawn; none where there is one class only.
struct RankCurves {
  std::vector<charts::Point> roc;        // part of the others above a limit, part of the class above it
  std::vector<charts::Point> precision;  // recall, precision
};
[[nodiscard]] RankCurves rank_curves(const Ranked& rows);

// Rows in bins of about as many, by their probability.
struct CalibrationBin {
  double predicted = 0;  // mean probability
  double observed = 0;   // part that is of the class
  double standard_error = 0;
  Index rows = 0;
};
[[nodiscard]] std::vector<CalibrationBin> calibration(const Ranked& rows);

// Rows count as often as their weights say; no weights: 1.

// Values in bins of the same width between the quantiles `tail` and 1 - tail.
[[nodiscard]] std::vector<charts::Bin> binned(std::span<const double> values, std::span<const double> weights,
                                              std::size_t bins, double tail);

// Rows in bins of about as many by the prediction, with the means of what is predicted and observed, and of
// the residuals the median and the range of eight tenths.
struct ResidualBin {
  double predicted = 0, observed = 0;
  double median = 0, low = 0, high = 0;
  Index rows = 0;
};
[[nodiscard]] std::vector<ResidualBin> residual_bins(std::span<const double> predictions,
                                                     std::span<const double> targets,
                                                     std::span<const double> weights);

[[nodiscard]] double quantile_of(std::span<const double> values, std::span<const double> weights,
                                 double part);

}  // namespace mfga::report
