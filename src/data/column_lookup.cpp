// A name is looked for before an index, for a header may name columns by numbers. Suggestions go by edit
// distance without regard to case.
#include "data/column_lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "data/number_text.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

std::optional<Index> parse_index(std::string_view text) {
  Index index = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, index);
  if (text.empty() || stop != end || code != std::errc()) return std::nullopt;
  return index;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string list_names(const std::vector<std::string>& columns) {
  constexpr std::size_t kMostNames = 10;
  const auto shown = std::span(columns).first(std::min(columns.size(), kMostNames));
  std::string list = fmt::format("{}", fmt::join(shown, ", "));
  if (shown.size() < columns.size()) list += fmt::format(", ... ({} in all)", columns.size());
  return list;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Row i of the usual table holds the distances of a's first i characters to the beginnings of b.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), above[j] + 1, row[j - 1] + 1});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest_name(const std::vector<std::string>& names, std::string_view name) {
  constexpr std::size_t kMostNames = 10'000;  // beyond that it would take long to compare
  std::string nearest;
  std::size_t smallest = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : std::span(names).first(std::min(names.size(), kMostNames))) {
    const std::size_t distance = edit_distance(lower_case(candidate), lower_case(name));
    if (distance < smallest) {
      smallest = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

Index find_column(const std::vector<std::string>& columns, std::string_view name_or_index,
                  std::string_view option, std::string_view path) {
  const auto named = std::ranges::find(columns, name_or_index);
  if (named != columns.end()) return named - columns.begin();
  const Index count = std::ssize(columns);
  if (const std::optional<Index> index = parse_index(name_or_index)) {
    if (*index >= -count && *index < count) return *index < 0 ? *index + count : *index;
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("{}: {} is no column of {}; expected an index from {} to {}, or one of the names {}",
                    option, *index, path, -count, count - 1, list_names(columns)));
  }
  const std::string nearest = nearest_name(columns, name_or_index);
  const std::string suggestion = nearest.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", nearest);
  throw Error(ErrorKind::kInvalidArgument,
              fmt::format("{}: {} has no column {}{}; its columns are {}", option, path,
                          quoted_for_message(name_or_index), suggestion, list_names(columns)));
}

}  // namespace mfga
