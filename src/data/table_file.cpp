// Opens a table with the reader for its format, and turns the caller's choice of columns into a plan for it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <map>

#include "core/clock.hpp"
#include "data/column_lookup.hpp"
#include "data/delimited.hpp"
#include "data/file_content.hpp"
#include "data/format_detection.hpp"
#include "data/libsvm.hpp"
#include "data/npy.hpp"
#include "data/number_styles.hpp"
#include "data/number_text.hpp"
#include "data/table_reader.hpp"
#include "mfga/error.hpp"
#include "mfga/table.hpp"

namespace mfga {
namespace {

void check_choice(std::string_view option, std::string_view value,
                  std::span<const std::string_view> choices) {
  if (std::ranges::find(choices, value) != choices.end()) return;
  throw Error(ErrorKind::kInvalidArgument, fmt::format("`{}`: found {}; expected one of {}", option,
                                                       quoted_for_message(value), fmt::join(choices, ", ")));
}

void check_range(std::string_view option, Index value, Index least, Index most) {
  if (value >= least && value <= most) return;
  throw Error(
      ErrorKind::kInvalidArgument,
      fmt::format("`{}`: found {}; expected a whole number from {} to {}", option, value, least, most));
}

void check_options(const ReadOptions& options) {
  constexpr std::array<std::string_view, 3> kDecimals = {"auto", ".", ","};
  constexpr std::array<std::string_view, 5> kFormats = {"auto", "csv", "tsv", "libsvm", "npy"};
  constexpr std::array<std::string_view, 3> kHeaders = {"auto", "yes", "no"};
  constexpr Index kMostThreads = 4096;
  check_choice("format", options.format, kFormats);
  check_choice("header", options.header, kHeaders);
  check_choice("decimal", options.decimal, kDecimals);
  check_range("n_features", options.n_features, 0, std::numeric_limits<std::int32_t>::max());
  check_range("threads", options.threads, 0, kMostThreads);
  check_range("chunk-bytes", options.chunk_bytes, 1, std::numeric_limits<Index>::max() / 2);
}

}  // namespace

std::unique_ptr<TableReader> make_reader(const std::string& path, std::string_view bytes,
                                         const ReadOptions& options) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  if (bytes.empty())
    throw Error(ErrorKind::kBadData, fmt::format("{}: the file is empty; expected a table", path));
  const auto [format, delimiter] = detect_format(path, bytes, options);
  switch (format) {
    case TableFormat::kNpy:
      return std::make_unique<NpyReader>(path, bytes);
    case TableFormat::kLibsvm:
      return std::make_unique<LibsvmReader>(path, bytes, options);
    case TableFormat::kDelimited:
      break;
  }
  return std::make_unique<DelimitedReader>(path, bytes, delimiter, options);
}

struct TableFile::Impl {
  Impl(const std::string& file_path, const ReadOptions& read_options)
      : path(file_path == kStandardInput ? "standard input" : file_path),
        options(read_options),
        content(file_path),
        reader(make_reader(path, content.bytes(), options)) {
    reader->when_read([this](std::string_view part) { content.forget(part); });
  }

  // The plan for a target and no predictors yet.
  [[nodiscard]] ColumnPlan start_plan(std::optional<Index> target) const {
    ColumnPlan plan;
    plan.slots.assign(reader->columns().size(), kSkippedColumn);
    if (target) {
      check_column(*target);
      place(plan, *target, kTargetColumn);
      plan.target = *target;
    }
    return plan;
  }

