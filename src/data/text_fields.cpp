// The result does not depend on how the file is divided into parts: lists of parts are united and sorted
// before anything is decided about them.
#include "data/text_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "data/date_text.hpp"
#include "data/number_text.hpp"
#include "data/table_reader.hpp"
#include "data/text_rows.hpp"

namespace mfga {
namespace {

constexpr std::uint16_t kUnknownLevel = std::numeric_limits<std::uint16_t>::max();
constexpr std::uint16_t kMissingText = kUnknownLevel - 1;  // where no known level is for these
// A text can stand in the file in two ways, with and without quotes.
constexpr std::size_t kMostListed = 2 * kMostLevels;
// Longer texts are no levels. Of each, so much is looked at that it is too long also without its quotes.
constexpr std::size_t kLongestLevel = 10'000;
constexpr std::size_t kMostLookedAt = 2 * kLongestLevel + 4;

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

// Of the texts those that few rows have.
std::vector<std::string> rare_levels(const FoundTexts& found, const std::set<std::string>& texts) {
  constexpr Index kEnough = 10;
  constexpr Index kRowsForOne = 100;
  std::vector<std::string> rare;
  for (const std::string& text : texts) {
    const auto counted = found.counts.find(text);
    const Index count = counted == found.counts.end() ? 0 : counted->second;
    if (count < kEnough && kRowsForOne * count < found.rows) rare.push_back(text);
  }
  return rare.size() > 1 ? rare : std::vector<std::string>();
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

TextFields::TextFields(const std::vector<TextRequest>& columns, const std::vector<Index>& first_rows,
                       MissingMarks marks)
    : marks_(std::move(marks)) {
  if (columns.empty()) return;
  for (const TextRequest& request : columns) {
    Column& column = columns_.emplace_back(Column{request, {}, {}});
    column.codes.resize(static_cast<std::size_t>(first_rows.back()));
    for (const std::string& level : request.levels)
      column.known.emplace(level, static_cast<std::uint16_t>(column.known.size()));
    if (!request.rare.empty()) {
      const std::uint16_t other = column.known.at(std::string(kOtherLevel));
      for (const std::string& text : request.rare) column.known.emplace(text, other);
    }
  }
  for (std::size_t i = 0; i + 1 < first_rows.size(); ++i)
    parts_.push_back({first_rows[i], first_rows[i + 1] - first_rows[i], std::vector<Texts>(columns.size())});
}

void TextFields::add(Part& part, Index i, Index row, std::string_view field) {
  Column& column = columns_[static_cast<std::size_t>(i)];
  if (column.known.empty()) field = field.substr(0, kMostLookedAt);
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
    // First as it is: a level may be a text that now stands for missing values.
    const std::string text = unquote(field);
    auto found = column.known.find(text);
    const bool is_missing = found == column.known.end() && marks_.has(text);
    if (is_missing) found = column.known.find(std::string(kMissingLevel));
    code = found != column.known.end() ? found->second : is_missing ? kMissingText : kUnknownLevel;
  }
  if (has_room) texts.codes.emplace(field, code);
}

std::vector<TextFields::Fields> TextFields::fields(Index i) const {
  std::vector<Fields> result;
  for (const Part& part : parts_) {
    const Texts& texts = part.texts[static_cast<std::size_t>(i)];
    result.push_back(
        {part.first_row,
         std::span(column(i).codes)
             .subspan(static_cast<std::size_t>(part.first_row), static_cast<std::size_t>(part.rows)),
         texts.listed, texts.is_full});
  }
  return result;
}

std::string_view TextFields::text_of_row(Index i, const Part& part, Index row) const {
  return part.texts[static_cast<std::size_t>(i)].listed[column(i).codes[static_cast<std::size_t>(row)]];
}

std::set<std::string> TextFields::first_texts(Index i, Index most_rows) const {
  std::set<std::string> texts;
  for (const Part& part : parts_) {
    const Index end = std::min(part.first_row + part.rows, most_rows);
    for (Index row = part.first_row; row < end; ++row) texts.insert(level_of(text_of_row(i, part, row)));
  }
  return texts;
}

std::string text_level(std::string_view raw, const MissingMarks& marks) {
  std::string text = unquote(raw);
  return marks.has(text) ? std::string(kMissingLevel) : text;
}

std::unordered_map<std::string, Index> TextFields::counts(Index i) const {
  std::unordered_map<std::string, Index> result;
  for (const Part& part : parts_) {
    const std::vector<std::string_view>& listed = part.texts[static_cast<std::size_t>(i)].listed;
    std::vector<Index> of_part(listed.size());
    for (Index row = part.first_row; row < part.first_row + part.rows; ++row)
      ++of_part[column(i).codes[static_cast<std::size_t>(row)]];
    for (std::size_t code = 0; code < listed.size(); ++code) result[level_of(listed[code])] += of_part[code];
  }
  return result;
}

FoundTexts TextFields::found_texts(Index i) const {
  FoundTexts found;
  found.rows = found.judged_rows = std::ssize(column(i).codes);
  for (const Part& part : parts_) {
    const Texts& texts = part.texts[static_cast<std::size_t>(i)];
    for (const std::string_view raw : texts.listed) {
      if (found.texts.size() <= kMostLevels) found.texts.insert(level_of(raw));
    }
    found.are_too_many = found.are_too_many || texts.is_full;
  }
  found.are_too_many = found.are_too_many || found.texts.size() > kMostLevels;
  if (found.are_too_many) {  // no part's list is full within so many rows
    found.judged_rows = std::min<Index>(found.rows, kMostLevels);
    found.texts = first_texts(i, found.judged_rows);
  } else {
    found.counts = counts(i);
  }
  // Parts of comments alone have no rows.
  for (const Part& part : parts_) {
    for (Index row = part.first_row; row < part.first_row + part.rows && found.first.empty(); ++row) {
      const std::string text = level_of(text_of_row(i, part, row));
      if (text == kMissingLevel) continue;
      found.first = text;
      found.first_row = row;
    }
    if (!found.first.empty()) break;
  }
  if (found.are_too_many || std::ranges::all_of(found.texts, is_utf8)) return found;
  for (const Part& part : parts_) {
    for (Index row = part.first_row; row < part.first_row + part.rows && found.not_utf8_row < 0; ++row) {
      if (!is_utf8(text_of_row(i, part, row))) found.not_utf8_row = row;
    }
  }
  return found;
}

TextFields::Levels TextFields::levels(Index i, const std::string& name, const Table& table,
                                      bool has_header) const {
  const TextRequest& request = column(i).request;
  if (!request.levels.empty()) return {request.levels, request.rare, {}};
  return levels_of(request, found_texts(i), name, table, has_header);
}

TextLevels levels_of(const TextRequest& request, const FoundTexts& found, const std::string& name,
                     const Table& table, bool has_header) {
  const auto error_at = [&](Index row, const std::string& text) {
    return data_error(table.source, table.lines.line_of_row(row), request.column + 1, text);
  };
  std::set<std::string> texts = found.texts;
  const bool has_missing = texts.erase(std::string(kMissingLevel)) > 0;
  const std::string first = quoted_for_message(found.first);
  const auto numbers = std::ranges::count_if(texts, is_number);
  if (!request.is_asked_for && 2 * numbers > std::ssize(texts)) {
    throw error_at(
        found.first_row,
        fmt::format(
            "found {} in column \"{}\"; expected a number, as most other values of the column are "
            "(correct the row or leave it out; read other decimal signs with `decimal`, or the column as "
            "text with `text={}`{})",
            first, name, name, has_header ? "" : ", or pass `header=yes` if this line holds names"));
  }
  // Too many texts are refused even where they are asked for.
  const std::string_view advice = found.are_too_many ? "" : " (`text` reads it all the same)";
  if (!request.is_asked_for && !texts.empty() && are_dates(texts))
    return {{}, {}, fmt::format("holds dates or times{}", advice)};
  if (!request.is_asked_for && are_identifiers(std::ssize(texts), found.judged_rows))
    return {{}, {}, fmt::format("has a text of its own in most rows, as an identifier has{}", advice)};
  if (found.are_too_many && request.is_asked_for) {
    throw error_at(
        found.first_row,
        fmt::format("column \"{0}\" is read as text, as `text` asks for, and holds more than {1} different "
                    "texts; it looks like an identifier: pass `ignore={0}` in place of `text={0}` (or, if "
                    "it is a column of numbers, leave `text={0}` out)",
                    name, kMostLevels));
  }
  if (found.are_too_many) {
    return {{},
            {},
            fmt::format("holds more than {} different texts, such as {}, too many for levels", kMostLevels,
                        first)};
  }
  if (std::ranges::any_of(texts, [](const std::string& text) { return text.size() > kLongestLevel; })) {
    if (request.is_asked_for) {
      throw error_at(
          found.first_row,
          fmt::format("column \"{0}\" is read as text, as `text` asks for, and holds texts of more "
                      "than {1} bytes, too long for levels: pass `ignore={0}` in place of `text={0}`",
                      name, kLongestLevel));
    }
    return {{},
            {},
            fmt::format("holds texts of more than {} bytes, such as {}, too long for levels", kLongestLevel,
                        first)};
  }
  if (found.not_utf8_row >= 0) {
    throw error_at(found.not_utf8_row,
                   fmt::format("the text in column \"{}\" is not UTF-8; convert the file, for example "
                               "with iconv -f latin1 -t utf-8",
                               name));
  }
  std::vector<std::string> rare = rare_levels(found, texts);
  for (const std::string& text : rare) texts.erase(text);
  if (texts.empty() && !has_missing && !rare.empty())
    return {{}, {}, "has no text that ten rows, or one in a hundred, have in common"};
  if (!rare.empty()) texts.emplace(kOtherLevel);
  if (has_missing) texts.emplace(kMissingLevel);
  return {{texts.begin(), texts.end()}, std::move(rare), {}};
}

Matrix TextFields::spread(const Matrix& numbers, const std::vector<Levels>& levels, const Destinations& to,
                          std::string_view path, ThreadPool& pool) const {
  Matrix result = allocate_matrix(path, numbers.rows, to.columns);
  pool.run(std::ssize(parts_), [&](Index p) {
    const Part& part = parts_[static_cast<std::size_t>(p)];
    // From the codes of this part to columns of the table.
    std::vector<std::vector<Index>> destinations(columns_.size());
    std::vector<Index> for_unknown(columns_.size(), -1);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (to.of_level[i].empty()) continue;
      if (!columns_[i].known.empty()) destinations[i] = to.of_level[i];
      for (const std::string_view raw : part.texts[i].listed) {
        std::string text = level_of(raw);
        if (std::ranges::binary_search(levels[i].rare, text)) text = kOtherLevel;
        const auto level = std::ranges::lower_bound(levels[i].texts, text) - levels[i].texts.begin();
        destinations[i].push_back(to.of_level[i][static_cast<std::size_t>(level)]);
      }
      if (!columns_[i].request.rare.empty())
        for_unknown[i] = to.of_level[i][columns_[i].known.at(std::string(kOtherLevel))];
    }
    for (Index row = part.first_row; row < part.first_row + part.rows; ++row) {
      double* const out = result.row(row);
      std::fill_n(out, to.columns, 0.0);
      for (std::size_t j = 0; j < to.of_number.size(); ++j)
        out[to.of_number[j]] = numbers(row, static_cast<Index>(j));
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        const std::uint16_t code = columns_[i].codes[static_cast<std::size_t>(row)];
        if (destinations[i].empty()) continue;
        if (code == kMissingText) {
          for (const Index place : destinations[i]) {
            if (place >= 0) out[place] = std::numeric_limits<double>::quiet_NaN();
          }
          continue;
        }
        const Index place = code == kUnknownLevel ? for_unknown[i] : destinations[i][code];
        if (place >= 0) out[place] = 1;
      }
    }
  });
  return result;
}

TextFields::Count TextFields::missing(Index i) const {
  const Column& own = column(i);
  Count result;
  for (const Part& part : parts_) {
    std::vector<bool> is_missing;  // by code
    for (const std::string_view raw : part.texts[static_cast<std::size_t>(i)].listed)
      is_missing.push_back(level_of(raw) == kMissingLevel);
    if (const auto level = own.known.find(std::string(kMissingLevel)); level != own.known.end()) {
      is_missing.resize(level->second + std::size_t{1});
      is_missing[level->second] = true;
    }
    for (Index row = part.first_row; row < part.first_row + part.rows; ++row) {
      const std::uint16_t code = own.codes[static_cast<std::size_t>(row)];
      if (code != kMissingText && !(code < is_missing.size() && is_missing[code])) continue;
      if (result.count++ == 0) result.first_row = row;
    }
  }
  return result;
}

TextFields::Count TextFields::unknown(Index i) const {
  const std::vector<std::uint16_t>& codes = column(i).codes;
  const auto first = std::ranges::find(codes, kUnknownLevel);
  if (first == codes.end()) return {};
  return {std::count(first, codes.end(), kUnknownLevel), first - codes.begin()};
}

}  // namespace mfga
