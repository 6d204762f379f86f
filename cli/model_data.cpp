// Data files seen through a model.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <numeric>

#include "cli/command.hpp"

namespace mfga::cli {
namespace {

// The k of a column named xk, as columns of LIBSVM files are called; 0 for other names, and where k is more
// than such a file can have.
Index numbered_column(const std::string& name) {
  Index number = 0;
  if (name.size() < 2 || name[0] != 'x') return 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  const bool is_number = error == std::errc() && end == name.data() + name.size();
  return is_number && number <= std::numeric_limits<std::int32_t>::max() ? number : 0;
}

// Whether a file has the targets of the training, in columns with their names or in its own place.
bool has_targets(const TableFile& file, const Model& model) {
  if (!file.has_header() && file.format() != "libsvm")
    return static_cast<Index>(file.columns().size()) == model.unnamed_columns;
  const auto is_there = [&](const std::string& name) {
    return std::ranges::find(file.columns(), name) != file.columns().end();
  };
  if (model.task == Task::kClassification || model.has_one_output()) return is_there(model.target_name);
  return std::ranges::all_of(model.outputs, [&](const Output& output) { return is_there(output.name); });
}

}  // namespace

void add_read_options(CLI::App& command, ReadOptions& read) {
  add_option_table(command, read, read_option_table(), "Data files");
}

void add_output_options(CLI::App& command, CommonOptions& common) {
  command.add_flag("--json", common.json, "print one JSON object on standard output, and nothing else there")
      ->group("Output");
  command.add_flag("--quiet", common.quiet, "no progress line, no report")->group("Output");
}

void add_threads_option(CLI::App& command, int& threads) {
  constexpr int kMostThreads = 1024;
  command.add_option("--threads", threads, "threads; 0: all cores")
      ->capture_default_str()
      ->check(CLI::Range(0, kMostThreads))
      ->type_name("T");
}

void add_target_options(CLI::App& command, std::string& target, std::string& weight,
                        std::string_view default_target) {
  command
      .add_option(
          "--target", target,
          fmt::format("target column by name or index, several between commas; default: {}", default_target))
      ->type_name("COLUMN");
  command.add_option("--weight", weight, "column that says how much each row counts, by name or index")
      ->type_name("COLUMN");
}

ReadOptions read_options_for(const Model& model, ReadOptions read) {
  if (read.n_features == 0) {
    read.n_features = model.n_columns;
    for (const ModelInput& input : model.inputs)
      read.n_features = std::max(read.n_features, numbered_column(input.name));
  }
  if (read.missing == "auto" && !model.missing_texts.empty())
    read.missing = fmt::format("{}", fmt::join(model.missing_texts, ","));
  // A header is told by the names that the model looks for.
  read.names.clear();
  for (const ModelInput& input : model.inputs) {
    if (model.unnamed_columns > 0) break;
    const ColumnOrigin origin = origin_of(input.column, model.text_columns);
    const std::string name = origin.text != nullptr ? origin.text->name : input.column_name();
    if (read.names.empty() || read.names.back() != name) read.names.push_back(name);
  }
  return read;
}

ModelFile open_for_model(const std::string& path, const Model& model, const ReadOptions& read) {
  TableFile file(path, read_options_for(model, read));
  std::vector<ColumnSource> sources = match_columns(model, file);
  return {std::move(file), std::move(sources)};
}

ModelTable read_for_model(const std::string& path, const Model& model, const ReadOptions& read,
                          const std::string& target_choice, const std::string& weight, TargetNeed need) {
  const auto [file, sources] = open_for_model(path, model, read);
  const auto n_file_columns = static_cast<Index>(file.columns().size());
  if (need == TargetNeed::kIfThere && target_choice.empty() && !has_targets(file, model)) {
    ModelTable result{file.read(sources, std::nullopt), {}, {}};
    result.warnings = table_warnings(result.table, model);
    if (!weight.empty()) result.table.weights = file.read_weights(weight, "--weight");
    return result;
  }
  if (!file.has_header() && file.format() != "libsvm" && n_file_columns != model.unnamed_columns) {
    throw Error(ErrorKind::kBadData,
                fmt::format("{}: the file has {} columns without names, which is not how the "
                            "training file was; the target \"{}\" cannot be found in it",
                            path, n_file_columns, model.target_name));
  }
  // Of several targets, by their names; another choice must be as many, in the same order.
  std::vector<std::string> targets = {model.target_name};
  if (model.task == Task::kRegression && !model.has_one_output()) {
    targets.clear();
    for (const Output& output : model.outputs) targets.push_back(output.name);
  }
  if (!target_choice.empty()) {
    const std::size_t wanted = targets.size();
    targets = wanted == 1 ? std::vector<std::string>{target_choice}
                          : column_list({target_choice}, file.columns(), "--target");
    if (targets.size() != wanted) {
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("--target names {} columns; the model has {} targets", targets.size(), wanted));
    }
  }
  const Index target_column = file.column(targets.front(), "--target");
  ModelTable result{file.read(sources, target_column), {}, {}};
  file.read_more_targets(std::span(targets).subspan(1), "--target", result.table);
  result.warnings = table_warnings(result.table, model);
  if (!weight.empty()) result.table.weights = file.read_weights(weight, "--weight");
  result.targets = targets_of(model, result.table, result.warnings);
  return result;
}