  void check_column(Index column) const {
    const Index count = std::ssize(reader->columns());
    if (column >= 0 && column < count) return;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("{}: column {} is asked for; expected 0 to {}", path, column, count - 1));
  }

  // Sends a column to a slot.
  void place(ColumnPlan& plan, Index column, Index slot) const {
    Index& place_of_column = plan.slots[static_cast<std::size_t>(column)];
    if (place_of_column != kSkippedColumn) {
      throw Error(
          ErrorKind::kInvalidArgument,
          fmt::format("{}: column \"{}\" is asked for twice; expected each column once, as a predictor or as "
                      "the target",
                      path, reader->columns()[static_cast<std::size_t>(column)]));
    }
    place_of_column = slot;
  }

  void place_text(ColumnPlan& plan, TextRequest request) const {
    place(plan, request.column, text_slot(std::ssize(plan.texts)));
    plan.texts.push_back(std::move(request));
  }

  // Whether a column is text where nothing is said about it. An empty field is an error in either case.
  [[nodiscard]] bool is_text(Index column, char decimal) const {
    return first_row && !is_number_column(*reader, *first_row, column, decimal);
  }

  void check_can_be_text(Index column) const {
    if (first_row) return;
    throw Error(
        ErrorKind::kBadData,
        fmt::format("{}: column \"{}\" should be text, and a {} file holds numbers alone; use a CSV or "
                    "TSV file",
                    path, reader->columns()[static_cast<std::size_t>(column)], reader->format()));
  }

  // A column of text that has become one of numbers, of which no level knows, is not the same column.
  void check_is_still_text(const TextRequest& request) const {
    check_can_be_text(request.column);
    const auto is_number = [](std::string_view text) {
      double value = 0;
      return classify_field(text, value) == FieldContent::kFinite;
    };
    const std::string& first = first_row->fields[static_cast<std::size_t>(request.column)];
    if (!is_number(first) || std::ranges::any_of(request.levels, is_number)) return;
    throw data_error(
        path, first_row->line, request.column + 1,
        fmt::format("found the number {} in column \"{}\"; expected a text such as {}, as in the "
                    "training table",
                    quoted_for_message(first), reader->columns()[static_cast<std::size_t>(request.column)],
                    quoted_for_message(request.levels.front())));
  }

  // The table of a plan, with the numbers alone, and the fields of the text columns.
  [[nodiscard]] TextFields read_plan(const ColumnPlan& plan, ThreadPool& pool, Table& table) const {
    table.source = path;
    if (!reader->has_header() && reader->format() != "libsvm")
      table.unnamed_columns = std::ssize(reader->columns());
    if (plan.has_target()) table.target_name = name_of(plan.target);
    return reader->read(plan, pool, table);
  }

  void finish(Clock::time_point start, Table& table) const {
    constexpr double kMegabyte = 1e6;
    table.megabytes = static_cast<double>(content.bytes().size()) / kMegabyte;
    table.load_seconds = opening_seconds + seconds_since(start);
  }

  // The name of a column that is to be read.
  [[nodiscard]] const std::string& name_of(Index column) const {
    const std::string& name = reader->columns()[static_cast<std::size_t>(column)];
    if (!is_utf8(name)) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("{}: the name of column {} is not UTF-8; convert the file, for example with "
                              "iconv -f latin1 -t utf-8",
                              path, column + 1));
    }
    return name;
  }

  Clock::time_point opening = Clock::now();
  std::string path;
  ReadOptions options;
  FileContent content;
  std::unique_ptr<TableReader> reader;
  std::optional<FirstRow> first_row = reader->first_row();
  double opening_seconds = seconds_since(opening);
};

TableFile::TableFile(const std::string& path, const ReadOptions& options) {
  check_options(options);
  impl_ = std::make_unique<Impl>(path, options);
}
TableFile::TableFile(TableFile&&) noexcept = default;
TableFile& TableFile::operator=(TableFile&&) noexcept = default;
TableFile::~TableFile() = default;

const std::string& TableFile::path() const { return impl_->path; }
std::string_view TableFile::format() const { return impl_->reader->format(); }
bool TableFile::has_header() const { return impl_->reader->has_header(); }
const std::vector<std::string>& TableFile::columns() const { return impl_->reader->columns(); }
Index TableFile::default_target() const { return impl_->reader->default_target(); }

