// Splits rows off a table, and finds the line of a row: a split leaves rows that no longer follow one another
// in the file, so that their lines must be listed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/random.hpp"
#include "data/stored_rows.hpp"
#include "mfga/error.hpp"
#include "mfga/table.hpp"

namespace mfga {
namespace {

// Marks the `count` rows with the smallest random keys.
std::vector<bool> choose_rows(Index rows, Index count, std::uint64_t seed) {
  const CounterRandom random(seed, RandomStream::kSplit);
  std::vector<std::pair<double, Index>> keys;  // the row decides between equal keys
  keys.reserve(static_cast<std::size_t>(rows));
  for (Index row = 0; row < rows; ++row)
    keys.emplace_back(random.uniform(static_cast<std::uint64_t>(row)), row);
  std::ranges::nth_element(keys, keys.begin() + count);
  std::vector<bool> is_chosen(static_cast<std::size_t>(rows));
  for (Index i = 0; i < count; ++i) {
    is_chosen[static_cast<std::size_t>(keys[static_cast<std::size_t>(i)].second)] = true;
  }
  return is_chosen;
}

// Marks the rows of whole groups, in a random order, as long as there are no more than `count`.
std::vector<bool> choose_groups(std::span<const Index> groups, Index count, std::uint64_t seed) {
  std::vector<Index> sizes(static_cast<std::size_t>(std::ranges::max(groups)) + 1);
  for (const Index group : groups) ++sizes[static_cast<std::size_t>(group)];
  std::vector<bool> is_group_chosen(sizes.size());
  Index left = count;
  for (const Index group : random_rows(std::ssize(sizes), std::ssize(sizes), seed, RandomStream::kSplit)) {
    const auto place = static_cast<std::size_t>(group);
    if (sizes[place] > left) continue;
    is_group_chosen[place] = true;
    left -= sizes[place];
  }
  std::vector<bool> is_chosen;
  for (const Index group : groups) is_chosen.push_back(is_group_chosen[static_cast<std::size_t>(group)]);
  return is_chosen;
}

// The rows are chosen at random, or, without a seed, are the last ones.
Table split(Table& table, double fraction, std::optional<std::uint64_t> seed) {
  if (!(fraction > 0 && fraction < 1)) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("the fraction of rows to split off is {}; expected a number between 0 and 1", fraction));
  }
  const Index rows = table.rows();
  auto count = static_cast<Index>(std::floor(fraction * static_cast<double>(rows)));
  std::vector<bool> is_chosen;
  if (seed && !table.groups.empty()) {
    is_chosen = choose_groups(table.groups, count, *seed);
    count = std::ranges::count(is_chosen, true);
  }
  if (count == 0 || count == rows) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("a fraction of {} splits {} of {} rows off; expected at least one row on either side",
                    fraction, count, rows));
  }
  if (!seed) {
    is_chosen.assign(static_cast<std::size_t>(rows), false);
    std::fill(is_chosen.end() - count, is_chosen.end(), true);
  } else if (table.groups.empty()) {
    is_chosen = choose_rows(rows, count, *seed);
  }
  const bool has_weights = !table.weights.empty();

  Table part;
  part.source = table.source;
  part.columns = table.columns;
  part.text_columns = table.text_columns;
  part.missing_texts = table.missing_texts;
  part.target_name = table.target_name;
  part.target_names = table.target_names;
  part.labels = table.labels;
  part.unnamed_columns = table.unnamed_columns;
  const bool is_stored = table.stored != nullptr;
  part.values = Matrix::uninitialised(is_stored ? 0 : count, table.values.cols);
  std::vector<Index> chosen_rows;  // of a table that is on disk
  std::vector<Index> kept_rows;
  std::vector<Index> kept_lines;
  kept_lines.reserve(static_cast<std::size_t>(rows - count));
  Index taken = 0;
  Index kept = 0;
  for (Index row = 0; row < rows; ++row) {
    const auto source = static_cast<std::size_t>(row);
    const bool chosen = is_chosen[source];
    // Rows only move towards the begin, so that the ones that stay can be moved up in place.
    if (is_stored) {
      (chosen ? chosen_rows : kept_rows).push_back(row);
    } else {
      double* const destination = chosen ? part.values.row(taken++) : table.values.row(kept);
      if (destination != table.values.row(row))
        std::copy_n(table.values.row(row), table.values.cols, destination);
    }
    (chosen ? part.lines.listed : kept_lines).push_back(table.lines.line_of_row(row));
    if (has_weights && chosen) part.weights.push_back(table.weights[source]);
    if (has_weights && !chosen) table.weights[static_cast<std::size_t>(kept)] = table.weights[source];
    if (!table.groups.empty() && !chosen) table.groups[static_cast<std::size_t>(kept)] = table.groups[source];
    if (!chosen) ++kept;
  }
  if (is_stored) {
    part.stored = std::make_shared<const SomeRows>(table.stored, std::move(chosen_rows));
    table.stored = std::make_shared<const SomeRows>(table.stored, std::move(kept_rows));
  } else {
    table.values.rows = kept;
    table.values.values.resize(static_cast<std::size_t>(kept * table.values.cols));
  }
  if (!table.target.empty()) {
    std::vector<double> kept_targets;  // there may be several, one after the other
    for (std::size_t i = 0; i < table.target.size(); ++i)
      (is_chosen[i % static_cast<std::size_t>(rows)] ? part.target : kept_targets).push_back(table.target[i]);
    table.target = std::move(kept_targets);
  }
  if (has_weights) table.weights.resize(static_cast<std::size_t>(kept));
  if (!table.groups.empty()) table.groups.resize(static_cast<std::size_t>(kept));
  table.lines = {};
  table.lines.listed = std::move(kept_lines);
  return part;
}

}  // namespace

Index RowLines::line_of_row(Index row) const {
  if (!listed.empty()) return listed[static_cast<std::size_t>(row)];
  const auto next = std::ranges::upper_bound(skips, row, {}, &Skip::row);
  return first_line + row + (next == skips.begin() ? 0 : std::prev(next)->lines);
}

Table split_off(Table& table, double fraction, std::uint64_t seed) { return split(table, fraction, seed); }

Table split_last_off(Table& table, double fraction) { return split(table, fraction, std::nullopt); }

}  // namespace mfga
