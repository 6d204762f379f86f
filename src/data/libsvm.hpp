// LIBSVM files: lines of "label index:value index:value ...", indices from 1 and rising; features that a line
// does not name are 0.
#pragma once

#include <string>
#include <string_view>

#include "data/table_reader.hpp"
#include "data/text_rows.hpp"

namespace mfga {

class LibsvmReader final : public TableReader {
 public:
  // `text` must outlive the reader.
  // `forget` is told of what has been looked at, as later of what has been read.
  LibsvmReader(std::string path, std::string_view text, const ReadOptions& options,
               const std::function<void(std::string_view)>& forget = {});

  [[nodiscard]] std::string_view format() const override { return "libsvm"; }
  [[nodiscard]] bool has_header() const override { return false; }
  [[nodiscard]] Index default_target() const override { return 0; }
  TextFields read(const ColumnPlan& plan, ThreadPool& pool, Table& table) const override;
  void read_in_parts(const ColumnPlan& plan, ThreadPool& pool, Index bytes,
                     const TakeRows& take) const override;
  void conclude(Index rows, Index leading_comments, Index inner_comments, Table& table) const override;

 private:
  // Of the chunks from one to before another.
  [[nodiscard]] RowsRead parse(std::size_t first_chunk, std::size_t end_chunk, const ColumnPlan& plan,
                               ThreadPool& pool) const;
  const char* parse_plain_row(const char* begin, const char* end, const ColumnPlan& plan, double* values,
                              std::string_view& target) const;
  const char* parse_any_row(const char* begin, const char* end, const ColumnPlan& plan, Index line_number,
                            double* values, std::string_view& target) const;

  std::string path_;
  TextLayout layout_;
  TextRows rows_;
};

// Whether a line looks like a row of a LIBSVM file that names at least one feature.
[[nodiscard]] bool looks_like_libsvm(std::string_view line);

}  // namespace mfga
