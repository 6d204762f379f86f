// The result does not depend on how the file is divided into parts: lists of parts are united and sorted
// before anything is decided about them.
#include "data/text_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "data/date_text.hpp"
#include "data/number_text.hpp"
#include "data/table_reader.hpp"
#include "data/text_rows.hpp"

namespace mfga {
namespace {

constexpr std::uint16_t kUnknownLevel = std::numeric_limits<std::uint16_t>::max();
// A text can stand in the file in two ways, with and without quotes.
constexpr std::size_t kMostListed = 2 * kMostLevels;

// In whatever way it is written.
bool is_number(std::string_view text) {
  constexpr std::array<NumberStyle, 5> kStyles = {
      {{}, {'.', true, false}, {',', true, false}, {'.', true, true}, {',', true, true}}};
  return std::ranges::any_of(kStyles, [&](const NumberStyle& style) {
    double value = 0;
    const FieldContent content = classify_field(text, style, value);
    return content == FieldContent::kFinite || content == FieldContent::kNotFinite;
  });
}

bool are_dates(const std::set<std::string>& texts) {
  return 10 * std::ranges::count_if(texts, looks_like_date) >= 9 * std::ssize(texts);
}

// Whether texts are so many that most rows have one of their own.
bool are_identifiers(Index texts, Index rows) {
  constexpr Index kFewest = 20;  // fewer are as likely levels of a small table
  return texts > kFewest && 2 * texts > rows;
}

}  // namespace

ColumnOrigin origin_of(Index column, std::span<const TextColumn> text_columns) {
  ColumnOrigin origin{column};
  for (const TextColumn& text : text_columns) {
    if (column < text.first) break;
    const Index level = column - text.first;
    if (level < text.count()) {
      origin.predictor -= level;
      origin.text = &text;
      origin.level = text.levels[static_cast<std::size_t>(level)];
      break;
    }
    origin.predictor -= text.count() - 1;
  }
  return origin;
}

Index predictor_count(Index columns, std::span<const TextColumn> text_columns) {
  for (const TextColumn& text : text_columns) columns -= text.count() - 1;
  return columns;
}

std::string level_name(const std::string& column, const std::string& level) { return column + "=" + level; }

TextFields::TextFields(const std::vector<TextRequest>& columns, const std::vector<Index>& first_rows) {
  if (columns.empty()) return;
  for (const TextRequest& request : columns) {
    Column& column = columns_.emplace_back(Column{request, {}, {}});
    column.codes.resize(static_cast<std::size_t>(first_rows.back()));
    for (const std::string& level : request.levels)
      column.known.emplace(level, static_cast<std::uint16_t>(column.known.size()));
  }
  for (std::size_t i = 0; i + 1 < first_rows.size(); ++i)
    parts_.push_back({first_rows[i], first_rows[i + 1] - first_rows[i], std::vector<Texts>(columns.size())});
}

void TextFields::add(Part& part, Index i, Index row, std::string_view field) {
  Column& column = columns_[static_cast<std::size_t>(i)];
  Texts& texts = part.texts[static_cast<std::size_t>(i)];
  std::uint16_t& code = column.codes[static_cast<std::size_t>(row)];
  if (const auto found = texts.codes.find(field); found != texts.codes.end()) {
    code = found->second;
    return;
  }
  const bool has_room = texts.codes.size() < kMostListed;
  if (column.known.empty()) {
    texts.is_full = !has_room;
    code = has_room ? static_cast<std::uint16_t>(texts.listed.size()) : kUnknownLevel;
    if (has_room) texts.listed.push_back(field);
  } else {
    const auto found = column.known.find(unquote(field));
    code = found == column.known.end() ? kUnknownLevel : found->second;
  }
  if (has_room) texts.codes.emplace(field, code);
}

std::string_view TextFields::text_of_row(Index i, const Part& part, Index row) const {
  return part.texts[static_cast<std::size_t>(i)].listed[column(i).codes[static_cast<std::size_t>(row)]];
}

std::set<std::string> TextFields::first_texts(Index i, Index most_rows) const {
  std::set<std::string> texts;
  for (const Part& part : parts_) {
    const Index end = std::min(part.first_row + part.rows, most_rows);
    for (Index row = part.first_row; row < end; ++row) texts.insert(unquote(text_of_row(i, part, row)));
  }
  return texts;
}

TextFields::Levels TextFields::levels(Index i, const std::string& name, const Table& table,
                                      bool has_header) const {
  const TextRequest& request = column(i).request;
  if (!request.levels.empty()) return {request.levels, {}};
  std::set<std::string> found;
  bool too_many = false;
  for (const Part& part : parts_) {
    const Texts& texts = part.texts[static_cast<std::size_t>(i)];
    for (const std::string_view raw : texts.listed) {
      if (found.size() <= kMostLevels) found.insert(unquote(raw));
    }
    too_many = too_many || texts.is_full;
  }
  too_many = too_many || found.size() > kMostLevels;
  Index judged_rows = std::ssize(column(i).codes);
  if (too_many) {  // no part's list is full within so many rows
    judged_rows = std::min<Index>(judged_rows, kMostLevels);
    found = first_texts(i, judged_rows);
  }
  const auto error_at = [&](Index row, const std::string& text) {
    return data_error(table.source, table.lines.line_of_row(row), request.column + 1, text);
  };
  // Parts of comments alone have no rows.
  const Part& first_part = *std::ranges::find_if(parts_, [](const Part& part) { return part.rows > 0; });
  const std::string first = quoted_for_message(unquote(text_of_row(i, first_part, 0)));
  const auto numbers = std::ranges::count_if(found, is_number);
  if (!request.is_asked_for && 2 * numbers > std::ssize(found)) {
    throw error_at(
        0, fmt::format(
               "found {} in column \"{}\"; expected a number, as most other values of the column are "
               "(correct the row or leave it out; read other decimal signs with `decimal`, or the column as "
               "text with `text={}`{})",
               first, name, name, has_header ? "" : ", or pass `header=yes` if this line holds names"));
  }
  // Too many texts are refused even where they are asked for.
  const std::string_view advice = too_many ? "" : " (`text` reads it all the same)";
  if (!request.is_asked_for && are_dates(found)) return {{}, fmt::format("holds dates or times{}", advice)};
  if (!request.is_asked_for && are_identifiers(std::ssize(found), judged_rows))
    return {{}, fmt::format("has a text of its own in most rows, as an identifier has{}", advice)};
  if (too_many && request.is_asked_for) {
    throw error_at(
        0,
        fmt::format("column \"{0}\" is read as text, as `text` asks for, and holds more than {1} different "
                    "texts; it looks like an identifier: pass `ignore={0}` in place of `text={0}` (or, if "
                    "it is a column of numbers, leave `text={0}` out)",
                    name, kMostLevels));
  }
  if (too_many) {
    throw error_at(
        0, fmt::format("column \"{}\" is read as text, for it begins with {}, and holds more than {} "
                       "different texts; it looks like an identifier: leave it out with `ignore={}` (or, if "
                       "it is a column of numbers, correct this row)",
                       name, first, kMostLevels, name));
  }
  if (std::ranges::all_of(found, is_utf8)) return {{found.begin(), found.end()}, {}};
  for (const Part& part : parts_) {
    for (Index row = part.first_row; row < part.first_row + part.rows; ++row) {
      if (is_utf8(text_of_row(i, part, row))) continue;
      throw error_at(row, fmt::format("the text in column \"{}\" is not UTF-8; convert the file, for example "
                                      "with iconv -f latin1 -t utf-8",
                                      name));
    }
  }
  return {};
}

Matrix TextFields::spread(const Matrix& numbers, const std::vector<std::vector<std::string>>& levels,
                          const Destinations& to, std::string_view path, ThreadPool& pool) const {
  Matrix result = allocate_matrix(path, numbers.rows, to.columns);
  pool.run(std::ssize(parts_), [&](Index p) {
    const Part& part = parts_[static_cast<std::size_t>(p)];
    // From the codes of this part to columns of the table.
    std::vector<std::vector<Index>> destinations(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (to.of_level[i].empty()) continue;
      if (!columns_[i].known.empty()) destinations[i] = to.of_level[i];
      for (const std::string_view raw : part.texts[i].listed) {
        const auto level = std::ranges::lower_bound(levels[i], unquote(raw)) - levels[i].begin();
        destinations[i].push_back(to.of_level[i][static_cast<std::size_t>(level)]);
      }
    }
    for (Index row = part.first_row; row < part.first_row + part.rows; ++row) {
      double* const out = result.row(row);
      std::fill_n(out, to.columns, 0.0);
      for (std::size_t j = 0; j < to.of_number.size(); ++j)
        out[to.of_number[j]] = numbers(row, static_cast<Index>(j));
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        const std::uint16_t code = columns_[i].codes[static_cast<std::size_t>(row)];
        if (code != kUnknownLevel && !destinations[i].empty()) out[destinations[i][code]] = 1;
      }
    }
  });
  return result;
}

TextFields::Unknown TextFields::unknown(Index i) const {
  const std::vector<std::uint16_t>& codes = column(i).codes;
  const auto first = std::ranges::find(codes, kUnknownLevel);
  if (first == codes.end()) return {};
  return {std::count(first, codes.end(), kUnknownLevel), first - codes.begin()};
}

}  // namespace mfga
