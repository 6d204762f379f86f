// Only the beginning of the content is looked at: the magic of .npy, bytes that no text has, and the first
// row that tells a LIBSVM file from delimited text.
#include "data/format_detection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "data/libsvm.hpp"
#include "data/npy.hpp"
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
  throw Error(ErrorKind::kBadData, fmt::format("{}: is a binary file; {}", path, advice));
}

// The lines that are looked at: rows that are one word do not tell LIBSVM (all features 0) from CSV (one
// column).
template <typename Decide>
void visit_first_rows(std::string_view bytes, const TextLayout& layout, const Decide& decided) {
  constexpr int kMostRows = 1000;
  const char* const end = bytes.data() + bytes.size();
  const char* p = bytes.data();
  Index skipped = 0;
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

// The delimiter of the first row outside quotes: a tab, else the more frequent of comma and semicolon.
char find_delimiter(std::string_view bytes, const TextLayout& layout) {
  constexpr std::string_view kDelimiters = "\t,;";
  std::array<Index, kDelimiters.size()> counts{};
  const char* const end = bytes.data() + bytes.size();
  Index skipped = 0;
  bool in_quotes = false;
  for (const char* p = layout.find_row(bytes.data(), end, skipped); p != end; ++p) {
    if (*p == '"') in_quotes = !in_quotes;
    if (in_quotes) continue;
    if (*p == '\n') break;
    const std::size_t position = kDelimiters.find(*p);
    if (position != std::string_view::npos) ++counts[position];
  }
  if (counts[0] > 0) return '\t';
  return counts[2] > counts[1] ? ';' : ',';
}

}  // namespace

DetectedFormat detect_format(std::string_view path, std::string_view bytes, const ReadOptions& options) {
  const std::string& asked = options.format;
  if (asked == "npy" || (asked == "auto" && looks_like_npy(bytes))) return {TableFormat::kNpy, ','};
  check_is_text(path, bytes);
  const TextLayout layout{' ', options.comment};
  if (asked == "libsvm" || (asked == "auto" && content_is_libsvm(bytes, layout)))
    return {TableFormat::kLibsvm, ' '};
  if (asked == "tsv") return {TableFormat::kDelimited, '\t'};
  const char delimiter = find_delimiter(bytes, layout);
  return {TableFormat::kDelimited, asked == "csv" && delimiter == '\t' ? ',' : delimiter};
}

}  // namespace mfga
