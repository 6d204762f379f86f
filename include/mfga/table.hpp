// Tables in files: CSV, TSV, LIBSVM and NumPy .npy, each also gzip-compressed.
//
// A TableFile is opened first (the format is recognised and the columns become known), then read with the
// columns that the caller wants:
//
//   mfga::TableFile file("train.csv", {});
//   mfga::Table table = file.read_for_training("price", {"id"});
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfga/text_column.hpp"
#include "mfga/views.hpp"

namespace mfga {

class Communicator;  // mfga/communicator.hpp

struct ReadOptions {
  std::string format = "auto";     // auto | csv | tsv | libsvm | npy; auto looks at the content
  std::string header = "auto";     // auto | yes | no; auto compares the first line with those below
  std::string delimiter = "auto";  // auto | tab | space | one character; space: one or more
  std::string decimal = "auto";    // auto | . | ,
  // auto: an empty field, NA, NaN and ? stand for a missing value, which is NaN in the table; TEXT,...: these
  // texts as well; error: a missing value of a number is an error, and ? is a text.
  std::string missing = "auto";
  // Names that a header is known to have, such as the target's: a first line that has all of them is one.
  std::vector<std::string> names = {};
  std::string comment = "#";  // lines that begin with this are skipped; empty: none are
  Index n_features = 0;       // LIBSVM: number of features; 0: the largest index in the file
  Index only_row = 0;         // the only row that is read, counted from 1; 0: all are
  // How much memory the numbers of a table for training may take; a larger one is kept on disk, see
  // Table::stored. 0: any amount, and on disk only if there is a folder for it.
  Index most_bytes = 0;
  // The folder for what is kept on disk, in a file without a name that ends with the table; empty: large
  // tables alone, in $TMPDIR or /var/tmp.
  std::string cache = {};
  // The ranks that read a table together: each gets the rows of its own part of the file, and what the whole
  // file says about columns and classes. For one file of CSV, TSV or .npy that is not compressed, without
  // columns of text. Null: there are no others.
  Communicator* communicator = nullptr;
  int threads = 0;                     // 0: all cores
  Index chunk_bytes = Index{1} << 20;  // text that one task parses; the result does not depend on it
};

// Which line of the file a data row came from (of a .npy file: its row, from 1), kept as the (few) places
// where lines hold no row. A row that goes on over several lines is at its first one.
struct RowLines {
  struct Skip {
    Index row = 0;    // from this row on,
    Index lines = 0;  // so many lines in all are without a row
  };
  Index first_line = 1;       // line of row 0 if nothing is skipped
  std::vector<Skip> skips;    // sorted
  std::vector<Index> listed;  // if not empty: the line of each row, and the fields above do not count
  [[nodiscard]] Index line_of_row(Index row) const;
};

// A column of a table that is to be read: the numbers of a column of the file; or, with a level, 1 where its
// text is that and else 0. Several may be the numbers of one column.
struct ColumnSource {
  Index column = 0;
  std::string level = {};
  const TextColumn* text = nullptr;  // with a level: all that is known of the column; null: levels asked for
};

// Fields of a text column that are none of the levels that were asked for.
struct UnknownTexts {
  std::string column;
  Index count = 0;
  Index first_line = 0;
};

// A column of the file some of whose values are missing.
struct MissingValues {
  std::string column;
  Index count = 0;
  Index first_line = 0;
};

struct Table {
  std::string source;                       // the file, for messages
  std::vector<std::string> columns;         // names of the predictors
  std::vector<TextColumn> text_columns;     // which of them are levels of text
  Matrix values;                            // [rows x columns], unless they are on disk:
  std::shared_ptr<const RowSource> stored;  // then these rows
  std::vector<UnknownTexts> unknown_texts;  // where levels were asked for: others that the file has
  std::vector<MissingValues> missing;       // predictors with missing values
  std::vector<std::string> missing_texts;   // that stand for missing values, beside the usual ones
  std::string target_name;                  // empty: the table has no target; of several: all, with commas
  std::vector<std::string> target_names;    // of several targets
  // Numbers, of several targets one target after the other; or positions in `labels` where the target is
  // text.
  std::vector<double> target;
  std::vector<std::string> labels;  // the distinct texts of a text target, sorted
  std::vector<double> weights;      // of the rows, if a column of them was asked for
  std::vector<Index> groups;        // that the rows belong to, from 0, if a column of them was asked for
  Index unnamed_columns = 0;  // of the file, if its columns have no names (x0, x1, ... are positions); else 0
  RowLines lines;
  std::vector<std::string> remarks;   // what was decided about the file: sentences for a report
  std::vector<std::string> warnings;  // what may be wrong with it
  double load_seconds = 0;            // opening and reading
  double megabytes = 0;               // of text or numbers parsed (after decompression)

