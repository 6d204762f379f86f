// Opens a table with the reader for its format, and turns the caller's choice of columns into a plan for it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/clock.hpp"
#include "core/ranks.hpp"
#include "core/row_blocks.hpp"
#include "data/column_lookup.hpp"
#include "data/delimited.hpp"
#include "data/file_content.hpp"
#include "data/format_detection.hpp"
#include "data/libsvm.hpp"
#include "data/npy.hpp"
#include "data/number_styles.hpp"
#include "data/number_text.hpp"
#include "data/ranked_reading.hpp"
#include "data/row_collector.hpp"
#include "data/table_parts.hpp"
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
                                         const ReadOptions& options,
                                         const std::function<void(std::string_view)>& forget) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  if (bytes.empty())
    throw Error(ErrorKind::kBadData, fmt::format("{}: the file is empty; expected a table", path));
  const auto [format, delimiter] = detect_format(path, bytes, options);
  switch (format) {
    case TableFormat::kNpy:
      return std::make_unique<NpyReader>(path, bytes, options);
    case TableFormat::kLibsvm:
      return std::make_unique<LibsvmReader>(path, bytes, options, forget);
    case TableFormat::kDelimited:
      break;
  }
  return std::make_unique<DelimitedReader>(path, bytes, delimiter, options);
}

struct TableFile::Impl {
  Impl(const std::string& file_path, const ReadOptions& read_options)
      : path(file_path == kStandardInput ? "standard input" : file_path),
        options(read_options),
        parts(open_parts(file_path, options)),
        reader(&parts->reader()) {
    divide(*parts, options);
  }

  Impl(std::string_view bytes, const std::string& source, const ReadOptions& read_options)
      : path(source),
        options(read_options),
        parts(std::make_unique<TableParts>(bytes, source, options)),
        reader(&parts->reader()) {}

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
    if (!is_number(first) || reader->missing_marks().has(first) ||
        std::ranges::any_of(request.levels, is_number))
      return;
    throw data_error(
        path, first_row->line, request.column + 1,
        fmt::format("found the number {} in column \"{}\"; expected a text such as {}, as in the "
                    "training table",
                    quoted_for_message(first), reader->columns()[static_cast<std::size_t>(request.column)],
                    quoted_for_message(request.levels.front())));
  }

  void describe(const ColumnPlan& plan, Table& table) const {
    table.source = path;
    if (!reader->has_header() && reader->format() != "libsvm")
      table.unnamed_columns = std::ssize(reader->columns());
    if (plan.has_target()) table.target_name = name_of(plan.target);
  }

  // The table of a plan, with the numbers alone, and the fields of the text columns.
  [[nodiscard]] TextFields read_plan(const ColumnPlan& plan, ThreadPool& pool, Table& table) const {
    if (parts->are_several())
      throw Error(ErrorKind::kIo,
                  fmt::format("{}: is a directory or several files; expected a file with a table", path));
    describe(plan, table);
    return reader->read(plan, pool, table);
  }

  // Whether the rows go to the disk while they are read.
  [[nodiscard]] bool are_stored(const ColumnPlan& plan, ThreadPool& pool) const {
    if (options.only_row > 0) return false;
    if (parts->are_several() || !options.cache.empty()) return true;
    // A large file should not be in memory as a whole either.
    auto most = static_cast<double>(options.most_bytes);
    if (const Communicator* const ranks = reading_ranks(options)) most *= ranks->size();
    return most > 0 && (parts->bytes() > most || parts->estimated_bytes(plan, pool) > most);
  }

  // About how much text is parsed at a time.
  [[nodiscard]] Index bytes_of_part() const {
    constexpr Index kMostChunks = 16;
    constexpr Index kPart = 32;  // numbers take several times as much as their text
    const Index most = kMostChunks * options.chunk_bytes;
    return options.most_bytes == 0 ? most : std::clamp(options.most_bytes / kPart, options.chunk_bytes, most);
  }

  // The rows of the stored table in memory after all, if they have room there and none asks for the disk.
  void load_if_small(ThreadPool& pool, Table& table) const {
    const double bytes =
        static_cast<double>(table.rows()) * static_cast<double>(table.cols()) * sizeof(double);
    const bool has_room = options.most_bytes == 0 || bytes <= static_cast<double>(options.most_bytes);
    if (!options.cache.empty() || !has_room) return;
    table.values = in_memory(*table.stored, path, pool);
    table.stored = nullptr;
  }

  // Says which of the predictors are missing how often; `count` tells of a slot.
  template <class Count>
  void count_missing(std::span<const Index> columns, const ColumnPlan& plan, Table& table,
                     const Count& count) const {
    table.missing_texts = reader->missing_marks().named();
    if (!reader->missing_marks().are_allowed()) return;
    for (const Index column : columns) {
      const TextFields::Count found = count(plan.slots[static_cast<std::size_t>(column)]);
      if (found.count == 0) continue;
      table.missing.push_back({name_of(column), found.count, table.lines.line_of_row(found.first_row)});
    }
  }

  // The same of a table in memory.
  void count_missing(std::span<const Index> columns, const ColumnPlan& plan, const TextFields& texts,
                     const std::vector<Index>& place_of_number, Table& table) const {
    count_missing(columns, plan, table, [&](Index slot) {
      if (slot < 0) return texts.missing(text_slot(slot));
      const Index place = place_of_number.empty() ? slot : place_of_number[static_cast<std::size_t>(slot)];
      TextFields::Count found;
      for (Index row = 0; row < table.rows(); ++row) {
        if (std::isnan(table.values(row, place)) && found.count++ == 0) found.first_row = row;
      }
      return found;
    });
  }

  void finish(Clock::time_point start, Table& table) const {
    constexpr double kMegabyte = 1e6;
    table.megabytes = parts->bytes() / kMegabyte;
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
  std::unique_ptr<TableParts> parts;
  TableReader* reader;
  std::optional<FirstRow> first_row = reader->first_row();
  double opening_seconds = seconds_since(opening);
};

