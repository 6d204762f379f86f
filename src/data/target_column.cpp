// Numbers are tried in parallel. Labels, where some field is no number, are collected by one thread: they are
// few, and their order must be that of the texts and not of the rows.
#include "data/target_column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>

#include "core/rank_messages.hpp"
#include "data/number_text.hpp"
#include "data/table_reader.hpp"
#include "data/text_rows.hpp"

namespace mfga {
namespace {

constexpr Index kRowsPerTask = 16384;

// Above this share of numbers a text is an error in the data and not a label.
constexpr double kNumericShare = 0.9;

struct Tally {
  Index numbers = 0;
  Index first_text = -1;
  Index first_not_finite = -1;
};

FieldContent classify_raw(std::string_view field, const NumberStyle& style, double& value) {
  return field.starts_with('"') ? classify_field(unquote(field), style, value)
                                : classify_field(field, style, value);
}

Tally convert_numbers(const std::vector<std::string_view>& fields, const NumberStyle& style, ThreadPool& pool,
                      std::vector<double>& target) {
  const Index rows = std::ssize(fields);
  std::vector<Tally> tallies(static_cast<std::size_t>((rows + kRowsPerTask - 1) / kRowsPerTask));
  pool.run(std::ssize(tallies), [&](Index task) {
    Tally& tally = tallies[static_cast<std::size_t>(task)];
    const Index last = std::min(rows, (task + 1) * kRowsPerTask);
    for (Index row = task * kRowsPerTask; row < last; ++row) {
      const auto i = static_cast<std::size_t>(row);
      const FieldContent content = classify_raw(fields[i], style, target[i]);
      const bool is_number = content == FieldContent::kFinite || content == FieldContent::kNotFinite;
      if (is_number) ++tally.numbers;
      if (!is_number && tally.first_text < 0) tally.first_text = row;
      if (content == FieldContent::kNotFinite && tally.first_not_finite < 0) tally.first_not_finite = row;
    }
  });
  Tally all;
  for (const Tally& tally : tallies) {
    all.numbers += tally.numbers;
    if (all.first_text < 0) all.first_text = tally.first_text;
    if (all.first_not_finite < 0) all.first_not_finite = tally.first_not_finite;
  }
  return all;
}

void convert_labels(const std::vector<std::string_view>& fields, Table& table) {
  // By raw text first, so that each distinct one is unquoted once.
  std::unordered_map<std::string_view, double> positions;
  for (const std::string_view field : fields) positions.emplace(field, 0);
  for (const auto& [raw, position] : positions) table.labels.push_back(unquote(raw));
  std::ranges::sort(table.labels);
  table.labels.erase(std::unique(table.labels.begin(), table.labels.end()), table.labels.end());
  for (auto& [raw, position] : positions) {
    position =
        static_cast<double>(std::ranges::lower_bound(table.labels, unquote(raw)) - table.labels.begin());
  }
  for (std::size_t i = 0; i < fields.size(); ++i) table.target[i] = positions.find(fields[i])->second;
}

Error target_error(std::string_view path, Index line, Index column, std::string_view raw,
                   std::string_view name, std::string_view expected) {
  return data_error(
      path, line, column + 1,
      fmt::format("found {} in the target \"{}\"; {}", quoted_for_message(unquote(raw)), name, expected));
}

constexpr std::string_view kMissingAdvice =
    "that stands for a missing value; leave the row out, for there is nothing to learn from it "
    "(`missing=error` takes such a text for a label)";
constexpr std::string_view kFiniteAdvice = "expected a finite number (leave the row out)";

std::string number_advice(Index numbers, Index rows) {
  return fmt::format(
      "expected a number, as in {} of {} rows (correct the row or leave it out; a target "
      "of labels must have text in more rows)",
      numbers, rows);
}

Error not_utf8_error(std::string_view path, Index line, Index column, std::string_view name) {
  return data_error(path, line, column + 1,
                    fmt::format("the label in the target \"{}\" is not UTF-8; convert the file, for "
                                "example with iconv -f latin1 -t utf-8",
                                name));
}

// The first row whose target is missing, or the number of rows.
Index first_missing(const std::vector<std::string_view>& fields, std::span<const double> numbers,
                    const MissingMarks& marks) {
  if (!marks.are_allowed()) return std::ssize(fields);
  const auto missing = std::ranges::find_if(fields, [&](std::string_view field) {
    return field.starts_with('"') ? marks.has(unquote(field)) : marks.has(field);
  });
  if (missing != fields.end()) return missing - fields.begin();
  // A number may be written in another way than it was named.
  return std::ranges::find_if(numbers, [&](double value) { return marks.has_number(value); }) -
         numbers.begin();
}

// What decides whether a target is one of numbers or of labels.
struct Fields {
  Index rows = 0;
  Index numbers = 0;
  Index texts = 0;  // not 0: there are some

