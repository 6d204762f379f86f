// Plain views of numbers, in memory or elsewhere, and one owning matrix. Indices are signed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <utility>
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

// The same for single precision.
struct ConstFloatMatrixView {
  const float* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index row_stride = 0;
  Index col_stride = 1;
};

// Rows that are not in memory, and are read whenever they are looked at. Many threads may read at once.
class RowSource {
 public:
  virtual ~RowSource() = default;
  [[nodiscard]] virtual Index rows() const = 0;
  [[nodiscard]] virtual Index cols() const = 0;
  // Sets out[j * stride + n] to number j of row positions[n]. Rows that follow one another are read together.
  // Throws Error(kIo) if they cannot be read.
  virtual void read(std::span<const Index> positions, Index stride, double* out) const = 0;
  // One number; quick where it is near the last one that was asked for.
  [[nodiscard]] virtual double number(Index row, Index column) const = 0;
  // How many numbers may be copied into memory for those who look at some rows often.
  [[nodiscard]] virtual Index most_copied() const = 0;
};

// Numbers of a table that stay where they are: double or float, with any strides, in one piece or in several
// pieces of rows that follow one another.
struct TableView {
  struct Piece {
    const double* doubles = nullptr;
    const float* floats = nullptr;      // if the first are null
    const RowSource* source = nullptr;  // if both are null
    Index first_row = 0;
    Index rows = 0;
    Index row_stride = 0;
    Index col_stride = 1;

    // Of a row of this piece, counted from its first.
    [[nodiscard]] double number(Index row, Index column) const {
      const Index place = row * row_stride + column * col_stride;
      if (doubles != nullptr) return doubles[place];
      return floats != nullptr ? static_cast<double>(floats[place]) : source->number(row, column);
    }
  };

  Index rows = 0;
  Index cols = 0;
  std::vector<Piece> pieces;

  TableView() = default;
  // Implicit, so that a matrix of either kind is a table.
  TableView(const ConstMatrixView& x)  // NOLINT(google-explicit-constructor)
      : rows(x.rows),
        cols(x.cols),
        pieces{{x.data, nullptr, nullptr, 0, x.rows, x.row_stride, x.col_stride}} {}
  TableView(const ConstFloatMatrixView& x)  // NOLINT(google-explicit-constructor)
      : rows(x.rows),
        cols(x.cols),
        pieces{{nullptr, x.data, nullptr, 0, x.rows, x.row_stride, x.col_stride}} {}
  TableView(const RowSource& x)  // NOLINT(google-explicit-constructor)
      : rows(x.rows()), cols(x.cols()), pieces{{nullptr, nullptr, &x, 0, x.rows()}} {}
  // The tables one below the other; throws Error(kInvalidArgument) if they differ in their columns.
  [[nodiscard]] static TableView of_pieces(std::span<const TableView> tables);

  [[nodiscard]] const Piece& piece_of(Index row) const {
    if (pieces.size() == 1) return pieces.front();
    const auto after = std::upper_bound(pieces.begin(), pieces.end(), row,
                                        [](Index i, const Piece& piece) { return i < piece.first_row; });
    return *(after - 1);
  }
  [[nodiscard]] double operator()(Index i, Index j) const {
    const Piece& piece = piece_of(i);
    return piece.number(i - piece.first_row, j);
  }
  // Whether some rows are read whenever they are looked at.
  [[nodiscard]] bool has_sources() const {
    return std::any_of(pieces.begin(), pieces.end(),
                       [](const Piece& piece) { return piece.source != nullptr; });
  }
  // Sets out[j * stride + n] to number j of row positions[n].
  void read(std::span<const Index> positions, Index stride, double* out) const;
};

// With this allocator a vector's numbers are not set to zero unless that is asked for, so that a large table
// is first touched by the threads that fill it.
template <typename T>
struct NumberAllocator {
  using value_type = T;
  NumberAllocator() = default;
  template <typename U>
  explicit NumberAllocator(const NumberAllocator<U>& /*other*/) {}
  T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* memory, std::size_t count) noexcept { std::allocator<T>().deallocate(memory, count); }
  template <typename U, typename... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0) {
      ::new (static_cast<void*>(place)) U;
    } else {
      ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
    }
  }
  friend bool operator==(const NumberAllocator&, const NumberAllocator&) { return true; }
};

// A row-major [rows x cols] matrix that owns its numbers.
struct Matrix {
  std::vector<double, NumberAllocator<double>> values;
  Index rows = 0;
  Index cols = 0;

  Matrix() = default;
  // Of zeros.
  Matrix(Index n_rows, Index n_cols)
      : values(static_cast<std::size_t>(n_rows * n_cols), 0.0), rows(n_rows), cols(n_cols) {}
  // Of any numbers.
  [[nodiscard]] static Matrix uninitialised(Index n_rows, Index n_cols) {
    Matrix matrix;
    matrix.values.resize(static_cast<std::size_t>(n_rows * n_cols));
    matrix.rows = n_rows;
    matrix.cols = n_cols;
    return matrix;
  }

  [[nodiscard]] double* row(Index i) { return values.data() + i * cols; }
  [[nodiscard]] const double* row(Index i) const { return values.data() + i * cols; }
  double& operator()(Index i, Index j) { return values[static_cast<std::size_t>(i * cols + j)]; }
  double operator()(Index i, Index j) const { return values[static_cast<std::size_t>(i * cols + j)]; }
  [[nodiscard]] ConstMatrixView view() const { return {values.data(), rows, cols, cols, 1}; }
};

}  // namespace mfga
