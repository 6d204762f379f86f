#include "data/standardise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/vectorise.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

// A column whose deviation is below this fraction of its largest value is constant but for rounding.
constexpr double kConstantTolerance = 1e-13;

void refuse_not_finite(const TableView& x) {
  for (Index i = 0; i < x.rows; ++i) {
    for (Index j = 0; j < x.cols; ++j) {
      if (std::isfinite(x(i, j))) continue;
      throw Error(ErrorKind::kBadData,
                  fmt::format("x has the value {} in row {}, column {}; every value must be a finite number",
                              x(i, j), i, j));
    }
  }
}

// sum += w (x_n - shift) and square += w (x_n - shift)^2
MFGA_VECTORISED void add_moments(const double* x, const double* weights, double shift, Index rows,
                                 double& sum, double& square) {
  double own_sum = 0;
  double own_square = 0;
  if (weights == nullptr) {
    for (Index n = 0; n < rows; ++n) {
      const double value = x[n] - shift;
      own_sum += value;
      own_square += value * value;
    }
  } else {
    for (Index n = 0; n < rows; ++n) {
      const double value = x[n] - shift;
      own_sum += weights[n] * value;
      own_square += weights[n] * value * value;
    }
  }
  sum += own_sum;
  square += own_square;
}

// The sums of each column and of its squares, [2 x columns]. They are taken of differences to the first row,
// so that a large mean costs no digits.
std::vector<double> shifted_sums(const BlockedRows& rows, std::span<const double> shift, Workers& workers) {
  std::vector<double> sums(2 * shift.size());
  sum_over_blocks(rows, workers, sums, [&](const RowBlock& block, Arena& /*arena*/, double* out) {
    for (Index j = 0; j < block.inputs; ++j) {
      add_moments(block.input(j), block.weights, shift[static_cast<std::size_t>(j)], block.rows, out[j],
                  out[block.inputs + j]);
    }
  });
  return sums;
}

struct Moments {
  double mean = 0;
  double shift = 0;  // of the mean from the first row
  double deviation = 0;
};

// The largest difference of each column to its first row; infinite where a number is not finite.
std::vector<double> largest_differences(const BlockedRows& rows, std::span<const double> shift,
                                        Workers& workers) {
  std::vector<double> largest(shift.size());
  const auto size = shift.size();
  reduce_over_blocks(
      rows, workers, largest, 0,
      [&](const RowBlock& block, Arena& /*arena*/, double* out) {
        for (Index j = 0; j < block.inputs; ++j) {
          for (Index n = 0; n < block.rows; ++n) {
            const double difference = std::abs(block.input(j)[n] - shift[static_cast<std::size_t>(j)]);
            out[j] = std::isfinite(block.input(j)[n]) ? std::max(out[j], difference)
                                                      : std::numeric_limits<double>::infinity();
          }
        }
      },
      [size](double* out, const double* partial) {
        for (std::size_t j = 0; j < size; ++j) out[j] = std::max(out[j], partial[j]);
      });
  return largest;
}

// Of columns whose squares leave the range of double: in units of their largest differences, as powers of two
// so that nothing is rounded.
std::vector<Moments> scaled_moments(const BlockedRows& rows, std::span<const double> shift,
                                    std::span<const double> largest, Workers& workers) {
  std::vector<int> exponents;
  for (const double difference : largest)
    static_cast<void>(std::frexp(difference, &exponents.emplace_back()));
  std::vector<double> sums(2 * shift.size());
  sum_over_blocks(rows, workers, sums, [&](const RowBlock& block, Arena& arena, double* out) {
    double* scaled = arena.take(block.rows);
    for (Index j = 0; j < block.inputs; ++j) {
      const auto column = static_cast<std::size_t>(j);
      for (Index n = 0; n < block.rows; ++n)
        scaled[n] = std::ldexp(block.input(j)[n] - shift[column], -exponents[column]);
      add_moments(scaled, block.weights, 0, block.rows, out[j], out[block.inputs + j]);
    }
  });
  std::vector<Moments> result;
  for (std::size_t j = 0; j < shift.size(); ++j) {
    const double mean = sums[j] / rows.total_weight();
    const double variance = sums[shift.size() + j] / rows.total_weight() - mean * mean;
    const double moved = std::ldexp(mean, exponents[j]);
    result.push_back(largest[j] == 0 ? Moments{shift[j], 0, 0}
                                     : Moments{shift[j] + moved, moved,
                                               std::ldexp(std::sqrt(std::max(variance, 0.0)), exponents[j])});
  }
  return result;
}

}  // namespace

Standardisation fit_standardisation(const TableView& x, Workers& workers, std::span<const std::string> names,
                                    std::span<const double> weights) {
  constexpr double kSmallestSquares = 1e-280;  // below, they have lost digits
  Standardisation result;
  if (x.rows == 0) return result;
  const BlockedRows rows =
      BlockedRows::unscaled(x).weighted(std::vector<double>(weights.begin(), weights.end()));
  std::vector<double> first_row;
  const auto counted = std::ranges::find_if(weights, [](double weight) { return weight > 0; });
  const Index first = counted == weights.end() ? 0 : counted - weights.begin();
  for (Index j = 0; j < x.cols; ++j) first_row.push_back(x(first, j));
  const std::vector<double> sums = shifted_sums(rows, first_row, workers);
  std::vector<Moments> moments;
  std::vector<std::size_t> out_of_range;
  for (std::size_t j = 0; j < first_row.size(); ++j) {
    const double shift = sums[j] / rows.total_weight();
    const double squares = sums[first_row.size() + j] / rows.total_weight();
    const double variance = squares - shift * shift;
    moments.push_back({first_row[j] + shift, shift, std::sqrt(std::max(variance, 0.0))});
    if (!std::isfinite(variance) || squares < kSmallestSquares) out_of_range.push_back(j);
  }
  if (!out_of_range.empty()) {
    const std::vector<double> largest = largest_differences(rows, first_row, workers);
    // Differences to the mean are taken later on, and must not overflow either.
    constexpr double kLargest = std::numeric_limits<double>::max() / 4;
    for (const std::size_t column : out_of_range) {
      if (largest[column] < kLargest) continue;
      refuse_not_finite(x);
      throw Error(
          ErrorKind::kBadData,
          fmt::format("the values of column {} differ by more than {:.2g}, too much to be standardised; "
                      "divide the column by a constant",
                      column < names.size() ? fmt::format("\"{}\"", names[column]) : std::to_string(column),
                      kLargest));
    }
    const std::vector<Moments> scaled = scaled_moments(rows, first_row, largest, workers);
    for (const std::size_t column : out_of_range) moments[column] = scaled[column];
  }
  for (Index j = 0; j < x.cols; ++j) {
    const auto [mean, shift, deviation] = moments[static_cast<std::size_t>(j)];
    // The smallest deviation is the one that has an inverse.
    const bool varies = deviation >= std::numeric_limits<double>::min() &&
                        deviation > kConstantTolerance * std::abs(mean) && deviation > 1e-7 * std::abs(shift);
    if (varies) {
      result.inputs.push_back({j, mean, deviation});
    } else {
      result.constant_columns.push_back(j);
    }
  }
  return result;
}

}  // namespace mfga
