// Numbers are tried in parallel. Labels, where some field is no number, are collected by one thread: they are
// few, and their order must be that of the texts and not of the rows.
#include "data/target_column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>

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

}  // namespace

void convert_target(const std::vector<std::string_view>& fields, Index column, const NumberStyle& style,
                    const MissingMarks& marks, ThreadPool& pool, Table& table) {
  table.target.resize(fields.size());
  const Tally tally = convert_numbers(fields, style, pool, table.target);
  const auto error_at = [&](Index row, std::string_view expected) {
    return data_error(table.source, table.lines.line_of_row(row), column + 1,
                      fmt::format("found {} in the target \"{}\"; {}",
                                  quoted_for_message(unquote(fields[static_cast<std::size_t>(row)])),
                                  table.target_name, expected));
  };
  if (marks.are_allowed()) {
    const auto missing = std::ranges::find_if(fields, [&](std::string_view field) {
      return field.starts_with('"') ? marks.has(unquote(field)) : marks.has(field);
    });
    auto row = missing - fields.begin();
    if (missing == fields.end()) {  // a number may be written in another way than it was named
      row = std::ranges::find_if(table.target, [&](double value) { return marks.has_number(value); }) -
            table.target.begin();
    }
    if (row != std::ssize(fields)) {
      throw error_at(
          row,
          "that stands for a missing value; leave the row out, for there is nothing to learn from it "
          "(`missing=error` takes such a text for a label)");
    }
  }
  const Index rows = std::ssize(fields);
  const bool is_text = static_cast<double>(tally.numbers) <= kNumericShare * static_cast<double>(rows);
  if (tally.first_text >= 0 && is_text) {
    const auto not_utf8 = std::ranges::find_if_not(fields, is_utf8);
    if (not_utf8 != fields.end()) {
      throw data_error(table.source, table.lines.line_of_row(not_utf8 - fields.begin()), column + 1,
                       fmt::format("the label in the target \"{}\" is not UTF-8; convert the file, for "
                                   "example with iconv -f latin1 -t utf-8",
                                   table.target_name));
    }
    convert_labels(fields, table);
    return;
  }
  const bool text_comes_first =
      tally.first_text >= 0 && (tally.first_not_finite < 0 || tally.first_text < tally.first_not_finite);
  if (text_comes_first) {
    throw error_at(
        tally.first_text,
        fmt::format("expected a number, as in {} of {} rows (correct the row or leave it out; a target "
                    "of labels must have text in more rows)",
                    tally.numbers, rows));
  }
  if (tally.first_not_finite >= 0) {
    throw error_at(tally.first_not_finite, "expected a finite number (leave the row out)");
  }
}

}  // namespace mfga
