// A row is first tried by a tight loop that knows plain numbers only. Where it gives up, the row is read
// again by one that knows everything: quotes, quoted numbers, and what is wrong with a row.
#include "data/delimited.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "core/rank_messages.hpp"
#include "core/ranks.hpp"
#include "data/column_look.hpp"
#include "data/format_detection.hpp"
#include "data/number_text.hpp"
#include "data/target_column.hpp"

namespace mfga {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

DelimitedReader::DelimitedReader(std::string path, std::string_view text, char delimiter,
                                 const ReadOptions& options)
    : TableReader(MissingMarks(options.missing)),
      path_(std::move(path)),
      layout_{delimiter, options.comment},
      chunk_bytes_(options.chunk_bytes),
      only_row_(options.only_row) {
  const char* const end = text.data() + text.size();
  TextLayout::Skipped skipped;
  const char* const first_row = layout_.find_row(text.data(), end, skipped);
  if (first_row == end) {
    throw Error(ErrorKind::kBadData,
                fmt::format("{}: has no rows: every line is blank or a comment; expected a table", path_));
  }
  check_columns(path_, 1 + std::count(first_row, line_end(first_row, end), layout_.delimiter));
  std::vector<RawField> fields;
  const char* const second_row = layout_.scan_row(first_row, end, fields);
  const Index line = skipped.lines + 1;
  for (std::size_t i = 0; i < fields.size(); ++i) check_field(fields[i], line, static_cast<Index>(i));

  SampledRows below = sample_rows(second_row, end, layout_, fields.size(), missing_marks());
  has_header_ = options.header == "yes";
  if (options.header == "auto") {
    const HeaderDecision decision = decide_header(fields, below, options.names);
    has_header_ = decision.has_header;
    header_remark_ = fmt::format("header: {}, {} (`header`)", has_header_ ? "yes" : "no", decision.reason);
  }
  if (has_header_) {
    name_columns(fields, line);
    data_ = {second_row, end};
    data_line_ = 1 + std::count(text.data(), second_row, '\n');
    comments_above_ = skipped.comments;
    has_index_column_ = fields.size() > 1 && trim(unquote(fields.front().text)).empty() &&
                        below.first_column_counts && below.columns.front().values > 0;
  } else {
    set_columns(numbered_columns(std::ssize(fields)));
    data_ = text;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string field = unquote(fields[i].text);
      if (!missing_marks().has(field)) below.columns[i].add(field);
    }
  }
  data_ = first_rows_of(data_, layout_, Quoting::kPossible, options.only_row);
  looks_ = std::move(below.columns);
}

void DelimitedReader::name_columns(const std::vector<RawField>& fields, Index line) {
  std::vector<std::string> names;
  std::unordered_map<std::string, Index> positions;
  for (const RawField& field : fields) {
    const Index position = std::ssize(names) + 1;
    names.emplace_back(trim(unquote(field.text)));
    if (names.back().empty()) continue;
    const auto [earlier, is_new] = positions.emplace(names.back(), position);
    if (!is_new) {
      throw data_error(
          path_, line, position,
          fmt::format("columns {} and {} are both named {}; rename one, or pass `header=no` if this "
                      "line is data",
                      earlier->second, position, quoted_for_message(names.back())));
    }
  }
  // Columns without a name are called as they are without a header, by their positions.
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) continue;
    names[i] = fmt::format("x{}", i);
    while (positions.contains(names[i])) names[i] += '_';
  }
  set_columns(std::move(names));
}

std::optional<Index> DelimitedReader::index_column() const {
  return has_index_column_ ? std::optional<Index>(0) : std::nullopt;
}

void DelimitedReader::check_field(const RawField& field, Index line, Index column) const {
  if (field.fault == RawField::Fault::kOpenQuote) {
    throw data_error(
        path_, line, column + 1,
        fmt::format("the quote that opens {} is never closed; expected another \" before the end of "
                    "the file",
                    quoted_for_message(field.text)));
  }
  if (field.fault == RawField::Fault::kTextAfterQuote) {
    throw data_error(
        path_, line, column + 1,
        fmt::format("found {}: text after a closing quote; expected the end of the field (a quote inside "
                    "quotes is written twice)",
                    quoted_for_message(field.text)));
  }
}

