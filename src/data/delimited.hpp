// CSV and TSV: fields between delimiters, optionally in quotes, with or without a header. Only the wanted
// columns are converted, to numbers or to levels of text, but the number of fields is checked in every row.
#pragma once

#include <string>
#include <string_view>

#include "data/column_look.hpp"
#include "data/table_reader.hpp"
#include "data/text_rows.hpp"

namespace mfga {

class DelimitedReader final : public TableReader {
 public:
  // `text` must outlive the reader.
  DelimitedReader(std::string path, std::string_view text, char delimiter, const ReadOptions& options);

  [[nodiscard]] std::string_view format() const override { return layout_.delimiter == '\t' ? "tsv" : "csv"; }
  [[nodiscard]] bool has_header() const override { return has_header_; }
  [[nodiscard]] Index default_target() const override { return std::ssize(columns()) - 1; }
  [[nodiscard]] std::span<const ColumnLook> looks() const override { return looks_; }
  [[nodiscard]] std::optional<Index> index_column() const override;
  [[nodiscard]] std::optional<FirstRow> first_row() const override;
  TextFields read(const ColumnPlan& plan, ThreadPool& pool, Table& table) const override;
  void read_in_parts(const ColumnPlan& plan, ThreadPool& pool, Index bytes,
                     const TakeRows& take) const override;
  void conclude(Index rows, Index leading_comments, Index inner_comments, Table& table) const override;
  [[nodiscard]] std::vector<std::vector<std::string>> texts(std::span<const Index> columns,
                                                            ThreadPool& pool) const override;
  void divide(Communicator& ranks, ThreadPool& pool) override;

 private:
  // Where the fields of a row go.
  struct RowOutput {
    double* numbers;
    std::string_view& target;
    TextFields& texts;
    TextFields::Part* part;  // of the texts; null if there are none
    Index row;
  };

  void name_columns(const std::vector<RawField>& fields, Index line);
  static void store_text(std::string_view field, Index slot, const RowOutput& out);
  void check_field(const RawField& field, Index line, Index column) const;
  [[nodiscard]] RowsRead parse(TextRows rows, const ColumnPlan& plan, ThreadPool& pool) const;
  void parse_chunk(std::string_view chunk, Index first_row, const ColumnPlan& plan, RowsRead& rows,
                   TextFields::Part* part) const;
  const char* parse_plain_row(const char* begin, const char* end, const ColumnPlan& plan,
                              const RowOutput& out) const;
  const char* parse_any_row(const char* begin, const char* end, const ColumnPlan& plan, Index line,
                            const RowOutput& out) const;

  std::string path_;
  TextLayout layout_;
  Index chunk_bytes_;
  Index only_row_;  // 0: all
  bool has_header_ = false;
  std::string header_remark_;  // what was decided, and why
  bool has_index_column_ = false;
  std::vector<ColumnLook> looks_;
  std::string_view data_;     // the text below the header
  Index data_line_ = 1;       // line on which that begins
  Index comments_above_ = 0;  // comment lines above the header
  struct RowCounts {
    Index rows = 0;
    Index leading_comments = 0;
    Index inner_comments = 0;
    Index lines = 0;
  };
  // Where the reader has a part of the file.
  std::optional<RowCounts> of_all_ranks_;
  Communicator* ranks_ = nullptr;
};

}  // namespace mfga
