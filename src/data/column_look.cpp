// A first row is data unless something speaks for names: only what no row of data has is taken for a header.
#include "data/column_look.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <unordered_set>

namespace mfga {
namespace {

std::string content_of(const RawField& field) { return std::string(trim(unquote(field.text))); }

bool is_plain_number(std::string_view text) {
  double value = 0;
  const FieldContent content = classify_field(text, value);
  return content == FieldContent::kFinite || content == FieldContent::kNotFinite;
}

// Texts that stand for a missing value say nothing about names.
bool is_missing_mark(std::string_view text) {
  constexpr std::array<std::string_view, 10> kMarks = {"na", "n/a", "null", "none", "?",
                                                       "-",  ".",   "--",   "..",   "missing"};
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::ranges::find(kMarks, lower) != kMarks.end();
}

bool is_position(const std::string& name, std::size_t columns) {
  Index position = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, code] = std::from_chars(name.data(), end, position);
  const auto count = static_cast<Index>(columns);
  return stop == end && code == std::errc() && position >= -count && position < count;
}

bool holds_names(const std::vector<RawField>& first, const std::vector<std::string>& names) {
  std::unordered_set<std::string> fields;
  for (const RawField& field : first) {
    if (!fields.insert(content_of(field)).second) return false;  // names differ
  }
  const bool says_something =
      std::ranges::any_of(names, [&](const std::string& name) { return !is_position(name, first.size()); });
  return says_something &&
         std::ranges::all_of(names, [&](const std::string& name) { return fields.contains(name); });
}

}  // namespace

void ColumnLook::add(std::string_view field) {
  field = trim(field);
  if (field.empty()) return;
  if (values == 0) first = field;
  ++values;
  const bool plain = is_plain_number(field);
  is_plain = is_plain && plain;
  if (plain && field.find('.') == std::string_view::npos) {  // the most frequent kinds first
    lacks_percent = true;
    return;
  }
  is_whole = false;
  has_comma = has_comma || field.find(',') != std::string_view::npos;
  const bool percent = field.ends_with('%');
  (percent ? has_percent : lacks_percent) = true;
  double value = 0;
  const auto is_number = [&](char decimal) {
    return classify_field(field, {decimal, true, percent}, value) == FieldContent::kFinite;
  };
  if (!plain && fits_point) fits_point = is_number('.');
  if (fits_comma) fits_comma = is_number(',');
}

bool counts_up(const std::vector<RawField>& fields) {
  constexpr Index kFewest = 3;
  Index count = 0;
  double previous = 0;
  for (const RawField& field : fields) {
    double value = 0;
    if (classify_field(unquote(field.text), value) != FieldContent::kFinite) continue;
    if (count > 0 ? value != previous + 1 : value != std::floor(value)) return false;
    previous = value;
    ++count;
  }
  return count >= kFewest;
}

SampledRows sample_rows(const char* begin, const char* end, const TextLayout& layout, std::size_t columns,
                        const MissingMarks& marks) {
  constexpr int kMostRows = 1000;
  constexpr std::ptrdiff_t kMostBytes = std::ptrdiff_t{1} << 18;
  SampledRows sample;
  sample.columns.resize(columns);
  std::vector<RawField> fields;
  std::unordered_set<double> firsts;
  TextLayout::Skipped skipped;
  const char* p = begin;
  for (int row = 0; row < kMostRows && p - begin < kMostBytes; ++row) {
    p = layout.find_row(p, end, skipped);
    if (p == end) break;
    p = layout.scan_row(p, end, fields, static_cast<Index>(columns));
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string quoted = fields[i].is_quoted() ? unquote(fields[i].text) : std::string();
      const std::string_view field = fields[i].is_quoted() ? std::string_view(quoted) : fields[i].text;
      if (!marks.has(field)) sample.columns[i].add(field);
    }
    sample.has_counting_row = sample.has_counting_row || counts_up(fields);
    double first = 0;
    sample.first_column_counts =
        sample.first_column_counts &&
        classify_field(unquote(fields.front().text), first) == FieldContent::kFinite &&
        first == std::floor(first) && firsts.insert(first).second;
  }
  return sample;
}

HeaderDecision decide_header(const std::vector<RawField>& first, const SampledRows& below,
                             const std::vector<std::string>& names) {
  if (holds_names(first, names))
    return {true, fmt::format("the first line has the name {}", quoted_for_message(names.front()))};
  bool has_number = false;
  bool has_fractions_below = false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::string field = content_of(first[i]);
    ColumnLook look;
    look.add(field);
    if (look.values == 0) continue;
    has_number = has_number || look.is_number();
    if (!look.is_number() && below.columns[i].is_number() && !is_missing_mark(field))
      return {true, fmt::format("the first line has {} over numbers", quoted_for_message(field))};
    if (look.is_number()) has_fractions_below = has_fractions_below || !below.columns[i].is_whole;
  }
  if (!has_number) return {true, "the first line has no number"};
  // Positions or years as names. Few whole numbers over whole numbers may be a row that happens to count up.
  constexpr std::size_t kManyColumns = 8;
  const bool is_clear = has_fractions_below || first.size() >= kManyColumns;
  if (is_clear && counts_up(first) && !below.has_counting_row)
    return {true, "the first line counts up by one, as no other does"};
  return {false, "the first line has numbers, as the others have"};
}

}  // namespace mfga