std::optional<FirstRow> DelimitedReader::first_row() const {
  const char* const end = data_.data() + data_.size();
  TextLayout::Skipped skipped;
  const char* const begin = layout_.find_row(data_.data(), end, skipped);
  std::vector<RawField> fields;
  if (begin != end) layout_.scan_row(begin, end, fields);
  fields.resize(columns().size());
  FirstRow row{{}, data_line_ + skipped.lines};
  for (const RawField& field : fields) row.fields.push_back(unquote(field.text));
  return row;
}

TextFields DelimitedReader::read(const ColumnPlan& plan, ThreadPool& pool, Table& table) const {
  TextRows rows = locate_rows(data_, data_line_, layout_, Quoting::kPossible, chunk_bytes_, pool);
  if (only_row_ > 0 && rows.rows() > 0)
    rows = only_row_of(rows, only_row_, layout_, Quoting::kPossible, path_);
  conclude(rows.rows(), rows.leading_comments, rows.inner_comments, table);
  RowsRead read = parse(std::move(rows), plan, pool);
  table.lines = std::move(read.lines);
  table.values = std::move(read.numbers);
  if (plan.has_target()) {
    convert_target(read.target_fields, plan.target, plan.style(static_cast<std::size_t>(plan.target)),
                   missing_marks(), pool, table, ranks_);
  }
  return std::move(read.texts);
}

void DelimitedReader::read_in_parts(const ColumnPlan& plan, ThreadPool& pool, Index bytes,
                                    const TakeRows& take) const {
  Index line = data_line_;
  bool go_on = true;
  for (std::string_view left = data_; !left.empty() && go_on;) {
    const std::string_view part = part_of(left, layout_, Quoting::kPossible, bytes);
    RowsRead read =
        parse(locate_rows(part, line, layout_, Quoting::kPossible, chunk_bytes_, pool), plan, pool);
    read.bytes = std::ssize(part);
    go_on = take(read);
    line += std::count(part.begin(), part.end(), '\n');
    left.remove_prefix(part.size());
    done_with(part);
  }
}

// A part ends with the line in which its last byte is, or with the row if lines may be within quotes.
void DelimitedReader::divide(Communicator& ranks, ThreadPool& pool) {
  const auto bytes_before = [&](int rank) { return std::ssize(data_) * rank / ranks.size(); };
  const char* const begin = data_.data();
  const char* const end = begin + data_.size();
  const auto line_after = [&](int rank) {
    if (bytes_before(rank) == 0) return begin;
    const char* const newline = line_end(begin + bytes_before(rank) - 1, end);
    return newline == end ? end : newline + 1;
  };
  const auto row_after = [&](int rank) {
    if (bytes_before(rank) == 0) return begin;
    return begin + part_of(data_, layout_, Quoting::kPossible, bytes_before(rank)).size();
  };
  std::string_view own(line_after(ranks.rank()), line_after(ranks.rank() + 1));
  const bool has_quotes = own.find('"') != std::string_view::npos;
  const std::vector<std::string> quotes = ranks.all_gather(has_quotes ? "quotes" : "");
  if (std::ranges::any_of(quotes, [](const std::string& said) { return !said.empty(); }))
    own = {row_after(ranks.rank()), row_after(ranks.rank() + 1)};
  TextRows rows;
  agreed(&ranks,
         [&] { rows = locate_rows(own, data_line_, layout_, Quoting::kPossible, chunk_bytes_, pool); });
  RowCounts counts{rows.rows(), rows.leading_comments, rows.inner_comments,
                   std::count(own.begin(), own.end(), '\n')};
  const auto all = joined_numbers<RowCounts>(ranks.all_gather(bytes_of(std::span(&counts, 1))));
  RowCounts before;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (rank == ranks.rank()) data_line_ += before.lines;
    counts = all[static_cast<std::size_t>(rank)];
    (before.rows == 0 ? before.leading_comments : before.inner_comments) += counts.leading_comments;
    before.inner_comments += counts.inner_comments;
    before.rows += counts.rows;
    before.lines += counts.lines;
  }
  of_all_ranks_ = before;
  ranks_ = &ranks;
  data_ = own;
}

