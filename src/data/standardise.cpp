#include "data/standardise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
  throw Error(ErrorKind::kBadData, "the values of x are too large to be standardised");
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

}  // namespace

Standardisation fit_standardisation(ConstMatrixView x, Workers& workers) {
  Standardisation result;
  if (x.rows == 0) return result;
  const std::vector<double> sums = shifted_sums(x, workers);
  const double count = static_cast<double>(x.rows);
  for (Index j = 0; j < x.cols; ++j) {
    const double shift = sums[static_cast<std::size_t>(j)] / count;
    const double variance = sums[static_cast<std::size_t>(x.cols + j)] / count - shift * shift;
    if (!std::isfinite(variance)) throw_not_finite(x);
    const double mean = x(0, j) + shift;
    const double deviation = std::sqrt(std::max(variance, 0.0));
    if (deviation > kConstantTolerance * std::abs(mean) && deviation > 1e-7 * std::abs(shift)) {
      result.inputs.push_back({j, mean, deviation});
    } else {
      result.constant_columns.push_back(j);
    }
  }
  return result;
}

}  // namespace mfga
