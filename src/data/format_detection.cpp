// Only the beginning of the content is looked at: the magic of .npy, bytes that no text has, and the first
// row that tells a LIBSVM file from delimited text.
#include "data/format_detection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "data/libsvm.hpp"
#include "data/npy.hpp"
#include "data/number_text.hpp"
#include "data/text_rows.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

constexpr std::size_t kInspectedBytes = std::size_t{1} << 16U;

void check_is_text(std::string_view path, std::string_view bytes) {
  const auto is_binary = [](char c) {
    const auto code = static_cast<unsigned char>(c);
    return code < 0x20U && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v';
  };
  if (std::ranges::none_of(bytes.substr(0, kInspectedBytes), is_binary)) return;
  std::string_view advice = "expected CSV, TSV, LIBSVM or .npy, optionally compressed with gzip";
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF"))
    advice = "it looks like UTF-16; save it as UTF-8";
  if (bytes.starts_with("PK"))
    advice = "it looks like a zip archive (.zip, .npz, .xlsx); extract the table from it";
  if (bytes.starts_with("PAR1")) {
    advice =
        "it is Parquet, which is read from Python alone, from a dataset of pyarrow; learn there, or write "
        "the "
        "table as CSV";
  }
  throw Error(ErrorKind::kBadData, fmt::format("{}: is a binary file; {}", path, advice));
}

// The lines that are looked at: rows that are one word do not tell LIBSVM (all features 0) from CSV (one
// column).
template <typename Decide>
void visit_first_rows(std::string_view bytes, const TextLayout& layout, const Decide& decided) {
  constexpr int kMostRows = 1000;
  const char* const end = bytes.data() + bytes.size();
  const char* p = bytes.data();
  TextLayout::Skipped skipped;
  for (int i = 0; i < kMostRows; ++i) {
    p = layout.find_row(p, end, skipped);
    if (p == end) return;
    const char* const newline = line_end(p, end);
    const std::string_view line(p, newline);
    if (decided(line)) return;
    p = newline == end ? end : newline + 1;
  }
}

bool content_is_libsvm(std::string_view bytes, const TextLayout& layout) {
  bool is_libsvm = false;
  visit_first_rows(bytes, layout, [&](std::string_view line) {
    is_libsvm = looks_like_libsvm(line);
    const bool is_one_word =
        line.find_first_of(" \t,;\"", line.find_first_not_of(" \t")) == std::string_view::npos;
    return is_libsvm || !is_one_word;
  });
  return is_libsvm;
}

// How often characters that may be delimiters occur in a row, outside quotes.
constexpr std::string_view kDelimiters = "\t,;|";
struct RowCounts {
  std::array<Index, kDelimiters.size()> counts{};
  Index words = 0;
  bool has_decimal_commas = true;  // every comma stands between digits
};

RowCounts count_delimiters(const char*& p, const char* end) {
  RowCounts row;
  bool in_quotes = false;
  bool in_word = false;
  const auto is_digit = [&](const char* at) { return at != end && '0' <= *at && *at <= '9'; };
  const char* const begin = p;
  for (; p != end; ++p) {
    if (*p == '"') in_quotes = !in_quotes;
    if (!in_quotes && *p == '\n') break;
    const bool is_space = *p == ' ' || *p == '\t' || *p == '\r';
    if (!is_space && !in_word) ++row.words;
    in_word = in_quotes || !is_space;
    const std::size_t position = in_quotes ? std::string_view::npos : kDelimiters.find(*p);
    if (position == std::string_view::npos) continue;
    ++row.counts[position];
    if (*p == ',') row.has_decimal_commas &= p != begin && is_digit(p - 1) && is_digit(p + 1);
  }
  if (p != end) ++p;
  return row;
}

std::vector<RowCounts> count_in_first_rows(std::string_view bytes, const TextLayout& layout) {
  constexpr std::size_t kMostRows = 20;
  std::vector<RowCounts> rows;
  const char* const end = bytes.data() + bytes.size();
  TextLayout::Skipped skipped;
  for (const char* p = layout.find_row(bytes.data(), end, skipped);
       p != end && rows.size() < kMostRows && p - bytes.data() < static_cast<Index>(kInspectedBytes);
       p = layout.find_row(p, end, skipped)) {
    rows.push_back(count_delimiters(p, end));
  }
  return rows;
}

