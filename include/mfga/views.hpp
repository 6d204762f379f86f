// Plain views of numbers in memory, and one owning matrix. Indices are signed.
#pragma once

#include <cstddef>
#include <vector>

namespace mfga {

using Index = std::ptrdiff_t;

// Read-only [rows x cols] numbers with any strides, so that row-major, column-major and sliced arrays need
// no copy: element (i, j) is data[i * row_stride + j * col_stride].
struct ConstMatrixView {
  const double* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index row_stride = 0;
  Index col_stride = 1;

  [[nodiscard]] double operator()(Index i, Index j) const { return data[i * row_stride + j * col_stride]; }
  [[nodiscard]] ConstMatrixView middle_rows(Index first, Index count) const {
    return {data + first * row_stride, count, cols, row_stride, col_stride};
  }
};

// A row-major [rows x cols] matrix that owns its numbers.
struct Matrix {
  std::vector<double> values;
  Index rows = 0;
  Index cols = 0;

  Matrix() = default;
  Matrix(Index n_rows, Index n_cols)
      : values(static_cast<std::size_t>(n_rows * n_cols)), rows(n_rows), cols(n_cols) {}

  [[nodiscard]] double* row(Index i) { return values.data() + i * cols; }
  [[nodiscard]] const double* row(Index i) const { return values.data() + i * cols; }
  double& operator()(Index i, Index j) { return values[static_cast<std::size_t>(i * cols + j)]; }
  double operator()(Index i, Index j) const { return values[static_cast<std::size_t>(i * cols + j)]; }
  [[nodiscard]] ConstMatrixView view() const { return {values.data(), rows, cols, cols, 1}; }
};

}  // namespace mfga
