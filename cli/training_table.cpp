#include "cli/training_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/row_memory.hpp"

namespace mfga::cli {

void add_training_columns(CLI::App& command, TrainingColumns& columns) {
  command
      .add_option(
          "--target", columns.target,
          "column to predict, by name or index (-1: the last), or several numbers to predict together, "
          "as in a,b; default: the last, or LIBSVM's label")
      ->type_name("COLUMN")
      ->group("Data files");
  add_column_list(command, "--ignore", columns.ignore,
                  "columns to leave out, by name or index; names with commas in quotes", "Data files");
  add_column_list(command, "--text,--categorical", columns.text,
                  "columns to read as text although they hold numbers, such as codes, by name or index",
                  "Data files");
  command
      .add_option("--weight", columns.weight,
                  "column that says how much each row counts, by name or index; it is no predictor")
      ->type_name("COLUMN")
      ->group("Data files");
  command
      .add_option("--group", columns.group,
                  "column that says which rows belong together, by name or index: where rows are held out, "
                  "those of a group are held out together; it is no predictor")
      ->type_name("COLUMN")
      ->group("Data files");
}

ReadOptions read_options_for(const TrainingColumns& columns, ReadOptions read) {
  if (!columns.target.empty()) read.names = column_list({columns.target}, {}, "--target");
  return read;
}

void add_cache_option(CLI::App& command, ReadOptions& read) {
  command
      .add_option(
          "--cache", read.cache,
          "keep the rows on disk while learning, in this folder, and not in memory; without it that is "
          "done where they take more than half of --memory-limit, in $TMPDIR or /var/tmp")
      ->type_name("FOLDER")
      ->group("Data files");
}

void check_rows_fit(const Table& table, const FitOptions& options) {
  if (table.stored == nullptr) return;
  const std::size_t outputs = std::max(
      {std::size_t{1}, table.target_names.size(), table.labels.size() > 2 ? table.labels.size() : 0});
  check_rows_have_room(table.source, table.rows(), static_cast<Index>(outputs), options);
}

Table read_training_table(const TrainingColumns& columns, const ReadOptions& read) {
  return read_training_table(TableFile(columns.path, read_options_for(columns, read)), columns);
}

Table read_training_table(const TableFile& file, const TrainingColumns& columns) {
  std::vector<std::string> targets = {columns.target};  // empty: the usual one
  if (!columns.target.empty()) targets = column_list(targets, file.columns(), "--target");
  std::vector<std::string> ignored = column_list(columns.ignore, file.columns(), "--ignore");
  if (!columns.group.empty()) {
    const Index group = file.column(columns.group, "--group");
    for (const std::string& target : targets) {
      const Index column = target.empty() ? file.default_target() : file.column(target, "--target");
      if (column != group) continue;
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("--group: \"{}\" is the target; give another column",
                              file.columns()[static_cast<std::size_t>(group)]));
    }
    ignored.push_back(columns.group);
  }
  Table table =
      file.read_for_training(targets.front(), ignored, column_list(columns.text, file.columns(), "--text"),
                             columns.weight, std::span(targets).subspan(1));
  if (!columns.group.empty()) table.groups = file.read_groups(columns.group, "--group");
  return table;
}

TrainingData training_data(const Table& table) {
  return {.x = table.view(),
          .y = table.target,
          .columns = table.columns,
          .target_name = table.target_name,
          .labels = table.labels,
          .unnamed_columns = table.unnamed_columns,
          .text_columns = table.text_columns,
          .lines = &table.lines,
          .weights = table.weights,
          .target_names = table.target_names,
          .missing_texts = table.missing_texts,
          .groups = table.groups};
}

}  // namespace mfga::cli