std::optional<Index> TableFile::index_column() const { return impl_->reader->index_column(); }

Index TableFile::column(std::string_view name_or_index, std::string_view option) const {
  return find_column(columns(), name_or_index, option, path());
}

Table TableFile::read(std::span<const Index> predictors, std::optional<Index> target,
                      std::span<const Index> text) const {
  const auto start = Clock::now();
  ColumnPlan plan = impl_->start_plan(target);
  std::vector<Index> unknown_columns;  // numbers or text
  for (const Index column : predictors) {
    impl_->check_column(column);
    if (std::ranges::find(text, column) == text.end()) unknown_columns.push_back(column);
  }
  if (target) unknown_columns.push_back(*target);
  const char decimal = choose_decimal(path(), *impl_->reader, unknown_columns, impl_->options.decimal);
  std::vector<std::string> names;
  for (const Index column : predictors) {
    names.push_back(impl_->name_of(column));
    const bool is_asked_for = std::ranges::find(text, column) != text.end();
    if (is_asked_for) impl_->check_can_be_text(column);
    if (is_asked_for || impl_->is_text(column, decimal)) {
      impl_->place_text(plan, {column, is_asked_for});
    } else {
      impl_->place(plan, column, plan.numbers++);
    }
  }
  ThreadPool pool(impl_->options.threads);
  Table table;
  choose_styles(*impl_->reader, decimal, impl_->options.decimal, plan, table.remarks);
  const TextFields texts = impl_->read_plan(plan, pool, table);
  if (texts.empty()) {
    table.columns = std::move(names);
    impl_->finish(start, table);
    return table;
  }

  // Levels stand where their column does.
  TextFields::Destinations to;
  std::vector<std::vector<std::string>> levels;
  for (std::size_t i = 0; i < predictors.size(); ++i) {
    const std::string& name = names[i];
    if (plan.slots[static_cast<std::size_t>(predictors[i])] >= 0) {
      to.of_number.push_back(to.columns++);
      table.columns.push_back(name);
      continue;
    }
    auto [level_texts, why_none] = texts.levels(std::ssize(levels), name, table, has_header());
    levels.push_back(std::move(level_texts));
    std::vector<Index>& places = to.of_level.emplace_back();
    if (!why_none.empty()) {
      table.remarks.push_back(fmt::format("left out: \"{}\" {}", name, why_none));
      continue;
    }
    table.text_columns.push_back({name, to.columns, levels.back()});
    for (const std::string& level : levels.back()) {
      places.push_back(to.columns++);
      table.columns.push_back(level_name(name, level));
    }
  }
  if (table.columns.empty()) {
    throw Error(ErrorKind::kBadData,
                fmt::format("{}: no predictors are left: {}", path(), fmt::join(table.remarks, "; ")));
  }
  table.values = texts.spread(table.values, levels, to, path(), pool);
  impl_->finish(start, table);
  return table;
}

