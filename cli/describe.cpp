// mfga describe: the columns of a table as the learner sees them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/command.hpp"
#include "cli/training_table.hpp"

namespace mfga::cli {
namespace {

struct DescribeCommand {
  TrainingColumns columns;
  CommonOptions common;
  int threads = 0;
};

Json column_to_json(const ColumnDescription& column) {
  Json json = {{"name", column.name},
               {"kind", column.is_text ? "text" : "number"},
               {"missing", column.missing},
               {"distinct", column.distinct}};
  if (column.is_text) {
    json["levels"] = Json::object();
    for (const auto& [level, rows] : column.levels) json["levels"][level] = rows;
    json["rare"] = column.rare;
  } else {
    json["lowest"] = column.lowest;
    json["highest"] = column.highest;
    json["mean"] = column.mean;
    json["deviation"] = column.deviation;
    json["numbers_the_rows"] = column.numbers_the_rows;
  }
  json["scale"] = column.scale.empty() ? Json() : Json(column.scale);
  json["constant"] = column.is_constant;
  json["tells_of_missing"] = column.tells_of_missing;
  json["same_as"] = column.same_as.empty() ? Json() : Json(column.same_as);
  json["gives_away"] = column.gives_away.empty() ? Json() : Json(column.gives_away);
  return json;
}

Json description_to_json(const Table& table, const TableDescription& description) {
  Json json = {{"rows", description.rows}, {"remarks", spelled(table.remarks)}};
  json["warnings"] = spelled(table.warnings);
  json["target"] = {{"name", description.target.name}, {"task", task_name(description.task)}};
  if (description.task == Task::kClassification) {
    for (const auto& [label, rows] : description.classes) json["target"]["classes"][label] = rows;
  } else {
    const ColumnDescription& target = description.target;
    json["target"]["lowest"] = target.lowest;
    json["target"]["highest"] = target.highest;
    json["target"]["mean"] = target.mean;
    json["target"]["deviation"] = target.deviation;
  }
  json["columns"] = Json::array();
  for (const ColumnDescription& column : description.columns)
    json["columns"].push_back(column_to_json(column));
  return json;
}

// The most frequent of texts, with their rows.
std::string counts_text(const std::vector<std::pair<std::string, Index>>& counts, std::size_t most) {
  std::vector<std::string> shown;
  for (const auto& [text, rows] : counts) {
    if (shown.size() == most) break;
    shown.push_back(fmt::format("{} {}", escaped(text), rows));
  }
  return fmt::format("{}{}", fmt::join(shown, ", "), counts.size() > most ? ", ..." : "");
}

std::string range_text(const ColumnDescription& column) {
  return fmt::format("{:.6g} to {:.6g}, mean {:.4g} +- {:.4g}", column.lowest, column.highest, column.mean,
                     column.deviation);
}

void print_description(const Table& table, const TableDescription& description) {
  constexpr std::size_t kMostClasses = 10;
  constexpr std::size_t kMostLevels = 4;
  print("{}\n", table_summary(table));
  print("target {}: {}\n\n", escaped(description.target.name),
        description.task == Task::kClassification
            ? fmt::format("{} classes: {}", description.classes.size(),
                          counts_text(description.classes, kMostClasses))
            : "number, " + range_text(description.target));
  std::size_t width = 6;
  for (const ColumnDescription& column : description.columns)
    width = std::max(width, escaped(column.name).size());
  print("{:<{}}  {:<6}  {:>8}  {:>8}  {:<8}  values\n", "column", width, "kind", "missing", "distinct",
        "scale");
  std::vector<std::string> notes;
  for (const ColumnDescription& column : description.columns) {
    print("{:<{}}  {:<6}  {:>8}  {:>8}  {:<8}  {}\n", escaped(column.name), width,
          column.is_text ? "text" : "number", column.missing, column.distinct,
          column.is_constant ? "left out" : column.scale,
          column.is_text                       ? counts_text(column.levels, kMostLevels)
          : column.missing == description.rows ? "none"
                                               : range_text(column));
    const auto note = [&](const std::string& text) {
      notes.push_back(fmt::format("{}: {}", escaped(column.name), text));
    };
    if (column.is_constant) note("has one value in all rows and is left out");
    if (!column.same_as.empty()) note(fmt::format("is the same as {} in every row", escaped(column.same_as)));
    if (column.numbers_the_rows)
      note("numbers the rows; leave it out with --ignore unless the order matters");
    if (column.tells_of_missing) note("has an input that tells where it is missing");
    if (column.rare > 0) note(fmt::format("{} rare texts are one level, other", column.rare));
    if (!column.gives_away.empty())
      note(
          fmt::format("may give the answer away: {}. Leave it out with --ignore if it is not known when "
                      "predictions are made",
                      column.gives_away));
  }
  if (!notes.empty()) print("\n");
  for (const std::string& line : notes) print("{}\n", line);
}

void run_describe(DescribeCommand& command) {
  command.common.read.threads = command.threads;
  const Table table = read_training_table(command.columns, command.common.read);
  const TableDescription description =
      learn_from(table, [&](const TrainingData& data) { return describe(data, command.threads); });
  if (command.common.json) {
    print_json(description_to_json(table, description));
  } else if (!command.common.quiet) {
    print_description(table, description);
    for (const std::string& warning : spelled(table.warnings)) print("warning: {}\n", escaped(warning));
  }
}

}  // namespace

void add_describe(CLI::App& tool) {
  auto command = std::make_shared<DescribeCommand>();
  CLI::App* app = tool.add_subcommand("describe", "show the columns of a table as the learner sees them");
  app->add_option("table", command->columns.path,
                  "table: CSV, TSV, LIBSVM or .npy, also gzip-compressed; -: standard input")
      ->required()
      ->check(file_name())
      ->type_name("FILE");
  add_training_columns(*app, command->columns);
  add_read_options(*app, command->common.read);
  add_threads_option(*app, command->threads);
  add_output_options(*app, command->common);
  app->callback([command] { run_describe(*command); });
}

}  // namespace mfga::cli