std::vector<double> model_scores(const Model& model, const Table& table, int threads) {
  std::vector<Index> columns(model.inputs.size());
  std::iota(columns.begin(), columns.end(), Index{0});
  return Predictor(model, threads).scores(table.values.view(), columns, row_names(table));
}

RowName row_names(const Table& table) {
  return [&table](Index row) { return fmt::format("{}:{}", table.source, table.lines.line_of_row(row)); };
}

std::vector<std::string> missing_warnings(std::span<const MissingValues> missing, const Model& model,
                                          const std::string& source, Index rows) {
  std::vector<std::string> warnings;
  for (const auto& [column, count, first_line] : missing) {
    const auto text = std::ranges::find(model.text_columns, column, &TextColumn::name);
    const auto was_missing = [&](const ModelInput& input) {
      return input.missing > 0 && input.column_name() == column;
    };
    const bool is_known = text != model.text_columns.end()
                              ? std::ranges::find(text->levels, kMissingLevel) != text->levels.end()
                              : std::ranges::any_of(model.inputs, was_missing);
    if (is_known) continue;
    warnings.push_back(
        fmt::format("{}: {} of {} values in column \"{}\" are missing, the first in line {}, and none was in "
                    "the training "
                    "table; they count as the centre of the column",
                    source, count, rows, column, first_line));
  }
  return warnings;
}

Json missing_to_json(std::span<const MissingValues> missing) {
  Json json = Json::object();
  for (const MissingValues& values : missing) json[values.column] = values.count;
  return json;
}

std::vector<std::string> table_warnings(const Table& table, const Model& model) {
  std::vector<std::string> warnings = table.warnings;
  const std::vector<std::string> missing = missing_warnings(table.missing, model, table.source, table.rows());
  warnings.insert(warnings.end(), missing.begin(), missing.end());
  for (const auto& [column, count, first_line] : table.unknown_texts) {
    const auto text = std::ranges::find(model.text_columns, column, &TextColumn::name);
    const bool has_others = text != model.text_columns.end() && !text->rare.empty();
    warnings.push_back(fmt::format(
        "{}: {} of {} values in column \"{}\" are texts that the training table did not have, the "
        "first in line {}; they count as {}",
        table.source, count, table.rows(), column, first_line,
        has_others ? fmt::format("\"{}\", as rare texts do", kOtherLevel) : "none of its levels"));
  }
  return warnings;
}

Model with_printable_names(Model model) {
  model.target_name = escaped(model.target_name);
  for (std::string& label : model.labels) label = escaped(label);
  for (Output& output : model.outputs) output.name = escaped(output.name);
  for (ModelInput& input : model.inputs) input.name = escaped(input.name);
  for (TextColumn& column : model.text_columns) {
    column.name = escaped(column.name);
    for (std::string& level : column.levels) level = escaped(level);
  }
  return model;
}

}  // namespace mfga::cli
