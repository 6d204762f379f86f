// NumPy's .npy files (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html):
// two-dimensional arrays of little-endian float64 or float32 in C order.
#pragma once

#include <string>
#include <string_view>

#include "data/table_reader.hpp"

namespace mfga {

class NpyReader final : public TableReader {
 public:
  // `bytes` must outlive the reader.
  NpyReader(std::string path, std::string_view bytes, const ReadOptions& options);

  [[nodiscard]] std::string_view format() const override { return "npy"; }
  [[nodiscard]] bool has_header() const override { return false; }
  [[nodiscard]] Index default_target() const override { return std::ssize(columns()) - 1; }
  TextFields read(const ColumnPlan& plan, ThreadPool& pool, Table& table) const override;
  void read_in_parts(const ColumnPlan& plan, ThreadPool& pool, Index bytes,
                     const TakeRows& take) const override;
  void conclude(Index /*rows*/, Index /*leading_comments*/, Index /*inner_comments*/,
                Table& /*table*/) const override {}
  [[nodiscard]] std::optional<ConstMatrixView> stored_numbers() const override;
  void divide(Communicator& ranks, ThreadPool& pool) override;

 private:
  [[noreturn]] void fail(std::string_view found) const;
  [[nodiscard]] std::string_view take_header(std::string_view& bytes) const;
  [[nodiscard]] std::string_view header_value(std::string_view header, std::string_view key) const;
  [[nodiscard]] std::pair<Index, Index> parse_shape(std::string_view shape) const;
  [[nodiscard]] const char* row_bytes(Index row) const;
  [[nodiscard]] RowsRead parse(Index first, Index count, const ColumnPlan& plan, ThreadPool& pool) const;
  // Throws at a number of the row that is not finite, unless it may be missing.
  void check_not_finite(Index row, const ColumnPlan& plan) const;

  std::string path_;
  std::string_view data_;
  Index rows_ = 0;
  Index first_row_ = 1;  // which the first of them is in the file
  std::size_t number_size_ = sizeof(double);
};

// The bytes before the numbers of a .npy file of float64; the shape as Python writes it: "(3,)", "(3, 2)".
[[nodiscard]] std::string npy_header(std::string_view shape);

[[nodiscard]] bool looks_like_npy(std::string_view bytes);

}  // namespace mfga