TableFile::TableFile(const std::string& path, const ReadOptions& options) {
  check_options(options);
  impl_ = std::make_unique<Impl>(path, options);
}
TableFile::TableFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TableFile::TableFile(TableFile&&) noexcept = default;
TableFile& TableFile::operator=(TableFile&&) noexcept = default;
TableFile::~TableFile() = default;

TableFile TableFile::from_bytes(std::string_view bytes, const std::string& source,
                                const ReadOptions& options) {
  check_options(options);
  return TableFile(std::make_unique<Impl>(bytes, source, options));
}

Communicator* TableFile::communicator() const { return reading_ranks(impl_->options); }
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
  std::optional<RowCollector> collected;
  TextFields texts;
  const auto read_rows = [&] {
    if (!impl_->are_stored(plan, pool)) {
      texts = impl_->read_plan(plan, pool, table);
      return;
    }
    impl_->describe(plan, table);
    collected.emplace(plan, impl_->reader->missing_marks(), table.target_name, impl_->options.cache);
    impl_->parts->read(plan, pool, impl_->bytes_of_part(), [&](RowsRead& rows, const std::string& of) {
      collected->add(rows, of, pool);
      return true;
    });
    impl_->reader->conclude(collected->rows(), collected->leading_comments(), collected->inner_comments(),
                            table);
    collected->finish(table, communicator());
  };
  if (communicator() != nullptr) refuse_texts(*impl_->reader, plan, path());
  agreed(communicator(), read_rows);
  if (communicator() != nullptr && target) share_labels(table, *communicator());
  if (plan.texts.empty() && !collected) {
    table.columns = std::move(names);
    impl_->count_missing(predictors, plan, texts, {}, table);
    impl_->finish(start, table);
    return table;
  }

  // Levels stand where their column does.
  TextFields::Destinations to;
  std::vector<TextFields::Levels> levels;
  std::vector<Index> kept;  // of the predictors
  for (std::size_t i = 0; i < predictors.size(); ++i) {
    const std::string& name = names[i];
    if (plan.slots[static_cast<std::size_t>(predictors[i])] >= 0) {
      to.of_number.push_back(to.columns++);
      table.columns.push_back(name);
      kept.push_back(predictors[i]);
      continue;
    }
    const Index place = std::ssize(levels);
    levels.push_back(collected ? collected->text(place).levels(name, table, has_header())
                               : texts.levels(place, name, table, has_header()));
    const auto& [level_texts, rare, why_none] = levels.back();
    std::vector<Index>& places = to.of_level.emplace_back();
    if (!why_none.empty()) {
      table.remarks.push_back(fmt::format("left out: \"{}\" {}", name, why_none));
      continue;
    }
    if (!rare.empty()) {
      table.remarks.push_back(fmt::format("\"{}\": {} texts that few rows have count as one, \"{}\"", name,
                                          rare.size(), kOtherLevel));
    }
    kept.push_back(predictors[i]);
    table.text_columns.push_back({name, to.columns, level_texts, rare});
    for (const std::string& level : level_texts) {
      places.push_back(to.columns++);
      table.columns.push_back(level_name(name, level));
    }
  }
  if (table.columns.empty() && !predictors.empty()) {
    throw Error(ErrorKind::kBadData,
                fmt::format("{}: no predictors are left: {}", path(), fmt::join(table.remarks, "; ")));
  }
  if (collected) {
    const auto stored = collected->stored(levels, to, most_copied_numbers(impl_->options.most_bytes));
    table.stored = stored;
    impl_->count_missing(kept, plan, table, [&](Index slot) {
      return slot < 0 ? collected->text(text_slot(slot)).missing() : collected->missing_numbers(slot);
    });
    impl_->load_if_small(pool, table);
    if (table.stored != nullptr && !predictors.empty()) {
      constexpr double kMegabyte = 1e6;
      table.remarks.push_back(fmt::format("rows are kept on disk: {:.1f} MB in {}",
                                          static_cast<double>(stored->file().size()) / kMegabyte,
                                          stored->file().folder()));
    }
  } else {
    table.values = texts.spread(table.values, levels, to, path(), pool);
    impl_->count_missing(kept, plan, texts, to.of_number, table);
  }
  impl_->finish(start, table);
  return table;
}

