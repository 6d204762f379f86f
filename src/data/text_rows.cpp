// Lines are found with memchr, character by character only where a line has quotes. Rows are counted before
// they are parsed, so that the matrix is allocated once and each chunk knows its first row.
#include "data/text_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace mfga {
namespace {

const char* next_line(const char* begin, const char* end) {
  const char* const newline = line_end(begin, end);
  return newline == end ? end : newline + 1;
}

// The begin of the line after a row's last one.
const char* row_end(const char* begin, const char* end, const TextLayout& layout, Quoting quoting) {
  const char* const after = next_line(begin, end);
  if (quoting == Quoting::kNone || std::find(begin, after, '"') == after) return after;
  RawField field;
  for (const char* p = begin;; ++p) {
    p = layout.scan_field(p, end, field);
    if (p == end) return end;
    if (*p == '\n') return p + 1;
  }
}

std::vector<std::string_view> cut_at_lines(std::string_view text, Index chunk_bytes) {
  std::vector<std::string_view> chunks;
  const char* const end = text.data() + text.size();
  for (const char* begin = text.data(); begin != end;) {
    const char* const after = end - begin <= chunk_bytes ? end : next_line(begin + chunk_bytes - 1, end);
    chunks.emplace_back(begin, after - begin);
    begin = after;
  }
  return chunks;
}

std::vector<std::string_view> cut_at_rows(std::string_view text, Index chunk_bytes,
                                          const TextLayout& layout) {
  std::vector<std::string_view> chunks;
  const char* const end = text.data() + text.size();
  const char* chunk = text.data();
  TextLayout::Skipped skipped;
  for (const char* p = chunk; p != end;) {
    p = layout.find_row(p, end, skipped);
    if (p != end) p = row_end(p, end, layout, Quoting::kPossible);
    if (p == end || p - chunk >= chunk_bytes) {
      chunks.emplace_back(chunk, p - chunk);
      chunk = p;
    }
  }
  return chunks;
}

struct ChunkCount {
  Index rows = 0;
  std::vector<RowLines::Skip> skips;  // counted from the chunk's first row
  Index leading_comments = 0;         // before the chunk's first row
  Index inner_comments = 0;

  void skip(Index lines) {
    if (lines == 0) return;
    const Index before = skips.empty() ? 0 : skips.back().lines;
    if (skips.empty() || skips.back().row != rows) skips.push_back({rows, 0});
    skips.back().lines = before + lines;
  }
};

ChunkCount count_rows(std::string_view chunk, const TextLayout& layout, Quoting quoting) {
  ChunkCount count;
  const char* const end = chunk.data() + chunk.size();
  for (const char* p = chunk.data();;) {
    TextLayout::Skipped skipped;
    p = layout.find_row(p, end, skipped);
    count.skip(skipped.lines);
    (count.rows == 0 ? count.leading_comments : count.inner_comments) += skipped.comments;
    if (p == end) return count;
    const char* const after = row_end(p, end, layout, quoting);
    ++count.rows;
    if (quoting == Quoting::kPossible) {
      count.skip(std::count(p, after - 1, '\n'));
    }
    p = after;
  }
}

}  // namespace

std::string unquote(std::string_view raw) {
  if (raw.size() < 2 || !raw.starts_with('"') || !raw.ends_with('"')) return std::string(raw);
  raw = raw.substr(1, raw.size() - 2);
  std::string content;
  content.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    content += raw[i];
    if (raw[i] == '"') ++i;
  }
  return content;
}

const char* TextLayout::find_row(const char* begin, const char* end, Skipped& skipped) const {
  while (begin != end) {
    const char* p = begin;
    while (p != end && is_padding(*p)) ++p;
    const bool is_blank = p == end || *p == '\n';
    if (!is_blank) {
      const bool is_comment = !comment.empty() && std::string_view(p, end - p).starts_with(comment);
      if (!is_comment) return begin;
      ++skipped.comments;
    }
    begin = next_line(p, end);
    ++skipped.lines;
  }
  return end;
}

const char* TextLayout::skip_spaces(const char* p, const char* end) const {
  if (delimiter != ' ') return p;
  const char* const field_end = p;
  while (p != end && is_padding(*p)) ++p;
  return p == end || *p == '\n' || p == field_end ? p : p - 1;
}

const char* TextLayout::scan_field(const char* begin, const char* end, RawField& field) const {
  const auto ends_field = [&](const char* p) { return p == end || is_delimiter(*p) || *p == '\n'; };
  const char* p = begin;
  while (p != end && is_padding(*p)) ++p;
  begin = p;
  field.fault = RawField::Fault::kNone;
  if (p != end && *p == '"') {
    for (++p;; ++p) {
      p = std::find(p, end, '"');
      if (p == end) {
        field = {{begin, end}, RawField::Fault::kOpenQuote};
        return end;
      }
      if (++p == end || *p != '"') break;
    }
    const char* const content_end = p;
    while (p != end && !is_delimiter(*p) && is_padding(*p)) ++p;
    if (ends_field(p)) {
      field.text = {begin, content_end};
      return skip_spaces(p, end);
    }
    field.fault = RawField::Fault::kTextAfterQuote;
  }
  while (!ends_field(p)) ++p;
  const char* text_end = p;
  while (text_end != begin && is_padding(text_end[-1])) --text_end;
  field.text = {begin, text_end};
  return skip_spaces(p, end);
}

const char* TextLayout::scan_row(const char* begin, const char* end, std::vector<RawField>& fields,
                                 Index most) const {
  fields.clear();
  RawField unkept;
  for (const char* p = begin;; ++p) {
    p = scan_field(p, end, std::ssize(fields) < most ? fields.emplace_back() : unkept);
    if (p == end) return end;
    if (*p == '\n') return p + 1;
  }
}

