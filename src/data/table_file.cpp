// Opens a table with the reader for its format, and turns the caller's choice of columns into a plan for it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "data/column_lookup.hpp"
#include "data/delimited.hpp"
#include "data/file_content.hpp"
#include "data/format_detection.hpp"
#include "data/libsvm.hpp"
#include "data/npy.hpp"
#include "data/number_text.hpp"
#include "data/table_reader.hpp"
#include "mfga/error.hpp"
#include "mfga/table.hpp"

namespace mfga {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void check_choice(std::string_view option, std::string_view value,
                  std::span<const std::string_view> choices) {
  if (std::ranges::find(choices, value) != choices.end()) return;
  throw Error(ErrorKind::kInvalidArgument, fmt::format("--{}: found {}; expected one of {}", option,
                                                       quoted_for_message(value), fmt::join(choices, ", ")));
}

void check_range(std::string_view option, Index value, Index least, Index most) {
  if (value >= least && value <= most) return;
  throw Error(
      ErrorKind::kInvalidArgument,
      fmt::format("--{}: found {}; expected a whole number from {} to {}", option, value, least, most));
}

void check_options(const ReadOptions& options) {
  constexpr std::array<std::string_view, 5> kFormats = {"auto", "csv", "tsv", "libsvm", "npy"};
  constexpr std::array<std::string_view, 3> kHeaders = {"auto", "yes", "no"};
  constexpr Index kMostThreads = 4096;
  check_choice("format", options.format, kFormats);
  check_choice("header", options.header, kHeaders);
  check_range("n-features", options.n_features, 0, std::numeric_limits<std::int32_t>::max());
  check_range("threads", options.threads, 0, kMostThreads);
  check_range("chunk-bytes", options.chunk_bytes, 1, std::numeric_limits<Index>::max() / 2);
}

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

}  // namespace

struct TableFile::Impl {
  Impl(const std::string& file_path, const ReadOptions& read_options)
      : path(file_path),
        options(read_options),
        content(path),
        reader(make_reader(path, content.bytes(), options)) {
    reader->when_read([this](std::string_view part) { content.forget(part); });
  }

  // Which column goes where; every position is checked.
  [[nodiscard]] ColumnPlan make_plan(std::span<const Index> predictors, std::optional<Index> target) const {
    const Index count = std::ssize(reader->columns());
    ColumnPlan plan;
    plan.slots.assign(reader->columns().size(), kSkippedColumn);
    const auto place = [&](Index column, Index slot) {
      if (column < 0 || column >= count) {
        throw Error(ErrorKind::kInvalidArgument,
                    fmt::format("{}: column {} is asked for; expected 0 to {}", path, column, count - 1));
      }
      Index& place_of_column = plan.slots[static_cast<std::size_t>(column)];
      if (place_of_column != kSkippedColumn) {
        throw Error(
            ErrorKind::kInvalidArgument,
            fmt::format(
                "{}: column \"{}\" is asked for twice; expected each column once, as a predictor or as "
                "the target",
                path, reader->columns()[static_cast<std::size_t>(column)]));
      }
      place_of_column = slot;
    };
    if (target) {
      place(*target, kTargetColumn);
      plan.target = *target;
    }
    for (const Index column : predictors) place(column, plan.predictors++);
    return plan;
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

Index TableFile::column(std::string_view name_or_index, std::string_view option) const {
  return find_column(columns(), name_or_index, option, path());
}

Table TableFile::read(std::span<const Index> predictors, std::optional<Index> target) const {
  const auto start = Clock::now();
  const ColumnPlan plan = impl_->make_plan(predictors, target);
  constexpr double kMegabyte = 1e6;
  Table table;
  table.source = path();
  if (!has_header() && format() != "libsvm") table.unnamed_columns = static_cast<Index>(columns().size());
  for (const Index column : predictors) table.columns.push_back(impl_->name_of(column));
  if (target) table.target_name = impl_->name_of(*target);
  ThreadPool pool(impl_->options.threads);
  impl_->reader->read(plan, pool, table);
  table.megabytes = static_cast<double>(impl_->content.bytes().size()) / kMegabyte;
  table.load_seconds = impl_->opening_seconds + seconds_since(start);
  return table;
}

std::optional<ConstMatrixView> TableFile::stored_numbers() const { return impl_->reader->stored_numbers(); }

void TableFile::forget(ConstMatrixView rows) const {
  impl_->content.forget({reinterpret_cast<const char*>(rows.data),
                         static_cast<std::size_t>(rows.rows * rows.row_stride) * sizeof(double)});
}

Table TableFile::read_for_training(std::string_view target, std::span<const std::string> ignore) const {
  const Index target_column = target.empty() ? default_target() : column(target, "--target");
  std::vector<bool> is_left_out(columns().size());
  is_left_out[static_cast<std::size_t>(target_column)] = true;
  for (const std::string& name : ignore) {
    const Index ignored = column(name, "--ignore");
    if (ignored == target_column) {
      throw Error(
          ErrorKind::kInvalidArgument,
          fmt::format("--ignore: \"{}\" is the target{}; ignore other columns or choose another target",
                      columns()[static_cast<std::size_t>(ignored)],
                      target.empty() ? " (the default, for --target is not given)" : ""));
    }
    is_left_out[static_cast<std::size_t>(ignored)] = true;
  }
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
  return read(predictors, target_column);
}

}  // namespace mfga
