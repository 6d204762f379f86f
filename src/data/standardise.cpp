#include "data/standardise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ranked_rows.hpp"
#include "core/vectorise.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

// A column whose deviation is below this fraction of its largest value is constant but for rounding.
constexpr double kConstantTolerance = 1e-13;

// The numbers of a row, which may be one of another rank.
std::vector<double> numbers_of_row(const TableView& x, Index row) {
  std::vector<double> numbers(static_cast<std::size_t>(x.cols));
  read_rows(x, {&row, 1}, 1, numbers.data());
  return numbers;
}

void refuse_not_finite(const TableView& x, const BlockedRows& rows, Workers& workers) {
  auto first = static_cast<double>(x.rows);  // of the rows with such a value
  reduce_over_blocks(
      rows, workers, {&first, 1}, first,
      [](const RowBlock& block, Arena& /*arena*/, double* out) {
        for (Index j = 0; j < block.inputs; ++j) {
          for (Index n = 0; n < block.rows; ++n) {
            if (std::isinf(block.input(j)[n]))
              *out = std::min(*out, static_cast<double>(block.first_row + n));
          }
        }
      },
      [](double* out, const double* partial) { *out = std::min(*out, *partial); });
  const auto i = static_cast<Index>(first);
  if (i == x.rows) return;
  const std::vector<double> row = numbers_of_row(x, i);
  const auto infinite = std::ranges::find_if(row, [](double value) { return std::isinf(value); });
  throw Error(ErrorKind::kBadData,
              fmt::format("x has the value {} in row {}, column {}; every value must be a finite number, or "
                          "NaN where it is missing",
                          *infinite, i, infinite - row.begin()));
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

// The same of those that are not missing; and how much they weigh, and how many rows lack a value.
struct PresentSums {
  double sum = 0;
  double square = 0;
  double weight = 0;
  double missing = 0;
};
constexpr std::size_t kPresentSums = 4;

void add_present(const double* x, const double* weights, double shift, Index rows, double* sums) {
  for (Index n = 0; n < rows; ++n) {
    const double weight = weights == nullptr ? 1 : weights[n];
    if (weight == 0) continue;
    if (std::isnan(x[n])) {
      sums[3] += 1;
      continue;
    }
    const double value = x[n] - shift;
    sums[0] += weight * value;
    sums[1] += weight * value * value;
    sums[2] += weight;
  }
}

std::vector<PresentSums> present_sums(const BlockedRows& rows, std::span<const double> shift,
                                      std::span<const std::size_t> columns, Workers& workers) {
  std::vector<double> sums(kPresentSums * columns.size());
  sum_over_blocks(rows, workers, sums, [&](const RowBlock& block, Arena& /*arena*/, double* out) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      add_present(block.input(static_cast<Index>(columns[i])), block.weights, shift[columns[i]], block.rows,
                  out + kPresentSums * i);
    }
  });
  std::vector<PresentSums> result;
  for (std::size_t i = 0; i < sums.size(); i += kPresentSums)
    result.push_back({sums[i], sums[i + 1], sums[i + 2], sums[i + 3]});
  return result;
}

// The first finite values of some columns; 0 where there is none.
std::vector<double> first_finite(const TableView& x, const BlockedRows& rows,
                                 std::span<const std::size_t> columns, Workers& workers) {
  const auto none = static_cast<double>(x.rows);
  std::vector<double> first(columns.size());  // rows
  reduce_over_blocks(
      rows, workers, first, none,
      [&](const RowBlock& block, Arena& /*arena*/, double* out) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
          const double* const values = block.input(static_cast<Index>(columns[i]));
          for (Index n = 0; n < block.rows && out[i] == none; ++n) {
            const bool counts = block.weights == nullptr || block.weights[n] > 0;
            if (counts && std::isfinite(values[n])) out[i] = static_cast<double>(block.first_row + n);
          }
        }
      },
      [&](double* out, const double* partial) {
        for (std::size_t i = 0; i < columns.size(); ++i) out[i] = std::min(out[i], partial[i]);
      });
  std::vector<double> result;
  for (std::size_t i = 0; i < columns.size(); ++i)
    result.push_back(first[i] == none ? 0 : numbers_of_row(x, static_cast<Index>(first[i]))[columns[i]]);
  return result;
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

