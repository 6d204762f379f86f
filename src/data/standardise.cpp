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

[[noreturn]] void throw_not_finite(ConstMatrixView x) {
  for (Index i = 0; i < x.rows; ++i) {
    for (Index j = 0; j < x.cols; ++j) {
      if (!std::isfinite(x(i, j))) {
        throw Error(
            ErrorKind::kBadData,
            fmt::format("x has the value {} in row {}, column {}; every value must be a finite number",
                        x(i, j), i, j));
      }
    }
  }
  throw Error(ErrorKind::kBadData, "x has a value that is not a finite number");
}

// sums[j] += x_j - shift_j and squares[j] += the square of that, for one row.
MFGA_VECTORISED void add_row(const double* row, Index col_stride, const double* shift, Index cols,
                             double* sums, double* squares) {
  if (col_stride == 1) {  // known to the compiler, the loop uses vectors
    for (Index j = 0; j < cols; ++j) {
      const double value = row[j] - shift[j];
      sums[j] += value;
      squares[j] += value * value;
    }
    return;
  }
  for (Index j = 0; j < cols; ++j) {
    const double value = row[j * col_stride] - shift[j];
    sums[j] += value;
    squares[j] += value * value;
  }
}

// The sums of each column and of its squares, [2 x columns]. They are taken of differences to the first row,
// so that a large mean costs no digits, and in blocks of rows, so that the order of the additions does not
// depend on the threads.
std::vector<double> shifted_sums(ConstMatrixView x, Workers& workers) {
  const auto size = static_cast<std::size_t>(2 * x.cols);
  std::vector<double> shift(static_cast<std::size_t>(x.cols));
  for (Index j = 0; j < x.cols; ++j) shift[static_cast<std::size_t>(j)] = x(0, j);
  const Index n_blocks = (x.rows + kBlockRows - 1) / kBlockRows;
  const Index shards = shard_count(n_blocks, 2 * x.cols);
  std::vector<std::vector<double>> partials(static_cast<std::size_t>(shards));
  workers.pool.run(shards, [&](Index shard) {
    std::vector<double>& total = partials[static_cast<std::size_t>(shard)];
    total.assign(size, 0.0);
    std::vector<double> of_block(size);
    for (Index block = shard * n_blocks / shards; block < (shard + 1) * n_blocks / shards; ++block) {
      std::ranges::fill(of_block, 0.0);
      for (Index i = block * kBlockRows; i < std::min(x.rows, (block + 1) * kBlockRows); ++i) {
        add_row(x.data + i * x.row_stride, x.col_stride, shift.data(), x.cols, of_block.data(),
                of_block.data() + x.cols);
      }
      for (std::size_t j = 0; j < size; ++j) total[j] += of_block[j];
    }
  });
  std::vector<double> sums(size);
  for (const std::vector<double>& partial : partials) {
    for (std::size_t j = 0; j < size; ++j) sums[j] += partial[j];
  }
  return sums;
}

struct Moments {
  double mean = 0;
  double shift = 0;  // of the mean from the first row
  double deviation = 0;
};

// The largest difference of each of these columns to its first row, in one pass over the rows.
std::vector<double> largest_differences(ConstMatrixView x, const std::vector<Index>& columns) {
  std::vector<double> largest(columns.size());
  for (Index i = 0; i < x.rows; ++i) {
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const double value = x(i, columns[k]);
      if (!std::isfinite(value)) throw_not_finite(x);
      largest[k] = std::max(largest[k], std::abs(value - x(0, columns[k])));
    }
  }
  return largest;
}

// Of a column whose squares leave the range of double: in units of its largest difference, as a power of two
// so that nothing is rounded.
Moments scaled_moments(ConstMatrixView x, Index column, double largest) {
  if (largest == 0) return {x(0, column), 0, 0};
  int exponent = 0;
  static_cast<void>(std::frexp(largest, &exponent));
  double sum = 0;
  double squares = 0;
  for (Index i = 0; i < x.rows; ++i) {
    const double value = std::ldexp(x(i, column) - x(0, column), -exponent);
    sum += value;
    squares += value * value;
  }
  const double count = static_cast<double>(x.rows);
  const double variance = squares / count - (sum / count) * (sum / count);
  const double shift = std::ldexp(sum / count, exponent);
  return {x(0, column) + shift, shift, std::ldexp(std::sqrt(std::max(variance, 0.0)), exponent)};
}

}  // namespace

Standardisation fit_standardisation(ConstMatrixView x, Workers& workers, std::span<const std::string> names) {
  constexpr double kSmallestSquares = 1e-280;  // below, they have lost digits
  Standardisation result;
  if (x.rows == 0) return result;
  const std::vector<double> sums = shifted_sums(x, workers);
  const double count = static_cast<double>(x.rows);
  std::vector<Moments> moments;
  std::vector<Index> out_of_range;
  for (Index j = 0; j < x.cols; ++j) {
    const double shift = sums[static_cast<std::size_t>(j)] / count;
    const double squares = sums[static_cast<std::size_t>(x.cols + j)] / count;
    const double variance = squares - shift * shift;
    moments.push_back({x(0, j) + shift, shift, std::sqrt(std::max(variance, 0.0))});
    if (!std::isfinite(variance) || squares < kSmallestSquares) out_of_range.push_back(j);
  }
  const std::vector<double> largest = largest_differences(x, out_of_range);
  for (std::size_t k = 0; k < out_of_range.size(); ++k) {
    const auto column = static_cast<std::size_t>(out_of_range[k]);
    // Differences to the mean are taken later on, and must not overflow either.
    if (!(largest[k] < std::numeric_limits<double>::max() / 4)) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("the values of column {} differ by more than {:.2g}, too much to be standardised; "
                      "divide the column by a constant",
                      column < names.size() ? fmt::format("\"{}\"", names[column]) : std::to_string(column),
                      std::numeric_limits<double>::max() / 4));
    }
    moments[column] = scaled_moments(x, out_of_range[k], largest[k]);
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