void DelimitedReader::conclude(Index rows, Index leading_comments, Index inner_comments, Table& table) const {
  if (of_all_ranks_) {
    rows = of_all_ranks_->rows;
    leading_comments = of_all_ranks_->leading_comments;
    inner_comments = of_all_ranks_->inner_comments;
  }
  if (rows == 0) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format("{}: has a header but no rows below it (pass `header=no` if that line is data)", path_));
  }
  if (!header_remark_.empty()) table.remarks.push_back(header_remark_);
  report_comments(layout_.comment, comments_above_ + (has_header_ ? 0 : leading_comments),
                  inner_comments + (has_header_ ? leading_comments : 0), table);
}

RowsRead DelimitedReader::parse(TextRows rows, const ColumnPlan& plan, ThreadPool& pool) const {
  RowsRead read;
  read.lines = std::move(rows.lines);
  read.leading_comments = rows.leading_comments;
  read.inner_comments = rows.inner_comments;
  read.numbers = allocate_matrix(path_, rows.rows(), plan.numbers);
  read.texts = TextFields(plan.texts, rows.first_rows, missing_marks());
  read.target_fields.resize(static_cast<std::size_t>(plan.has_target() ? rows.rows() : 0));
  pool.run(std::ssize(rows.chunks), [&](Index i) {
    const auto chunk = static_cast<std::size_t>(i);
    parse_chunk(rows.chunks[chunk], rows.first_rows[chunk], plan, read,
                read.texts.empty() ? nullptr : &read.texts.part(i));
  });
  return read;
}

std::vector<std::vector<std::string>> DelimitedReader::texts(std::span<const Index> columns,
                                                             ThreadPool& pool) const {
  TextRows rows = locate_rows(data_, data_line_, layout_, Quoting::kPossible, chunk_bytes_, pool);
  if (only_row_ > 0) rows = only_row_of(rows, only_row_, layout_, Quoting::kPossible, path_);
  std::vector<std::vector<std::string>> result(columns.size());
  for (std::vector<std::string>& texts : result) texts.resize(static_cast<std::size_t>(rows.rows()));
  pool.run(std::ssize(rows.chunks), [&](Index i) {
    const std::string_view chunk = rows.chunks[static_cast<std::size_t>(i)];
    const char* const end = chunk.data() + chunk.size();
    auto row = static_cast<std::size_t>(rows.first_rows[static_cast<std::size_t>(i)]);
    std::vector<RawField> fields;
    TextLayout::Skipped skipped;
    for (const char* p = layout_.find_row(chunk.data(), end, skipped); p != end;
         p = layout_.find_row(p, end, skipped), ++row) {
      p = layout_.scan_row(p, end, fields);
      fields.resize(this->columns().size());
      for (std::size_t k = 0; k < columns.size(); ++k)
        result[k][row] = unquote(fields[static_cast<std::size_t>(columns[k])].text);
    }
  });
  return result;
}

void DelimitedReader::parse_chunk(std::string_view chunk, Index first_row, const ColumnPlan& plan,
                                  RowsRead& rows, TextFields::Part* part) const {
  const char* const end = chunk.data() + chunk.size();
  std::string_view unused_target;
  TextLayout::Skipped skipped;
  Index row = first_row;
  for (const char* p = layout_.find_row(chunk.data(), end, skipped); p != end;
       p = layout_.find_row(p, end, skipped), ++row) {
    const RowOutput out{rows.numbers.row(row),
                        plan.has_target() ? rows.target_fields[static_cast<std::size_t>(row)] : unused_target,
                        rows.texts, part, row};
    const char* next = plan.styles.empty() ? parse_plain_row(p, end, plan, out) : nullptr;
    if (next == nullptr) next = parse_any_row(p, end, plan, rows.lines.line_of_row(row), out);
    p = next;
  }
}

// Of the target or a text column.
inline void DelimitedReader::store_text(std::string_view field, Index slot, const RowOutput& out) {
  if (slot == kTargetColumn) {
    out.target = field;
  } else {
    out.texts.add(*out.part, text_slot(slot), out.row, field);
  }
}

