// What each file format provides: the columns when the file is opened, and the wanted ones of them when it is
// read. Also what the formats share: where an error is, and where a matrix is allocated.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/missing_marks.hpp"
#include "data/number_text.hpp"
#include "data/text_fields.hpp"
#include "mfga/error.hpp"
#include "mfga/table.hpp"
#include "mfga/thread_pool.hpp"

namespace mfga {

struct ColumnLook;

// Where each column of the file goes: a position among the columns of numbers, or one of the two below, or
// text_slot(position among the columns of text).
using ColumnSlots = std::vector<Index>;
inline constexpr Index kSkippedColumn = -1;
inline constexpr Index kTargetColumn = -2;
// Also the position for a slot.
constexpr Index text_slot(Index text) { return -3 - text; }

struct ColumnPlan {
  ColumnSlots slots;  // by column of the file
  Index numbers = 0;
  std::vector<TextRequest> texts;
  Index target = -1;                // column of the file; negative: none
  std::vector<NumberStyle> styles;  // by column of the file; empty: all are plain

  [[nodiscard]] bool has_target() const { return target >= 0; }
  [[nodiscard]] NumberStyle style(std::size_t column) const {
    return styles.empty() ? NumberStyle{} : styles[column];
  }
};

// The first row, without quotes.
struct FirstRow {
  std::vector<std::string> fields;
  Index line = 0;
};

// Consecutive rows of a file as they are read.
struct RowsRead {
  Matrix numbers;  // of the columns of numbers
  TextFields texts;
  std::vector<std::string_view> target_fields;  // where the format has text: as they stand there
  std::vector<double> target;                   // and where it has not
  RowLines lines;
  Index leading_comments = 0;  // see TextRows
  Index inner_comments = 0;
  Index bytes = 0;  // of the file

  [[nodiscard]] Index rows() const { return numbers.rows; }
};

class TableReader {
 public:
  TableReader() = default;
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;
  virtual ~TableReader() = default;

  [[nodiscard]] virtual std::string_view format() const = 0;
  [[nodiscard]] virtual bool has_header() const = 0;
  [[nodiscard]] virtual Index default_target() const = 0;
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }

  [[nodiscard]] const MissingMarks& missing_marks() const { return marks_; }
  // Of formats that can hold text: what each column looks like.
  [[nodiscard]] virtual std::span<const ColumnLook> looks() const { return {}; }
  [[nodiscard]] virtual std::optional<Index> index_column() const { return std::nullopt; }
  // Of formats that can hold text; its fields have not been checked.
  [[nodiscard]] virtual std::optional<FirstRow> first_row() const { return std::nullopt; }
  // Fills in values (the columns of numbers), target, labels and lines of the table; returns the columns of
  // text.
  virtual TextFields read(const ColumnPlan& plan, ThreadPool& pool, Table& table) const = 0;
  // The same without a table that holds all rows: calls take for parts of the rows in their order, of about
  // so many bytes of the file, until it returns false.
  using TakeRows = std::function<bool(RowsRead& rows)>;
  virtual void read_in_parts(const ColumnPlan& plan, ThreadPool& pool, Index bytes,
                             const TakeRows& take) const = 0;
  // Says in the table's remarks and warnings what was decided and skipped. Throws if there are no rows.
  virtual void conclude(Index rows, Index leading_comments, Index inner_comments, Table& table) const = 0;
  // The fields of some columns, a list for each: as they stand in the text, without quotes; numbers where the
  // format has no text.
  [[nodiscard]] virtual std::vector<std::vector<std::string>> texts(std::span<const Index> columns,
                                                                    ThreadPool& pool) const;
  // From now on the reader has the rows of its rank's part of the file only, while `conclude` knows of all of
  // them. For all ranks together, before anything is read.
  virtual void divide(Communicator& ranks, ThreadPool& pool);
  // Every column, where a format stores doubles that can be used where they lie.
  [[nodiscard]] virtual std::optional<ConstMatrixView> stored_numbers() const { return std::nullopt; }

  // `forget` is told of parts of the file that have been read, so that file and table need not be in memory
  // together; parts are read again where an error is described.
  void when_read(std::function<void(std::string_view)> forget) { forget_ = std::move(forget); }

 protected:
  explicit TableReader(MissingMarks marks) : marks_(std::move(marks)) {}
  void set_columns(std::vector<std::string> names) { columns_ = std::move(names); }
  void done_with(std::string_view part) const {
    if (forget_) forget_(part);
  }

 private:
  MissingMarks marks_;
  std::vector<std::string> columns_;
  std::function<void(std::string_view)> forget_;
};

// The reader for a file with this content, which must outlive it.
// `forget` as in TableReader::when_read.
[[nodiscard]] std::unique_ptr<TableReader> make_reader(
    const std::string& path, std::string_view bytes, const ReadOptions& options,
    const std::function<void(std::string_view)>& forget = {});

// An error in the data, as "path:line:column: text"; the column is a field's number, from 1 (0: the whole
// line).
[[nodiscard]] Error data_error(std::string_view path, Index line, Index column, std::string_view text);

// The error for a field of a predictor that is not a finite number. `further_advice`: what else can be done
// about text.
[[nodiscard]] Error not_a_number_error(std::string_view path, Index line, Index column, std::string_view name,
                                       std::string_view found, std::string_view further_advice = "");

// What is said about comment lines; those below the first line of the table may have been meant as rows.
void report_comments(const std::string& comment, Index above, Index below, Table& table);

// Throws where a matrix of this size cannot fit the machine's memory.
void check_memory(std::string_view path, Index rows, Index columns);
// Throws where a file has more columns than a table can be meant to have: what is kept for each, such as its
// name, would take more memory than the table.
inline constexpr Index kMostColumns = 10'000'000;
void check_columns(std::string_view path, Index columns);
// A matrix of any numbers, after that check.
[[nodiscard]] Matrix allocate_matrix(std::string_view path, Index rows, Index columns);

// "x0", "x1", ... for columns that have no names.
[[nodiscard]] std::vector<std::string> numbered_columns(Index count);

}  // namespace mfga
