// What is read for training: which columns are predictors, targets and weights.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/ranks.hpp"
#include "core/row_blocks.hpp"
#include "data/ranked_reading.hpp"
#include "mfga/error.hpp"
#include "mfga/table.hpp"

namespace mfga {
namespace {

// The numbers of a table that has one column.
std::vector<double> only_column(const Table& table) {
  const TableView x = table.view();
  std::vector<double> result(static_cast<std::size_t>(x.rows));
  std::vector<Index> rows;
  for (Index first = 0; first < x.rows; first += kBlockRows) {
    rows.resize(static_cast<std::size_t>(std::min(kBlockRows, x.rows - first)));
    std::iota(rows.begin(), rows.end(), first);
    x.read(rows, kBlockRows, result.data() + first);
  }
  return result;
}

}  // namespace

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
    if (numbers.cols() != 1 || !numbers.text_columns.empty()) {
      throw Error(ErrorKind::kBadData, fmt::format("{}: the target \"{}\" does not hold numbers; several "
                                                   "targets must be numbers",
                                                   path(), name));
    }
    const std::vector<double> values = only_column(numbers);
    agreed(communicator(), [&] {
      for (Index n = 0; n < numbers.rows(); ++n) {
        if (!std::isnan(values[static_cast<std::size_t>(n)])) continue;
        throw Error(
            ErrorKind::kBadData,
            fmt::format("{}:{}: the target \"{}\" is missing; leave the row out, for there is nothing to "
                        "learn from it",
                        path(), numbers.lines.line_of_row(n), name));
      }
    });
    table.target.insert(table.target.end(), values.begin(), values.end());
    table.target_names.push_back(name);
    table.target_name += "," + name;
  }
}

std::vector<Index> TableFile::read_groups(std::string_view name_or_index, std::string_view option) const {
  const Table table = read(std::span<const Index>(), column(name_or_index, option));
  return group_numbers(table.target, communicator());
}

std::vector<double> TableFile::read_weights(std::string_view name_or_index, std::string_view option) const {
  const Index weight_column = column(name_or_index, option);
  const Table table = read({&weight_column, 1}, std::nullopt);
  const std::string& name = columns()[static_cast<std::size_t>(weight_column)];
  if (table.cols() != 1 || !table.text_columns.empty()) {
    throw Error(ErrorKind::kBadData,
                fmt::format("{}: the column of weights, \"{}\", does not hold numbers", path(), name));
  }
  std::vector<double> weights = only_column(table);
  agreed(communicator(), [&] {
    for (Index n = 0; n < table.rows(); ++n) {
      const double weight = weights[static_cast<std::size_t>(n)];
      if (!(weight >= 0)) {
        throw Error(ErrorKind::kBadData,
                    fmt::format("{}:{}: the weight \"{}\" is {}; expected a number that is not negative",
                                path(), table.lines.line_of_row(n), name,
                                std::isnan(weight) ? "missing" : fmt::format("{}", weight)));
      }
    }
  });
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