  [[nodiscard]] Index rows() const { return stored != nullptr ? stored->rows() : values.rows; }
  [[nodiscard]] Index cols() const { return stored != nullptr ? stored->cols() : values.cols; }
  [[nodiscard]] TableView view() const { return stored != nullptr ? TableView(*stored) : values.view(); }
};

class TableFile {
 public:
  TableFile(const std::string& path, const ReadOptions& options);
  // Of a file that is in memory, and must live as long; `source` names it in messages.
  [[nodiscard]] static TableFile from_bytes(std::string_view bytes, const std::string& source,
                                            const ReadOptions& options);
  TableFile(TableFile&&) noexcept;
  TableFile& operator=(TableFile&&) noexcept;
  ~TableFile();

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] std::string_view format() const;
  [[nodiscard]] bool has_header() const;
  // Every column in file order. Without a header they are x0, x1, ... by position; in a LIBSVM file column
  // 0 is "label" and feature j is "xj".
  [[nodiscard]] const std::vector<std::string>& columns() const;

  // Position of a column given by name, or by index (negative: from the end). `option` names the option in
  // the error message.
  [[nodiscard]] Index column(std::string_view name_or_index, std::string_view option) const;
  // A column without a name that numbers the rows, as pandas and R write it: read_for_training leaves it out.
  [[nodiscard]] std::optional<Index> index_column() const;
  // What `--target` means when it is not given: the label of a LIBSVM file, else the last column.
  [[nodiscard]] Index default_target() const;

  // A predictor is text if its values are no numbers, or if it is among `text`: each of its levels becomes a
  // column of 0 and 1. Dates, and texts of which most rows have one of their own, are left out unless they
  // are among `text`; the table's remarks say so.
  [[nodiscard]] Table read(std::span<const Index> predictors, std::optional<Index> target,
                           std::span<const Index> text = {}) const;
  // Exactly these columns, for a model that was trained on such; texts that are not asked for are counted.
  [[nodiscard]] Table read(std::span<const ColumnSource> columns, std::optional<Index> target) const;

  // Every column's numbers where they lie in the file, without a copy: for .npy files of float64, else
  // nothing. Valid while this object lives. Nothing has been checked: numbers may not be finite.
  [[nodiscard]] std::optional<ConstMatrixView> stored_numbers() const;
  // Says that some rows of stored_numbers() will not be looked at soon, so that they need no memory.
  void forget(ConstMatrixView rows) const;
  // All columns but the targets, the ignored ones and that of the weights are predictors. An empty target is
  // the default one, no weight means none. The columns in `text` are text even if they hold numbers.
  // `more_targets` are numbers to be predicted together with the target.
  [[nodiscard]] Table read_for_training(std::string_view target, std::span<const std::string> ignore,
                                        std::span<const std::string> text = {}, std::string_view weight = {},
                                        std::span<const std::string> more_targets = {}) const;
  // Reads the numbers of more targets behind those of the table's own.
  void read_more_targets(std::span<const std::string> names, std::string_view option, Table& table) const;
  // The numbers of a column that says how much each row counts; `option` names the option in error messages.
  [[nodiscard]] std::vector<double> read_weights(std::string_view name_or_index,
                                                 std::string_view option) const;
  // Of each row, which group it belongs to: rows with the same number or text in this column.
  [[nodiscard]] std::vector<Index> read_groups(std::string_view name_or_index, std::string_view option) const;

 private:
  struct Impl;
  // The ranks that read the table together; null: there are no others.
  [[nodiscard]] Communicator* communicator() const;
  explicit TableFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Moves a random `fraction` of the rows (rounded down, chosen by the seed; of groups, whole ones, while they
// fit in) out of the table into the one that is returned; the order of rows is kept on both sides. No second
// copy of the rows that stay is made; the load time and size stay with `table`.
[[nodiscard]] Table split_off(Table& table, double fraction, std::uint64_t seed);
// The last rows instead of random ones: of a table in the order of time.
[[nodiscard]] Table split_last_off(Table& table, double fraction);

}  // namespace mfga