  [[nodiscard]] bool are_labels() const {
    return texts > 0 && static_cast<double>(numbers) <= kNumericShare * static_cast<double>(rows);
  }
};

Fields of_all(const Fields& own, Communicator* ranks) {
  if (ranks == nullptr) return own;
  Fields all;
  for (const Fields& theirs :
       joined_numbers<Fields>(said_within_agreed(*ranks, bytes_of(std::span(&own, 1))))) {
    all.rows += theirs.rows;
    all.numbers += theirs.numbers;
    all.texts += theirs.texts;
  }
  return all;
}

}  // namespace

void convert_target(const std::vector<std::string_view>& fields, Index column, const NumberStyle& style,
                    const MissingMarks& marks, ThreadPool& pool, Table& table, Communicator* ranks) {
  table.target.resize(fields.size());
  const Tally tally = convert_numbers(fields, style, pool, table.target);
  const auto error_at = [&](Index row, std::string_view expected) {
    return target_error(table.source, table.lines.line_of_row(row), column,
                        fields[static_cast<std::size_t>(row)], table.target_name, expected);
  };
  const Index rows = std::ssize(fields);
  if (const Index row = first_missing(fields, table.target, marks); row < rows)
    throw error_at(row, kMissingAdvice);
  const Fields all = of_all({rows, tally.numbers, tally.first_text >= 0 ? 1 : 0}, ranks);
  if (all.are_labels()) {
    const auto not_utf8 = std::ranges::find_if_not(fields, is_utf8);
    if (not_utf8 != fields.end()) {
      throw not_utf8_error(table.source, table.lines.line_of_row(not_utf8 - fields.begin()), column,
                           table.target_name);
    }
    convert_labels(fields, table);
    return;
  }
  const bool text_comes_first =
      tally.first_text >= 0 && (tally.first_not_finite < 0 || tally.first_text < tally.first_not_finite);
  if (text_comes_first) {
    throw error_at(tally.first_text, number_advice(all.numbers, all.rows));
  }
  if (tally.first_not_finite >= 0) throw error_at(tally.first_not_finite, kFiniteAdvice);
}

Error TargetCollector::error_at(const Place& place, std::string_view expected) const {
  return target_error(place.path, place.line, column_, place.text, name_, expected);
}

void TargetCollector::add(const std::vector<std::string_view>& fields, const std::string& path,
                          const RowLines& lines, ThreadPool& pool) {
  constexpr std::size_t kMostTexts = 100'000;
  const auto place_of = [&](Index row) {
    if (row < 0) return Place();
    return Place{row + std::ssize(target_), path, lines.line_of_row(row),
                 std::string(fields[static_cast<std::size_t>(row)])};
  };
  std::vector<double> numbers(fields.size());
  const Tally tally = convert_numbers(fields, style_, pool, numbers);
  const Index missing = first_missing(fields, numbers, marks_);
  if (first_missing_.row < 0 && missing < std::ssize(fields)) first_missing_ = place_of(missing);
  numbers_ += tally.numbers;
  if (first_text_.row < 0) first_text_ = place_of(tally.first_text);
  if (first_not_finite_.row < 0) first_not_finite_ = place_of(tally.first_not_finite);
  for (std::size_t row = 0; row < fields.size() && !are_too_many_; ++row) {
    auto found = texts_.find(fields[row]);
    if (found == texts_.end()) {
      found = texts_.emplace(std::string(fields[row]), static_cast<std::uint32_t>(texts_.size())).first;
      if (not_utf8_.row < 0 && !is_utf8(fields[row])) not_utf8_ = place_of(static_cast<Index>(row));
      are_too_many_ = texts_.size() > kMostTexts;
    }
    codes_.push_back(found->second);
  }
  target_.insert(target_.end(), numbers.begin(), numbers.end());
  if (are_too_many_) {
    texts_ = {};
    codes_ = {};
  }
}

void TargetCollector::finish(Table& table, Communicator* ranks) {
  const Index rows = std::ssize(target_);
  if (first_missing_.row >= 0) throw error_at(first_missing_, kMissingAdvice);
  const Fields all = of_all({rows, numbers_, first_text_.row >= 0 ? 1 : 0}, ranks);
  if (all.are_labels()) {
    if (are_too_many_) {
      constexpr std::string_view kTooMany =
          "the target has more different texts than a table that is kept on disk may have";
      if (first_text_.row >= 0) throw error_at(first_text_, kTooMany);
      throw Error(ErrorKind::kBadData, fmt::format("{}: {}", table.source, kTooMany));
    }
    if (not_utf8_.row >= 0) throw not_utf8_error(not_utf8_.path, not_utf8_.line, column_, name_);
    for (const auto& [raw, code] : texts_) table.labels.push_back(unquote(raw));
    std::ranges::sort(table.labels);
    table.labels.erase(std::unique(table.labels.begin(), table.labels.end()), table.labels.end());
    std::vector<double> positions(texts_.size());
    for (const auto& [raw, code] : texts_)
      positions[code] =
          static_cast<double>(std::ranges::lower_bound(table.labels, unquote(raw)) - table.labels.begin());
    for (std::size_t n = 0; n < target_.size(); ++n) target_[n] = positions[codes_[n]];
  } else {
    const bool text_comes_first =
        first_text_.row >= 0 && (first_not_finite_.row < 0 || first_text_.row < first_not_finite_.row);
    if (text_comes_first) throw error_at(first_text_, number_advice(all.numbers, all.rows));
    if (first_not_finite_.row >= 0) throw error_at(first_not_finite_, kFiniteAdvice);
  }
  table.target = std::move(target_);
}

}  // namespace mfga
