// The text columns of a file while it is read. A field is kept as a small number, its place in a list of the
// texts that its part of the file holds; when all parts are read, the lists become the levels of the columns,
// and the numbers become columns of 0 and 1.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/missing_marks.hpp"
#include "mfga/table.hpp"
#include "mfga/thread_pool.hpp"

namespace mfga {

// More different texts than this are taken for an identifier.
inline constexpr std::size_t kMostLevels = 1000;

// The level of a field as it stands in the file: kMissingLevel for what stands for a missing value.
[[nodiscard]] std::string text_level(std::string_view raw, const MissingMarks& marks);

// A column that is to be read as text.
struct TextRequest {
  Index column = 0;                      // of the file
  bool is_asked_for = false;             // the caller says that it is text, whatever it looks like
  std::vector<std::string> levels = {};  // where they are known; else they are found
  std::vector<std::string> rare = {};    // then: the texts of the level `other`
};

// What is known of a column of text when all rows are read, and decides about its levels.
struct FoundTexts {
  Index rows = 0;
  std::set<std::string> texts;  // without quotes; kMissingLevel for all that stand for a missing value
  bool are_too_many = false;    // then `texts` are those of the first rows:
  Index judged_rows = 0;        // of so many
  std::unordered_map<std::string, Index> counts;  // how many rows have each, unless there are too many
  Index first_row = 0;                            // the first whose text is not missing, and this text
  std::string first;
  Index not_utf8_row = -1;  // the first whose text is not UTF-8; -1: there is none
};

struct TextLevels {
  std::vector<std::string> texts;  // sorted
  std::vector<std::string> rare;   // what the level `other` stands for, sorted; empty: there is none
  std::string why_none;            // where the column is no predictor: what it is instead, and what to do
};

// The levels of a column: texts of fewer than 10 rows and less than 1 % of them are one level, if they are
// two or more. Throws where the column should not have been read as text. The table's source and lines are
// known.
[[nodiscard]] TextLevels levels_of(const TextRequest& request, const FoundTexts& found,
                                   const std::string& name, const Table& table, bool has_header);

class TextFields {
 public:
  // The texts of one column in one part of the file.
  struct Texts {
    std::vector<std::string_view> listed;  // as they stand in the file, with quotes
    std::unordered_map<std::string_view, std::uint16_t> codes;
    bool is_full = false;  // there are more than can be levels
  };
  // Some consecutive rows, which one task reads.
  struct Part {
    Index first_row = 0;
    Index rows = 0;
    std::vector<Texts> texts;  // by column
  };

  TextFields() = default;
  // `first_rows` of each part, and at the end the number of all rows.
  TextFields(const std::vector<TextRequest>& columns, const std::vector<Index>& first_rows,
             MissingMarks marks);

  [[nodiscard]] bool empty() const { return columns_.empty(); }
  [[nodiscard]] Part& part(Index i) { return parts_[static_cast<std::size_t>(i)]; }
  // Takes the field of a row, with quotes if it has any. Tasks may do so at the same time for different
  // parts.
  void add(Part& part, Index column, Index row, std::string_view field);

  using Levels = TextLevels;
  // The levels of a column: the known ones, or those found, see levels_of.
  [[nodiscard]] Levels levels(Index column, const std::string& name, const Table& table,
                              bool has_header) const;
  // The fields of a column, part by part, if its levels are to be found: places in a list of texts as they
  // stand in the file, or past its end where there are more than can be levels.
  struct Fields {
    Index first_row = 0;
    std::span<const std::uint16_t> codes;
    std::span<const std::string_view> listed;
    bool is_full = false;
  };
  [[nodiscard]] std::vector<Fields> fields(Index column) const;

  // Where numbers and levels go: to these columns of a table.
  struct Destinations {
    Index columns = 0;
    std::vector<Index> of_number;              // by column of the numbers
    std::vector<std::vector<Index>> of_level;  // by text column and level; -1: it is not wanted
  };
  // The numbers and the levels, the latter as 0 and 1, in one table. Columns without levels are left out.
  [[nodiscard]] Matrix spread(const Matrix& numbers, const std::vector<Levels>& levels,
                              const Destinations& to, std::string_view path, ThreadPool& pool) const;

  // How many fields of a column there are, and the first row that has one; no such row: -1.
  struct Count {
    Index count = 0;
    Index first_row = -1;
  };
  // That are none of its known levels, or that are missing.
  [[nodiscard]] Count unknown(Index column) const;
  [[nodiscard]] Count missing(Index column) const;

 private:
  struct Column {
    TextRequest request;
    std::unordered_map<std::string, std::uint16_t> known;
    std::vector<std::uint16_t> codes;  // by row
  };
  [[nodiscard]] const Column& column(Index i) const { return columns_[static_cast<std::size_t>(i)]; }
  // The text of a row, as it stands in the file; the part's list must have it.
  [[nodiscard]] std::string_view text_of_row(Index column, const Part& part, Index row) const;
  [[nodiscard]] std::set<std::string> first_texts(Index column, Index most_rows) const;
  [[nodiscard]] FoundTexts found_texts(Index column) const;
  [[nodiscard]] std::unordered_map<std::string, Index> counts(Index column) const;
  // The level of a field as it stands in the file.
  [[nodiscard]] std::string level_of(std::string_view raw) const { return text_level(raw, marks_); }

  MissingMarks marks_;
  std::vector<Column> columns_;
  std::vector<Part> parts_;
};

}  // namespace mfga