std::string_view first_rows_of(std::string_view text, const TextLayout& layout, Quoting quoting, Index rows) {
  if (rows == 0) return text;
  const char* const end = text.data() + text.size();
  const char* p = text.data();
  TextLayout::Skipped skipped;
  std::vector<RawField> unkept;
  for (Index row = 0; row < rows && p != end; ++row) {
    const char* const begin = layout.find_row(p, end, skipped);
    p = next_line(begin, end);
    const bool has_quotes = quoting == Quoting::kPossible &&
                            std::string_view(begin, p - begin).find('"') != std::string_view::npos;
    if (has_quotes) p = layout.scan_row(begin, end, unkept, 0);
  }
  return {text.data(), p};
}

Error no_such_row_error(const std::string& path, Index row, Index rows) {
  return {
      ErrorKind::kBadData,
      fmt::format("{}: row {} is asked for; the table has {} rows, counted from 1 (a header does not count)",
                  path, row, rows)};
}

TextRows only_row_of(const TextRows& rows, Index row, const TextLayout& layout, Quoting quoting,
                     const std::string& path) {
  if (row > rows.rows()) throw no_such_row_error(path, row, rows.rows());
  const auto after = std::ranges::upper_bound(rows.first_rows, row - 1);
  const auto chunk = static_cast<std::size_t>(after - rows.first_rows.begin() - 1);
  const char* const end = rows.chunks[chunk].data() + rows.chunks[chunk].size();
  TextLayout::Skipped skipped;
  const char* p = layout.find_row(rows.chunks[chunk].data(), end, skipped);
  for (Index before = rows.first_rows[chunk]; before + 1 < row; ++before)
    p = layout.find_row(row_end(p, end, layout, quoting), end, skipped);
  TextRows result{.chunks = {{p, row_end(p, end, layout, quoting)}}, .first_rows = {0, 1}, .lines = {}};
  result.lines.first_line = rows.lines.line_of_row(row - 1);
  return result;
}

std::string_view part_of(std::string_view text, const TextLayout& layout, Quoting quoting, Index bytes) {
  const char* const end = text.data() + text.size();
  if (std::ssize(text) <= bytes) return text;
  const std::string_view lines(text.data(), next_line(text.data() + bytes - 1, end));
  if (quoting == Quoting::kNone || lines.find('"') == std::string_view::npos) return lines;
  const char* p = text.data();
  TextLayout::Skipped skipped;
  while (p != end && p - text.data() < bytes) {
    p = layout.find_row(p, end, skipped);
    if (p != end) p = row_end(p, end, layout, quoting);
  }
  return {text.data(), p};
}

void TextRows::append(const TextRows& more) {
  append_lines(more.lines, rows(), lines);
  (rows() == 0 ? leading_comments : inner_comments) += more.leading_comments;
  inner_comments += more.inner_comments;
  chunks.insert(chunks.end(), more.chunks.begin(), more.chunks.end());
  const Index before = rows();
  first_rows.pop_back();
  for (const Index row : more.first_rows) first_rows.push_back(before + row);
}

RowLines lines_from(const RowLines& lines, Index row) {
  RowLines result;
  result.first_line = lines.line_of_row(row);
  const Index before = result.first_line - row - lines.first_line;
  for (const auto& [skip_row, skipped] : lines.skips) {
    if (skip_row > row) result.skips.push_back({skip_row - row, skipped - before});
  }
  return result;
}

void append_lines(const RowLines& more, Index rows, RowLines& lines) {
  if (rows == 0) lines.first_line = more.first_line;
  const Index before = more.first_line - rows - lines.first_line;
  if (before != (lines.skips.empty() ? 0 : lines.skips.back().lines)) lines.skips.push_back({rows, before});
  for (const auto& [row, skipped] : more.skips) lines.skips.push_back({rows + row, before + skipped});
}

TextRows locate_rows(std::string_view text, Index first_line, const TextLayout& layout, Quoting quoting,
                     Index chunk_bytes, ThreadPool& pool) {
  TextRows result;
  result.chunks = cut_at_lines(text, chunk_bytes);
  std::vector<ChunkCount> counts(result.chunks.size());
  std::atomic<bool> has_quotes{false};
  pool.run(std::ssize(counts), [&](Index i) {
    const std::string_view chunk = result.chunks[static_cast<std::size_t>(i)];
    if (quoting == Quoting::kPossible && chunk.find('"') != std::string_view::npos) has_quotes = true;
    if (!has_quotes) counts[static_cast<std::size_t>(i)] = count_rows(chunk, layout, Quoting::kNone);
  });
  if (has_quotes) {
    result.chunks = cut_at_rows(text, chunk_bytes, layout);
    counts.assign(result.chunks.size(), {});
    pool.run(std::ssize(counts), [&](Index i) {
      const auto chunk = static_cast<std::size_t>(i);
      counts[chunk] = count_rows(result.chunks[chunk], layout, quoting);
    });
  }

  result.lines.first_line = first_line;
  result.first_rows.clear();
  Index rows = 0;
  Index skipped = 0;
  for (const ChunkCount& count : counts) {
    result.first_rows.push_back(rows);
    (rows == 0 ? result.leading_comments : result.inner_comments) += count.leading_comments;
    result.inner_comments += count.inner_comments;
    for (const auto& [row, lines] : count.skips) result.lines.skips.push_back({rows + row, skipped + lines});
    if (!count.skips.empty()) skipped += count.skips.back().lines;
    rows += count.rows;
  }
  result.first_rows.push_back(rows);
  return result;
}

}  // namespace mfga