Table TableFile::read(std::span<const ColumnSource> sources, std::optional<Index> target) const {
  const auto start = Clock::now();
  ColumnPlan plan = impl_->start_plan(target);
  TextFields::Destinations to;
  Table table;
  for (const auto& [column, level] : sources) {
    impl_->check_column(column);
    const Index destination = to.columns++;
    if (level.empty()) {
      table.columns.push_back(impl_->name_of(column));
      impl_->place(plan, column, plan.numbers++);
      to.of_number.push_back(destination);
      continue;
    }
    const std::string& name = impl_->name_of(column);
    table.columns.push_back(level_name(name, level));
    const bool goes_on = !table.text_columns.empty() && table.text_columns.back().name == name &&
                         table.text_columns.back().first + table.text_columns.back().count() == destination;
    if (!goes_on) table.text_columns.push_back({name, destination, {}});
    table.text_columns.back().levels.push_back(level);
    auto text = std::ranges::find(plan.texts, column, &TextRequest::column);
    if (text == plan.texts.end()) {
      impl_->place_text(plan, {column, true});
      to.of_level.emplace_back();
      text = plan.texts.end() - 1;
    }
    text->levels.push_back(level);
    to.of_level[static_cast<std::size_t>(text - plan.texts.begin())].push_back(destination);
  }
  for (const TextRequest& text : plan.texts) impl_->check_is_still_text(text);
  std::vector<Index> number_columns;
  for (Index i = 0; i < std::ssize(plan.slots); ++i) {
    const Index slot = plan.slots[static_cast<std::size_t>(i)];
    if (slot >= 0 || slot == kTargetColumn) number_columns.push_back(i);
  }
  const char decimal = choose_decimal(path(), *impl_->reader, number_columns, impl_->options.decimal);
  choose_styles(*impl_->reader, decimal, impl_->options.decimal, plan, table.remarks);
  ThreadPool pool(impl_->options.threads);
  const TextFields texts = impl_->read_plan(plan, pool, table);
  if (!texts.empty()) table.values = texts.spread(table.values, {}, to, path(), pool);
  for (Index i = 0; i < std::ssize(plan.texts); ++i) {
    const auto [count, first_row] = texts.unknown(i);
    if (count == 0) continue;
    table.unknown_texts.push_back({impl_->name_of(plan.texts[static_cast<std::size_t>(i)].column), count,
                                   table.lines.line_of_row(first_row)});
  }
  impl_->finish(start, table);
  return table;
}

std::optional<ConstMatrixView> TableFile::stored_numbers() const { return impl_->reader->stored_numbers(); }

void TableFile::forget(ConstMatrixView rows) const {
  impl_->content.forget({reinterpret_cast<const char*>(rows.data),
                         static_cast<std::size_t>(rows.rows * rows.row_stride) * sizeof(double)});
}

void TableFile::read_more_targets(std::span<const std::string> names, std::string_view option,
                                  Table& table) const {
  if (names.empty()) return;
  if (!table.labels.empty()) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format("{}: the target \"{}\" holds text such as \"{}\"; several targets must be numbers",
                    path(), table.target_name, table.labels.front()));
  }
  table.target_names = {table.target_name};
  for (const std::string& given : names) {
    const Index target_column = column(given, option);
    const std::string& name = columns()[static_cast<std::size_t>(target_column)];
    const Table numbers = read({&target_column, 1}, std::nullopt);
    if (numbers.values.cols != 1 || !numbers.text_columns.empty()) {
      throw Error(ErrorKind::kBadData, fmt::format("{}: the target \"{}\" does not hold numbers; several "
                                                   "targets must be numbers",
                                                   path(), name));
    }
    table.target.insert(table.target.end(), numbers.values.values.begin(), numbers.values.values.end());
    table.target_names.push_back(name);
    table.target_name += "," + name;
  }
}

std::vector<Index> TableFile::read_groups(std::string_view name_or_index, std::string_view option) const {
  const Table table = read(std::span<const Index>(), column(name_or_index, option));
  std::map<double, Index> places;
  std::vector<Index> groups;
  for (const double value : table.target)
    groups.push_back(places.try_emplace(value, static_cast<Index>(places.size())).first->second);
  return groups;
}

std::vector<double> TableFile::read_weights(std::string_view name_or_index, std::string_view option) const {
  const Index weight_column = column(name_or_index, option);
  const Table table = read({&weight_column, 1}, std::nullopt);
  const std::string& name = columns()[static_cast<std::size_t>(weight_column)];
  if (table.values.cols != 1 || !table.text_columns.empty()) {
    throw Error(ErrorKind::kBadData,
                fmt::format("{}: the column of weights, \"{}\", does not hold numbers", path(), name));
  }
  std::vector<double> weights;
  for (Index n = 0; n < table.rows(); ++n) {
    const double weight = table.values(n, 0);
    if (weight < 0) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("{}:{}: the weight \"{}\" is {}; expected a number that is not negative",
                              path(), table.lines.line_of_row(n), name, weight));
    }
    weights.push_back(weight);
  }
  return weights;
}

