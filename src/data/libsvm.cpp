// The file is read twice: once for the largest index, for only then are the columns known, and once for the
// values. What is wrong with a pair is reported by the second reading alone.
#include "data/libsvm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "data/number_text.hpp"
#include "data/target_column.hpp"

namespace mfga {
namespace {

constexpr Index kLargestIndex = std::numeric_limits<std::int32_t>::max();

constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Takes the next word, up to white space, off the line; empty at its end.
std::string_view take_word(std::string_view& line) {
  std::size_t begin = 0;
  while (begin < line.size() && is_space(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && !is_space(line[end])) ++end;
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

std::string_view without_comment(std::string_view line) { return line.substr(0, line.find('#')); }

struct Pair {
  Index index = -1;  // -1: what stands before the colon is no index
  std::string_view value;
};

Pair split_pair(std::string_view word) {
  const std::size_t colon = word.find(':');
  Pair pair;
  if (colon == std::string_view::npos) return pair;
  const char* const end = word.data() + colon;
  Index index = 0;
  const auto [stop, code] = std::from_chars(word.data(), end, index);
  if (stop == end && code == std::errc() && index >= 0 && index <= kLargestIndex) pair.index = index;
  pair.value = word.substr(colon + 1);
  return pair;
}

// Visits the lines of a chunk that hold rows.
template <typename Visit>
void for_each_row(std::string_view chunk, const TextLayout& layout, const Visit& visit) {
  const char* const end = chunk.data() + chunk.size();
  Index skipped = 0;
  for (const char* p = layout.find_row(chunk.data(), end, skipped); p != end;
       p = layout.find_row(p, end, skipped)) {
    const char* const newline = line_end(p, end);
    visit(without_comment({p, newline}));
    p = newline == end ? end : newline + 1;
  }
}

Index largest_index(const TextRows& rows, const TextLayout& layout, ThreadPool& pool) {
  std::vector<Index> largest(rows.chunks.size());
  pool.run(std::ssize(largest), [&](Index i) {
    const auto chunk = static_cast<std::size_t>(i);
    for_each_row(rows.chunks[chunk], layout, [&](std::string_view line) {
      take_word(line);
      // Words that are no pair are left to the reading to complain about.
      for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
        largest[chunk] = std::max(largest[chunk], split_pair(word).index);
      }
    });
  });
  return largest.empty() ? 0 : *std::ranges::max_element(largest);
}

}  // namespace

bool looks_like_libsvm(std::string_view line) {
  line = without_comment(line);
  take_word(line);
  const Pair pair = split_pair(take_word(line));
  double value = 0;
  return pair.index >= 0 && classify_field(pair.value, value) != FieldContent::kText;
}

LibsvmReader::LibsvmReader(std::string path, std::string_view text, const ReadOptions& options)
    : path_(std::move(path)), text_(text), layout_{' ', options.comment}, chunk_bytes_(options.chunk_bytes) {
  ThreadPool pool(options.threads);
  const TextRows rows = locate_rows(text_, 1, layout_, Quoting::kNone, chunk_bytes_, pool);
  Index features = options.n_features;
  if (features == 0) {
    features = largest_index(rows, layout_, pool);
    if (features == 0) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("{}: no line has an index:value pair; expected LIBSVM rows (pass --n-features if all "
                      "features are 0)",
                      path_));
    }
  }
  // A wrong index can ask for any amount of memory: find out before the columns are named.
  constexpr Index kNameSize = 8;  // about what a name takes, in numbers
  check_memory(path_, rows.rows() + kNameSize, features);
  std::vector<std::string> names = numbered_columns(features + 1);
  names[0] = "label";
  set_columns(std::move(names));
}

void LibsvmReader::read(const ColumnPlan& plan, ThreadPool& pool, Table& table) const {
  TextRows rows = locate_rows(text_, 1, layout_, Quoting::kNone, chunk_bytes_, pool);
  if (rows.rows() == 0) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format("{}: has no rows: every line is blank or a comment; expected LIBSVM rows", path_));
  }
  table.lines = std::move(rows.lines);
  table.values = allocate_matrix(path_, rows.rows(), plan.predictors);
  std::vector<std::string_view> target_fields(static_cast<std::size_t>(plan.has_target() ? rows.rows() : 0),
                                              "0");
  pool.run(std::ssize(rows.chunks), [&](Index i) {
    const auto chunk = static_cast<std::size_t>(i);
    Index row = rows.first_rows[chunk];
    std::string_view unused_target;
    for_each_row(rows.chunks[chunk], layout_, [&](std::string_view line) {
      std::string_view& target =
          plan.has_target() ? target_fields[static_cast<std::size_t>(row)] : unused_target;
      parse_row(line, plan, row, table, target);
      ++row;
    });
  });
  if (plan.has_target()) convert_target(target_fields, plan.target, pool, table);
}

void LibsvmReader::parse_row(std::string_view line, const ColumnPlan& plan, Index row, Table& table,
                             std::string_view& target) const {
  const std::string_view label = take_word(line);
  if (label.empty() || label.find(':') != std::string_view::npos) {
    throw data_error(
        path_, table.lines.line_of_row(row), 1,
        fmt::format("found {} where the label should be; expected \"label index:value ...\" (write 0 "
                    "for a label that is not known)",
                    label.empty() ? "nothing" : quoted_for_message(label)));
  }
  const auto store = [&](std::string_view text, Index column, Index field) {
    const Index slot = plan.slots[static_cast<std::size_t>(column)];
    if (slot == kTargetColumn) target = text;
    if (slot < 0) return;
    if (classify_field(text, table.values(row, slot)) != FieldContent::kFinite) {
      throw not_a_number_error(path_, table.lines.line_of_row(row), field,
                               columns()[static_cast<std::size_t>(column)], text);
    }
  };
  store(label, 0, 1);
  Index previous = 0;
  Index field = 2;
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line), ++field) {
    const Pair pair = split_pair(word);
    const auto fail = [&](std::string_view text) {
      return data_error(path_, table.lines.line_of_row(row), field,
                        fmt::format("found {}; {}", quoted_for_message(word), text));
    };
    if (pair.index < 0 || pair.value.empty()) {
      throw fail("expected a pair index:value, the index a whole number from 1 on");
    }
    if (pair.index == 0) throw fail("indices begin at 1; add 1 to every index of the file");
    if (pair.index == previous) throw fail("the index before it is the same; each may occur once in a line");
    if (pair.index < previous) {
      throw fail(fmt::format("the index before it is {}; indices must rise along a line", previous));
    }
    if (pair.index >= std::ssize(columns())) {
      throw fail(fmt::format("the index is above the number of features, {}; pass --n-features {} or more",
                             std::ssize(columns()) - 1, pair.index));
    }
    store(pair.value, pair.index, field);
    previous = pair.index;
  }
}

}  // namespace mfga