// The largest difference of each column to its first row; infinite where a number is.
std::vector<double> largest_differences(const BlockedRows& rows, std::span<const double> shift,
                                        Workers& workers) {
  std::vector<double> largest(shift.size());
  const auto size = shift.size();
  reduce_over_blocks(
      rows, workers, largest, 0,
      [&](const RowBlock& block, Arena& /*arena*/, double* out) {
        for (Index j = 0; j < block.inputs; ++j) {
          for (Index n = 0; n < block.rows; ++n) {
            // Of a missing value NaN, which is no larger.
            out[j] = std::max(out[j], std::abs(block.input(j)[n] - shift[static_cast<std::size_t>(j)]));
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
                                    std::span<const double> total_weights, std::span<const double> largest,
                                    Workers& workers) {
  std::vector<int> exponents;
  for (const double difference : largest)
    static_cast<void>(std::frexp(difference, &exponents.emplace_back()));
  std::vector<double> sums(2 * shift.size());
  sum_over_blocks(rows, workers, sums, [&](const RowBlock& block, Arena& arena, double* out) {
    double* scaled = arena.take(block.rows);
    for (Index j = 0; j < block.inputs; ++j) {
      const auto column = static_cast<std::size_t>(j);
      for (Index n = 0; n < block.rows; ++n)
        scaled[n] = std::isnan(block.input(j)[n])
                        ? 0
                        : std::ldexp(block.input(j)[n] - shift[column], -exponents[column]);
      add_moments(scaled, block.weights, 0, block.rows, out[j], out[block.inputs + j]);
    }
  });
  std::vector<Moments> result;
  for (std::size_t j = 0; j < shift.size(); ++j) {
    const double mean = sums[j] / total_weights[j];
    const double variance = sums[shift.size() + j] / total_weights[j] - mean * mean;
    const double moved = std::ldexp(mean, exponents[j]);
    result.push_back(largest[j] == 0 ? Moments{shift[j], 0, 0}
                                     : Moments{shift[j] + moved, moved,
                                               std::ldexp(std::sqrt(std::max(variance, 0.0)), exponents[j])});
  }
  return result;
}

// Adds an input that tells where the column is missing, if `missing` of the rows are enough to learn from;
// `share` is what they weigh.
void add_missing_mark(Index column, Index missing, Index rows, double share,
                      std::vector<InputColumn>& inputs) {
  constexpr Index kFewest = 10;
  constexpr Index kRowsForOne = 100;
  if (missing < kFewest || rows - missing < kFewest || missing * kRowsForOne < rows) return;
  const double deviation = std::sqrt(share * (1 - share));
  if (!std::isnormal(deviation)) return;  // they, or all others, weigh next to nothing
  inputs.push_back({column, share, deviation});
  inputs.back().is_missing = true;
}

}  // namespace

Standardisation fit_standardisation(const TableView& x, Workers& workers, std::span<const std::string> names,
                                    std::span<const double> weights) {
  constexpr double kSmallestSquares = 1e-280;  // below, they have lost digits
  Standardisation result;
  if (x.rows == 0) return result;
  const BlockedRows rows =
      BlockedRows::unscaled(x).weighted(std::vector<double>(weights.begin(), weights.end()));
  const auto counted = std::ranges::find_if(weights, [](double weight) { return weight > 0; });
  const Index first = counted == weights.end() ? 0 : counted - weights.begin();
  std::vector<double> first_row = numbers_of_row(x, first);
  std::vector<double> sums = shifted_sums(rows, first_row, workers);
  std::vector<double> total_weights(first_row.size(), rows.total_weight());
  result.missing.resize(first_row.size());
  std::vector<std::size_t> unclear;  // some values are missing, or infinite
  for (std::size_t j = 0; j < first_row.size(); ++j) {
    if (std::isnan(sums[j])) unclear.push_back(j);
  }
  if (!unclear.empty()) {  // else two passes over all rows for nothing
    const std::vector<double> found = first_finite(x, rows, unclear, workers);
    for (std::size_t i = 0; i < unclear.size(); ++i) first_row[unclear[i]] = found[i];
    const std::vector<PresentSums> present = present_sums(rows, first_row, unclear, workers);
    for (std::size_t i = 0; i < unclear.size(); ++i) {
      const std::size_t j = unclear[i];
      sums[j] = present[i].sum;
      sums[first_row.size() + j] = present[i].square;
      total_weights[j] = std::max(present[i].weight, std::numeric_limits<double>::min());
      result.missing[j] = static_cast<Index>(present[i].missing);
    }
  }
  std::vector<Moments> moments;
  std::vector<std::size_t> out_of_range;
  for (std::size_t j = 0; j < first_row.size(); ++j) {
    const double shift = sums[j] / total_weights[j];
    const double squares = sums[first_row.size() + j] / total_weights[j];
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
      refuse_not_finite(x, rows, workers);
      throw Error(
          ErrorKind::kBadData,
          fmt::format("the values of column {} differ by more than {:.2g}, too much to be standardised; "
                      "divide the column by a constant",
                      column < names.size() ? fmt::format("\"{}\"", names[column]) : std::to_string(column),
                      kLargest));
    }
    const std::vector<Moments> scaled = scaled_moments(rows, first_row, total_weights, largest, workers);
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
    add_missing_mark(j, result.missing[static_cast<std::size_t>(j)],
                     x.rows - std::ranges::count(weights, 0.0),
                     1 - total_weights[static_cast<std::size_t>(j)] / rows.total_weight(), result.inputs);
  }
  return result;
}

}  // namespace mfga
