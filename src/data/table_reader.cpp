// Messages about data say where (path:line:column), what was found, what was expected and what to do. Of
// several errors the first in the file is reported, as tasks parse the file in order.
#include "data/table_reader.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "data/number_text.hpp"

namespace mfga {

void TableReader::divide(Communicator& /*ranks*/, ThreadPool& /*pool*/) {
  throw Error(ErrorKind::kInvalidArgument,
              fmt::format("a {} file cannot be read by several ranks; expected CSV, TSV or .npy", format()));
}

std::vector<std::vector<std::string>> TableReader::texts(std::span<const Index> columns,
                                                         ThreadPool& pool) const {
  std::vector<std::vector<std::string>> result;
  for (const Index column : columns) {
    ColumnPlan plan;
    plan.slots.assign(columns_.size(), kSkippedColumn);
    plan.slots[static_cast<std::size_t>(column)] = plan.numbers++;
    Table table;
    static_cast<void>(read(plan, pool, table));
    std::vector<std::string>& texts = result.emplace_back();
    for (const double number : table.values.values) texts.push_back(fmt::format("{}", number));
  }
  return result;
}

Error data_error(std::string_view path, Index line, Index column, std::string_view text) {
  if (column == 0) return {ErrorKind::kBadData, fmt::format("{}:{}: {}", path, line, text)};
  return {ErrorKind::kBadData, fmt::format("{}:{}:{}: {}", path, line, column, text)};
}

Error not_a_number_error(std::string_view path, Index line, Index column, std::string_view name,
                         std::string_view found, std::string_view further_advice) {
  double value = 0;
  const FieldContent content = classify_field(found, value);
  const std::string shown =
      content == FieldContent::kEmpty ? "an empty field" : quoted_for_message(trim(found));
  std::string advice =
      fmt::format("leave the row out or fill in a value, or leave the column out with `ignore={}`{}", name,
                  content == FieldContent::kEmpty || std::isnan(value)
                      ? "; with `missing=auto` missing values count as the column's centre"
                      : "");
  if (content == FieldContent::kText) {
    advice = fmt::format("correct the row or leave it out, or leave the column out with `ignore={}`{}", name,
                         further_advice);
    if (found.find(',') != std::string_view::npos)
      advice +=
          "; a number with thousands separators is read with `decimal=.`, one with a decimal comma with "
          "`decimal=,`";
  }
  return data_error(path, line, column,
                    fmt::format("found {} in column \"{}\"; expected a {}number ({})", shown, name,
                                content == FieldContent::kNotFinite ? "finite " : "", advice));
}

void check_memory(std::string_view path, Index rows, Index columns) {
  const double needed = static_cast<double>(rows) * static_cast<double>(columns) * sizeof(double);
  const double memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (needed > memory) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format(
            "{}: a table of {} rows and {} columns needs {:.1f} GB of memory; this machine has {:.1f} "
            "GB (leave columns out with `ignore`, or use fewer rows)",
            path, rows, columns, needed * 1e-9, memory * 1e-9));
  }
}

void check_columns(std::string_view path, Index columns) {
  if (columns <= kMostColumns) return;
  throw Error(
      ErrorKind::kBadData,
      fmt::format("{}: has {} columns, more than the {} that a table may have; is the delimiter right, and "
                  "do lines end where rows do?",
                  path, columns, kMostColumns));
}

void report_comments(const std::string& comment, Index above, Index below, Table& table) {
  if (above > 0)
    table.remarks.push_back(
        fmt::format("comments: {} line{} above the first row", above, above == 1 ? "" : "s"));
  if (below > 0) {
    table.warnings.push_back(fmt::format(
        "{}: {} below the first line, and {} left out as comments; if these are rows, add `comment=\"\"`",
        table.source,
        below == 1 ? fmt::format("1 line begins with {}", comment)
                   : fmt::format("{} lines begin with {}", below, comment),
        below == 1 ? "is" : "are"));
  }
}

Matrix allocate_matrix(std::string_view path, Index rows, Index columns) {
  check_memory(path, rows, columns);
  return Matrix::uninitialised(rows, columns);
}

std::vector<std::string> numbered_columns(Index count) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) names.push_back(fmt::format("x{}", i));
  return names;
}

}  // namespace mfga