const char* DelimitedReader::parse_plain_row(const char* begin, const char* end, const ColumnPlan& plan,
                                             const RowOutput& out) const {
  const char* p = begin;
  const char delimiter = layout_.delimiter;
  double* const numbers = out.numbers;
  const Index* const last = plan.slots.data() + plan.slots.size() - 1;
  for (const Index* slot = plan.slots.data();; ++slot, ++p) {
    while (p != end && layout_.is_padding(*p)) ++p;
    if (*slot >= 0) {
      const char* const field = p;
      double value = 0;
      p = scan_number(p, end, value);
      if (p == nullptr || !std::isfinite(value)) {
        p = field;
        while (p != end && !layout_.is_delimiter(*p) && *p != '\n') ++p;
        if (!missing_marks().has({field, p})) return nullptr;
        value = kMissing;
      } else if (missing_marks().has_numbers() && missing_marks().has_number(value)) {
        value = kMissing;
      }
      numbers[*slot] = value;
      if (delimiter == ' ') {
        p = layout_.skip_spaces(p, end);
      } else {
        while (p != end && layout_.is_padding(*p)) ++p;
      }
    } else {
      const char* const field = p;
      if (p != end && *p == '"') return nullptr;
      while (p != end && *p != delimiter && *p != '\n') ++p;
      if (*slot != kSkippedColumn) {
        const char* field_end = p;
        while (field_end != field && layout_.is_padding(field_end[-1])) --field_end;
        if (field_end == field && (*slot == kTargetColumn || !missing_marks().are_allowed())) return nullptr;
        store_text({field, field_end}, *slot, out);
      }
    }
    if (slot == last) break;
    if (p == end || *p != delimiter) return nullptr;
  }
  if (p == end) return end;
  return *p == '\n' ? p + 1 : nullptr;
}

const char* DelimitedReader::parse_any_row(const char* begin, const char* end, const ColumnPlan& plan,
                                           Index line, const RowOutput& out) const {
  std::vector<RawField> fields;
  fields.reserve(columns().size());
  constexpr Index kMostSurplus = 1000;  // fields of a broken row that are counted
  const Index most = std::ssize(columns()) + kMostSurplus;
  const char* const next = layout_.scan_row(begin, end, fields, most);
  // Faults of quotes first, then the number of fields: either shifts the fields, so that what stands in a
  // column is not what was meant to.
  for (std::size_t i = 0; i < fields.size(); ++i) check_field(fields[i], line, static_cast<Index>(i));
  if (fields.size() != columns().size()) {
    const std::size_t position = std::min(fields.size(), columns().size() + 1);
    throw data_error(
        path_, line, static_cast<Index>(position),
        fmt::format("expected {} fields as in the first line, found {}{}; correct the row, or quote fields "
                    "that contain the delimiter, or choose another than {} with `delimiter`",
                    columns().size(), std::ssize(fields) < most ? "" : "at least ", fields.size(),
                    delimiter_name(layout_.delimiter)));
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const RawField& field = fields[i];
    const Index slot = plan.slots[i];
    const auto column = static_cast<Index>(i) + 1;
    if (slot >= 0) {
      double& number = out.numbers[slot];
      const NumberStyle style = plan.style(i);
      const std::string text = unquote(field.text);
      const FieldContent content = classify_field(text, style, number);
      const bool is_missing = missing_marks().has(text) ||
                              (content == FieldContent::kFinite && missing_marks().has_number(number));
      if (is_missing) {
        number = kMissing;
      } else if (content != FieldContent::kFinite) {
        throw not_a_number_error(
            path_, line, column, columns()[i], text,
            fmt::format(
                "; a column that begins with a number is read as text if it is trained with `text={}`",
                columns()[i]));
      }
    } else if (slot != kSkippedColumn) {
      const bool is_empty = field.text.empty() || field.text == "\"\"";
      if (is_empty && (slot == kTargetColumn || !missing_marks().are_allowed())) {
        throw data_error(
            path_, line, column,
            slot == kTargetColumn
                ? fmt::format(
                      "found an empty field in the target \"{}\"; expected a number or a label (leave "
                      "the row out)",
                      columns()[i])
                : fmt::format(
                      "found an empty field in column \"{0}\"; expected a text (leave the row out or "
                      "fill in a text, leave the column out with `ignore={0}`, or pass `missing=auto`)",
                      columns()[i]));
      }
      store_text(field.text, slot, out);
    }
  }
  return next;
}

}  // namespace mfga