Table TableFile::read(std::span<const ColumnSource> sources, std::optional<Index> target) const {
  const auto start = Clock::now();
  ColumnPlan plan = impl_->start_plan(target);
  TextFields::Destinations to;
  Table table;
  std::vector<Index> columns_read;
  std::vector<std::pair<Index, Index>> copies;  // of columns of the table, from and to
  for (const auto& [column, level, known] : sources) {
    impl_->check_column(column);
    const Index destination = to.columns++;
    const Index slot = plan.slots[static_cast<std::size_t>(column)];
    if (slot == kSkippedColumn) columns_read.push_back(column);
    if (level.empty()) {
      table.columns.push_back(impl_->name_of(column));
      if (slot >= 0) {
        copies.emplace_back(to.of_number[static_cast<std::size_t>(slot)], destination);
        continue;
      }
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
      text = plan.texts.end() - 1;
      if (known != nullptr) {
        text->levels = known->levels;
        text->rare = known->rare;
      }
      to.of_level.emplace_back(text->levels.size(), Index{-1});
    }
    auto found = std::ranges::find(text->levels, level);
    std::vector<Index>& places = to.of_level[static_cast<std::size_t>(text - plan.texts.begin())];
    if (found == text->levels.end()) {
      text->levels.push_back(level);
      places.push_back(destination);
    } else {
      places[static_cast<std::size_t>(found - text->levels.begin())] = destination;
    }
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
  if (!texts.empty()) {
    table.values = texts.spread(table.values, {}, to, path(), pool);
  } else if (!copies.empty()) {
    Matrix values = allocate_matrix(path(), table.rows(), to.columns);
    for (Index row = 0; row < values.rows; ++row) {
      for (std::size_t i = 0; i < to.of_number.size(); ++i)
        values(row, to.of_number[i]) = table.values(row, static_cast<Index>(i));
    }
    table.values = std::move(values);
  }
  for (const auto& [from, copy] : copies) {
    for (Index row = 0; row < table.rows(); ++row) table.values(row, copy) = table.values(row, from);
  }
  impl_->count_missing(columns_read, plan, texts, to.of_number, table);
  for (Index i = 0; i < std::ssize(plan.texts); ++i) {
    const auto [count, first_row] = texts.unknown(i);
    if (count == 0) continue;
    table.unknown_texts.push_back({impl_->name_of(plan.texts[static_cast<std::size_t>(i)].column), count,
                                   table.lines.line_of_row(first_row)});
  }
  impl_->finish(start, table);
  return table;
}

std::optional<ConstMatrixView> TableFile::stored_numbers() const {
  return impl_->parts->are_several() ? std::nullopt : impl_->reader->stored_numbers();
}

void TableFile::forget(ConstMatrixView rows) const {
  impl_->parts->content().forget({reinterpret_cast<const char*>(rows.data),
                                  static_cast<std::size_t>(rows.rows * rows.row_stride) * sizeof(double)});
}

}  // namespace mfga
