#include "data/standardise.hpp"

#include <fmt/format.h>

#include <cmath>

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

}  // namespace

Standardisation fit_standardisation(ConstMatrixView x, Workers& workers) {
  Standardisation result;
  if (x.rows == 0) return result;
  // Sums are taken of differences to the first row, so that a large mean costs no digits.
  std::vector<InputColumn> shifted(static_cast<std::size_t>(x.cols));
  for (Index j = 0; j < x.cols; ++j) shifted[static_cast<std::size_t>(j)] = {j, x(0, j), 1};
  const BlockedRows rows(x, shifted);
  std::vector<double> sums(static_cast<std::size_t>(2 * x.cols));
  sum_over_blocks(rows, workers, sums, [&](const RowBlock& block, Arena& /*arena*/, double* out) {
    for (Index j = 0; j < block.inputs; ++j) {
      const double* value = block.input(j);
      double sum = 0;
      double square = 0;
      for (Index n = 0; n < block.rows; ++n) {
        sum += value[n];
        square += value[n] * value[n];
      }
      out[2 * j] += sum;
      out[2 * j + 1] += square;
    }
  });
  const double count = static_cast<double>(x.rows);
  for (Index j = 0; j < x.cols; ++j) {
    const double shift = sums[static_cast<std::size_t>(2 * j)] / count;
    const double variance = sums[static_cast<std::size_t>(2 * j + 1)] / count - shift * shift;
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