Table TableFile::read_for_training(std::string_view target, std::span<const std::string> ignore,
                                   std::span<const std::string> text, std::string_view weight,
                                   std::span<const std::string> more_targets) const {
  if (columns().size() == 1 && (format() == "csv" || format() == "tsv")) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("{}: no predictors are left: the table has 1 column, \"{}\"; expected at least one "
                    "more (fields between tabs, commas, semicolons, bars or spaces are told apart by "
                    "themselves; `delimiter` names another one)",
                    path(), columns().front()));
  }
  const Index target_column = target.empty() ? default_target() : column(target, "`target`");
  std::vector<bool> is_left_out(columns().size());
  is_left_out[static_cast<std::size_t>(target_column)] = true;
  for (const std::string& name : more_targets) {
    const Index more = column(name, "`target`");
    if (is_left_out[static_cast<std::size_t>(more)]) {
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("`target`: \"{}\" is named twice", columns()[static_cast<std::size_t>(more)]));
    }
    is_left_out[static_cast<std::size_t>(more)] = true;
  }
  const std::vector<bool> is_target = is_left_out;
  for (const std::string& name : ignore) {
    const Index ignored = column(name, "`ignore`");
    if (is_target[static_cast<std::size_t>(ignored)]) {
      throw Error(
          ErrorKind::kInvalidArgument,
          fmt::format("`ignore`: \"{}\" is the target{}; ignore other columns or choose another target",
                      columns()[static_cast<std::size_t>(ignored)],
                      target.empty() ? " (the default, for `target` is not given)" : ""));
    }
    is_left_out[static_cast<std::size_t>(ignored)] = true;
  }
  if (!weight.empty()) {
    const Index weight_column = column(weight, "`weight`");
    if (is_target[static_cast<std::size_t>(weight_column)]) {
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("`weight`: \"{}\" is the target; give another column", weight));
    }
    is_left_out[static_cast<std::size_t>(weight_column)] = true;
  }
  const std::optional<Index> index = index_column();
  const bool leaves_index_out = index && !is_left_out[static_cast<std::size_t>(*index)];
  if (leaves_index_out) is_left_out[static_cast<std::size_t>(*index)] = true;
  std::vector<Index> predictors;
  for (Index i = 0; i < std::ssize(columns()); ++i) {
    if (!is_left_out[static_cast<std::size_t>(i)]) predictors.push_back(i);
  }
  if (predictors.empty()) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("{}: no predictors are left: the table has {} column{}, of which \"{}\" is the target{}; "
                    "expected at least one more",
                    path(), columns().size(), columns().size() == 1 ? "" : "s",
                    columns()[static_cast<std::size_t>(target_column)],
                    ignore.empty() ? "" : " and the others are ignored"));
  }
  std::vector<Index> text_columns;
  for (const std::string& name : text) {
    const Index text_column = column(name, "`text`");
    if (is_left_out[static_cast<std::size_t>(text_column)]) {
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("`text`: \"{}\" is {}; expected a predictor",
                              columns()[static_cast<std::size_t>(text_column)],
                              is_target[static_cast<std::size_t>(text_column)] ? "the target" : "ignored"));
    }
    text_columns.push_back(text_column);
  }
  Table table = read(predictors, target_column, text_columns);
  read_more_targets(more_targets, "`target`", table);
  if (!weight.empty()) table.weights = read_weights(weight, "`weight`");
  if (leaves_index_out) {
    table.remarks.push_back(fmt::format(
        "left out: column {} has no name and numbers the rows (give it a name to use it)", *index + 1));
  }
  return table;
}

}  // namespace mfga
