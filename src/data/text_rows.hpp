// Where the rows of a text lie: the text is cut into chunks of whole rows, which tasks then parse on their
// own, and the rows of each are counted. Blank lines and comment lines are no rows.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "data/table_reader.hpp"
#include "mfga/thread_pool.hpp"

namespace mfga {

// One field as it stands in the text, spaces around it left out but quotes kept.
struct RawField {
  enum class Fault { kNone, kOpenQuote, kTextAfterQuote };

  std::string_view text;
  Fault fault = Fault::kNone;

  [[nodiscard]] bool is_quoted() const { return text.starts_with('"'); }
};

// The content of a field: quotes taken off, "" inside them made one.
[[nodiscard]] std::string unquote(std::string_view raw);

struct TextLayout {
  char delimiter = ',';  // a space stands for one or more spaces and tabs
  std::string comment;   // lines that begin with this are skipped; empty: none

  // Spaces around fields. A carriage return is one: it stands before the line's end.
  [[nodiscard]] bool is_padding(char c) const {
    // The first comparison is all that the characters of a number take.
    return static_cast<unsigned char>(c) <= ' ' &&
           (c == ' ' || c == '\r' || (c == '\t' && delimiter != '\t'));
  }

  [[nodiscard]] bool is_delimiter(char c) const { return c == delimiter || (delimiter == ' ' && c == '\t'); }
  // The last character of what separates a field that ends at `p` from the next; or the end of the line.
  const char* skip_spaces(const char* p, const char* end) const;

  struct Skipped {
    Index lines = 0;     // blank ones and comments
    Index comments = 0;  // of these
  };
  // Skips blank and comment lines; returns the begin of the next row or `end`.
  const char* find_row(const char* begin, const char* end, Skipped& skipped) const;
  // Reads one field; returns where it ends: at a delimiter, a newline or `end`.
  const char* scan_field(const char* begin, const char* end, RawField& field) const;
  // Reads the fields of one row, and keeps so many of them; returns the begin of the next line.
  const char* scan_row(const char* begin, const char* end, std::vector<RawField>& fields,
                       Index most = kMostColumns) const;
};

inline const char* line_end(const char* begin, const char* end) {
  const void* const newline = std::memchr(begin, '\n', static_cast<std::size_t>(end - begin));
  return newline == nullptr ? end : static_cast<const char*>(newline);
}

struct TextRows {
  std::vector<std::string_view> chunks;
  std::vector<Index> first_rows = {0};  // of each chunk, and at the end the number of all rows
  RowLines lines;
  Index leading_comments = 0;  // comment lines before the first row
  Index inner_comments = 0;    // and below it

  [[nodiscard]] Index rows() const { return first_rows.back(); }
  // Adds the rows of the text that follows.
  void append(const TextRows& more);
};

// Quotes can hide newlines, so that in a text that has any the rows must be found from the begin on, by one
// thread.
enum class Quoting { kNone, kPossible };

// The text up to the end of so many rows, or all of it if it has fewer or is asked for 0.
[[nodiscard]] std::string_view first_rows_of(std::string_view text, const TextLayout& layout, Quoting quoting,
                                             Index rows);

// The first part of a text: whole rows that end where so many bytes do, or soon after.
[[nodiscard]] std::string_view part_of(std::string_view text, const TextLayout& layout, Quoting quoting,
                                       Index bytes);

// `first_line` is the number of the text's first line.
[[nodiscard]] TextRows locate_rows(std::string_view text, Index first_line, const TextLayout& layout,
                                   Quoting quoting, Index chunk_bytes, ThreadPool& pool);

// One of them, counted from 1, as if it were the only one; Error(kBadData) if there are fewer. Of a text that
// ends with that row nothing is read but the bounds of its lines.
[[nodiscard]] TextRows only_row_of(const TextRows& rows, Index row, const TextLayout& layout, Quoting quoting,
                                   const std::string& path);
// The lines of the rows from one row on.
[[nodiscard]] RowLines lines_from(const RowLines& lines, Index row);
// Adds those of the rows that follow `rows` ones.
void append_lines(const RowLines& more, Index rows, RowLines& lines);
[[nodiscard]] Error no_such_row_error(const std::string& path, Index row, Index rows);
}  // namespace mfga
