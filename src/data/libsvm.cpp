// The file is read twice: once for the largest index, for only then are the columns known, and once for the
// values. What is wrong with a pair is reported by the second reading alone. As with CSV, a row is first
// tried by a tight loop that knows plain pairs only; where it gives up, the row is read again with more care.
#include "data/libsvm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
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

// Reads digits on from `p`, as an index; the result is above kLargestIndex if they are too many.
const char* scan_index(const char* p, const char* end, Index& index) {
  for (index = 0; p != end && is_digit(*p); ++p) {
    if (index <= kLargestIndex) index = 10 * index + (*p - '0');
  }
  return p;
}

struct Pairs {
  Index largest_index = 0;
  Index count = 0;

  void add(const Pairs& more) {
    largest_index = std::max(largest_index, more.largest_index);
    count += more.count;
  }
};

// The pairs of a line. Words that are none are left to the reading to complain about.
void look_for_pairs(std::string_view line, Pairs& found) {
  const char* p = line.data();
  const char* const end = p + line.size();
  while (p != end && is_space(*p)) ++p;
  for (bool is_label = true;; is_label = false) {
    Index index = 0;
    if (!is_label) {
      const char* const colon = scan_index(p, end, index);
      if (colon != p && colon != end && *colon == ':' && index <= kLargestIndex) {
        found.largest_index = std::max(found.largest_index, index);
        ++found.count;
      }
    }
    while (p != end && !is_space(*p)) ++p;
    while (p != end && is_space(*p)) ++p;
    if (p == end) return;
  }
}

Pairs find_pairs(const TextRows& rows, const TextLayout& layout, ThreadPool& pool) {
  std::vector<Pairs> found(rows.chunks.size());
  pool.run(std::ssize(found), [&](Index i) {
    const auto chunk = static_cast<std::size_t>(i);
    const char* const end = rows.chunks[chunk].data() + rows.chunks[chunk].size();
    TextLayout::Skipped skipped;
    for (const char* p = layout.find_row(rows.chunks[chunk].data(), end, skipped); p != end;
         p = layout.find_row(p, end, skipped)) {
      const char* const newline = line_end(p, end);
      look_for_pairs(without_comment({p, newline}), found[chunk]);
      p = newline == end ? end : newline + 1;
    }
  });
  Pairs all;
  for (const Pairs& pairs : found) all.add(pairs);
  return all;
}

}  // namespace

bool looks_like_libsvm(std::string_view line) {
  line = without_comment(line);
  take_word(line);
  const Pair pair = split_pair(take_word(line));
  double value = 0;
  return pair.index >= 0 && classify_field(pair.value, value) != FieldContent::kText;
}

LibsvmReader::LibsvmReader(std::string path, std::string_view text, const ReadOptions& options,
                           const std::function<void(std::string_view)>& forget)
    : TableReader(MissingMarks(options.missing)), path_(std::move(path)), layout_{' ', options.comment} {
  ThreadPool pool(options.threads);
  text = first_rows_of(text, layout_, Quoting::kNone, options.only_row);
  if (options.only_row > 0) {
    rows_ = only_row_of(locate_rows(text, 1, layout_, Quoting::kNone, options.chunk_bytes, pool),
                        options.only_row, layout_, Quoting::kNone, path_);
  }
  Index features = options.n_features;
  Pairs pairs = find_pairs(rows_, layout_, pool);
  // A part at a time, so that the file need not be in memory as a whole.
  constexpr Index kPartBytes = Index{1} << 26;
  Index line = 1;
  for (std::string_view left = options.only_row > 0 ? "" : text; !left.empty();) {
    const std::string_view part = part_of(left, layout_, Quoting::kNone, kPartBytes);
    const TextRows rows = locate_rows(part, line, layout_, Quoting::kNone, options.chunk_bytes, pool);
    if (features == 0) pairs.add(find_pairs(rows, layout_, pool));
    rows_.append(rows);
    line += std::count(part.begin(), part.end(), '\n');
    left.remove_prefix(part.size());
    if (forget) forget(part);
  }
  if (features == 0) {
    features = pairs.largest_index;
    if (features == 0) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("{}: no line has an index:value pair; expected LIBSVM rows (pass `n_features` if all "
                      "features are 0)",
                      path_));
    }
    // Then nearly all columns would be 0 in every row: rather one index is wrong.
    constexpr Index kManyFeatures = 1'000'000;
    constexpr Index kMostFeaturesPerPair = 100;
    if (features > kManyFeatures && features / kMostFeaturesPerPair > pairs.count) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("{}: the largest index is {}, but the file has only {} pairs index:value; correct "
                      "that index, or pass `n_features={}` if it is right",
                      path_, features, pairs.count, features));
    }
  }
  // A wrong index can ask for any amount of memory: find out before the columns are named.
  constexpr Index kNameSize = 8;  // about what a name takes, in numbers
  check_memory(path_, kNameSize, features);
  std::vector<std::string> names = numbered_columns(features + 1);
  names[0] = "label";
  set_columns(std::move(names));
}

TextFields LibsvmReader::read(const ColumnPlan& plan, ThreadPool& pool, Table& table) const {
  conclude(rows_.rows(), rows_.leading_comments, rows_.inner_comments, table);
  RowsRead read = parse(0, rows_.chunks.size(), plan, pool);
  table.lines = std::move(read.lines);
  table.values = std::move(read.numbers);
  if (plan.has_target()) convert_target(read.target_fields, plan.target, {}, missing_marks(), pool, table);
  return {};
}