// The first line that is no comment, without the space around it.
std::string_view first_line(std::string_view bytes, const TextLayout& layout) {
  std::string_view first;
  visit_first_rows(bytes, layout, [&](std::string_view line) {
    first = trim(line);
    return true;
  });
  return first;
}

// A tab where the first row has one; else the most frequent of comma, semicolon and bar, those first that all
// rows have equally often; else spaces, if all rows have as many words and the first is no name that is
// looked for.
char find_delimiter(std::string_view bytes, const TextLayout& layout, bool with_tabs,
                    const std::vector<std::string>& names) {
  enum : std::size_t { kTab, kComma, kSemicolon, kBar };
  const std::vector<RowCounts> rows = count_in_first_rows(bytes, layout);
  if (rows.empty()) return ',';
  const auto& first = rows.front().counts;
  const auto is_everywhere = [&](std::size_t which) {
    return first[which] > 0 &&
           std::ranges::all_of(rows, [&](const RowCounts& row) { return row.counts[which] == first[which]; });
  };
  if (with_tabs && first[kTab] > 0) return '\t';
  const bool commas_are_decimal = std::ranges::all_of(rows, &RowCounts::has_decimal_commas);
  if (is_everywhere(kSemicolon) && commas_are_decimal) return ';';
  std::size_t best = kComma;
  for (const std::size_t which : {kSemicolon, kBar}) {
    if (std::pair(is_everywhere(which), first[which]) > std::pair(is_everywhere(best), first[best]))
      best = which;
  }
  if (first[best] > 0) return kDelimiters[best];
  const Index words = rows.front().words;
  const bool is_words =
      words > 1 && std::ranges::all_of(rows, [&](const RowCounts& row) { return row.words == words; });
  const bool is_name = std::ranges::find(names, first_line(bytes, layout)) != names.end();
  return is_words && !is_name ? ' ' : ',';
}

// The delimiter that is asked for; 0 if none is.
char asked_delimiter(const std::string& text) {
  if (text == "auto") return '\0';
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "space") return ' ';
  const char c = text.size() == 1 ? text.front() : '\0';
  const bool is_part_of_fields = ('0' <= c && c <= '9') || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z');
  if (c == '\t' ||
      (c >= ' ' && c <= '~' && !is_part_of_fields && c != '"' && c != '.' && c != '-' && c != '+'))
    return c;
  throw Error(ErrorKind::kInvalidArgument,
              fmt::format("`delimiter`: found {}; expected tab, space, or one character such as ; or |",
                          quoted_for_message(text)));
}

}  // namespace

std::string delimiter_name(char delimiter) {
  return delimiter == '\t' ? "a tab" : delimiter == ' ' ? "spaces" : fmt::format("\"{}\"", delimiter);
}

DetectedFormat detect_format(std::string_view path, std::string_view bytes, const ReadOptions& options) {
  const std::string& asked = options.format;
  const char delimiter = asked_delimiter(options.delimiter);
  const bool may_be_other = asked == "auto" && delimiter == '\0';
  if (delimiter != '\0' && (asked == "libsvm" || asked == "npy" || (asked == "tsv" && delimiter != '\t'))) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`delimiter={}` does not go with `format={}`; leave one of them out",
                            options.delimiter, asked));
  }
  if (asked == "npy" || (may_be_other && looks_like_npy(bytes))) return {TableFormat::kNpy, ','};
  check_is_text(path, bytes);
  const TextLayout layout{' ', options.comment};
  if (asked == "libsvm" || (may_be_other && content_is_libsvm(bytes, layout)))
    return {TableFormat::kLibsvm, ' '};
  if (delimiter != '\0') return {TableFormat::kDelimited, delimiter};
  if (asked == "tsv") return {TableFormat::kDelimited, '\t'};
  return {TableFormat::kDelimited, find_delimiter(bytes, layout, asked != "csv", options.names)};
}

}  // namespace mfga