void LibsvmReader::read_in_parts(const ColumnPlan& plan, ThreadPool& pool, Index bytes,
                                 const TakeRows& take) const {
  bool go_on = true;
  for (std::size_t first = 0; first < rows_.chunks.size() && go_on;) {
    std::size_t end = first;
    Index taken = 0;
    do taken += std::ssize(rows_.chunks[end++]);
    while (end < rows_.chunks.size() && taken + std::ssize(rows_.chunks[end]) <= bytes);
    RowsRead read = parse(first, end, plan, pool);
    if (first == 0) {
      read.leading_comments = rows_.leading_comments;
      read.inner_comments = rows_.inner_comments;
    }
    read.bytes = taken;
    go_on = take(read);
    done_with({rows_.chunks[first].data(), static_cast<std::size_t>(taken)});
    first = end;
  }
}

void LibsvmReader::conclude(Index rows, Index leading_comments, Index inner_comments, Table& table) const {
  if (rows == 0) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format("{}: has no rows: every line is blank or a comment; expected LIBSVM rows", path_));
  }
  report_comments(layout_.comment, leading_comments, inner_comments, table);
}

RowsRead LibsvmReader::parse(std::size_t first_chunk, std::size_t end_chunk, const ColumnPlan& plan,
                             ThreadPool& pool) const {
  const Index first_row = rows_.first_rows[first_chunk];
  const Index rows = rows_.first_rows[end_chunk] - first_row;
  RowsRead read;
  read.lines = first_row == 0 ? rows_.lines : lines_from(rows_.lines, first_row);
  read.numbers = allocate_matrix(path_, rows, plan.numbers);
  read.target_fields.assign(static_cast<std::size_t>(plan.has_target() ? rows : 0), "0");
  pool.run(static_cast<Index>(end_chunk - first_chunk), [&](Index i) {
    const std::size_t place = first_chunk + static_cast<std::size_t>(i);
    const std::string_view chunk = rows_.chunks[place];
    const char* const end = chunk.data() + chunk.size();
    std::string_view unused_target;
    TextLayout::Skipped skipped;
    Index row = rows_.first_rows[place] - first_row;
    for (const char* p = layout_.find_row(chunk.data(), end, skipped); p != end;
         p = layout_.find_row(p, end, skipped), ++row) {
      double* const values = read.numbers.row(row);
      std::fill_n(values, plan.numbers, 0.0);
      std::string_view& target =
          plan.has_target() ? read.target_fields[static_cast<std::size_t>(row)] : unused_target;
      const char* next = parse_plain_row(p, end, plan, values, target);
      if (next == nullptr) next = parse_any_row(p, end, plan, read.lines.line_of_row(row), values, target);
      p = next;
    }
  });
  return read;
}

const char* LibsvmReader::parse_plain_row(const char* begin, const char* end, const ColumnPlan& plan,
                                          double* values, std::string_view& target) const {
  const char* p = begin;
  const auto ends_word = [&] { return p == end || *p == '\n' || is_space(*p); };
  // A number, or any text where it is the target.
  const auto take = [&](Index column) {
    const Index slot = plan.slots[static_cast<std::size_t>(column)];
    const char* const text = p;
    if (slot >= 0) {
      p = scan_number(p, end, values[slot]);
      return p != nullptr && ends_word() && std::isfinite(values[slot]) && !missing_marks().has_numbers();
    }
    while (!ends_word() && *p != ':' && *p != '#') ++p;
    if (slot == kTargetColumn) target = {text, p};
    return p != text && ends_word();
  };
  while (p != end && is_space(*p)) ++p;
  if (!take(0)) return nullptr;
  for (Index previous = 0;;) {
    while (p != end && is_space(*p)) ++p;
    if (p == end) return end;
    if (*p == '\n') return p + 1;
    Index index = 0;
    p = scan_index(p, end, index);
    if (p == end || *p != ':' || index <= previous || index >= std::ssize(columns())) return nullptr;
    ++p;
    if (!take(index)) return nullptr;
    previous = index;
  }
}

const char* LibsvmReader::parse_any_row(const char* begin, const char* end, const ColumnPlan& plan,
                                        Index line_number, double* values, std::string_view& target) const {
  const char* const newline = line_end(begin, end);
  std::string_view line = without_comment({begin, newline});
  std::fill_n(values, plan.numbers, 0.0);
  const std::string_view label = take_word(line);
  if (label.empty() || label.find(':') != std::string_view::npos) {
    throw data_error(
        path_, line_number, 1,
        fmt::format("found {} where the label should be; expected \"label index:value ...\" (write 0 "
                    "for a label that is not known)",
                    label.empty() ? "nothing" : quoted_for_message(label)));
  }
  const auto store = [&](std::string_view text, Index column, Index field) {
    const Index slot = plan.slots[static_cast<std::size_t>(column)];
    if (slot == kTargetColumn) target = text;
    if (slot < 0) return;
    const FieldContent content = classify_field(text, values[slot]);
    if (missing_marks().has(text) ||
        (content == FieldContent::kFinite && missing_marks().has_number(values[slot]))) {
      values[slot] = std::numeric_limits<double>::quiet_NaN();
    } else if (content != FieldContent::kFinite) {
      throw not_a_number_error(path_, line_number, field, columns()[static_cast<std::size_t>(column)], text);
    }
  };
  store(label, 0, 1);
  Index previous = 0;
  Index field = 2;
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line), ++field) {
    const Pair pair = split_pair(word);
    const auto fail = [&](std::string_view text) {
      return data_error(path_, line_number, field,
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
      throw fail(fmt::format("the index is above the number of features, {}; pass `n_features={}` or more",
                             std::ssize(columns()) - 1, pair.index));
    }
    store(pair.value, pair.index, field);
    previous = pair.index;
  }
  return newline == end ? end : newline + 1;
}

}  // namespace mfga
