// Data files seen through a model: columns are matched by name where there are names.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "cli/command.hpp"
#include "model/scoring.hpp"
#include "model/target.hpp"

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

// What each input of the model is in the file.
std::vector<ColumnSource> match_columns(const TableFile& file, const Model& model) {
  std::vector<ColumnSource> sources;
  const Index n_predictors = predictor_count(model.n_columns, model.text_columns);
  const auto n_file_columns = static_cast<Index>(file.columns().size());
  const bool unnamed = !file.has_header() && file.format() != "libsvm";
  // Without names a column is its position: the file has all columns of the training file, or the predictors
  // alone.
  const bool nameless_predictors = unnamed && n_file_columns == n_predictors;
  if (unnamed && !nameless_predictors && n_file_columns != model.unnamed_columns) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format(
            "{}: the file has {} columns without names; expected {}, the predictors that the model was "
            "trained on{}",
            file.path(), n_file_columns, n_predictors,
            model.unnamed_columns > 0 ? fmt::format(", or {} as in the training file", model.unnamed_columns)
                                      : " in that order"));
  }
  std::unordered_map<std::string_view, Index> positions;
  for (Index i = 0; i < n_file_columns; ++i)
    positions.emplace(file.columns()[static_cast<std::size_t>(i)], i);
  std::vector<std::string> missing;
  std::vector<std::string> wanted;  // columns; levels of one are neighbours
  for (const ModelInput& input : model.inputs) {
    const ColumnOrigin origin = origin_of(input.column, model.text_columns);
    const std::string& name = origin.text != nullptr ? origin.text->name : input.name;
    if (wanted.empty() || wanted.back() != name) wanted.push_back(name);
    const auto found = positions.find(name);
    if (nameless_predictors) {
      sources.push_back({origin.predictor, origin.level});
    } else if (found != positions.end()) {
      sources.push_back({found->second, origin.level});
    } else if (missing.empty() || missing.back() != name) {
      missing.push_back(name);
    }
  }
  if (!missing.empty()) {
    const std::size_t count = missing.size();
    if (count > 10) missing.resize(10);
    throw Error(
        ErrorKind::kBadData,
        fmt::format("{}: {} of the model's {} inputs are missing: {}{}; the file has {} columns", file.path(),
                    count, wanted.size(), fmt::join(missing, ", "), count > 10 ? ", ..." : "",
                    file.columns().size(),
                    file.has_header() ? "" : " without names (give the same columns as in training)"));
  }
  return sources;
}

// The label, or the one without a dot at its end.
bool is_label(std::string_view text, const std::string& label, bool& drops_dot) {
  if (text == label) return true;
  drops_dot = text.ends_with('.') && text.substr(0, text.size() - 1) == label;
  return drops_dot;
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

ReadOptions read_options_for(const Model& model, ReadOptions read) {
  if (read.n_features == 0) {
    read.n_features = model.n_columns;
    for (const ModelInput& input : model.inputs)
      read.n_features = std::max(read.n_features, numbered_column(input.name));
  }
  // A header is told by the names that the model looks for.
  read.names.clear();
  for (const ModelInput& input : model.inputs) {
    if (model.unnamed_columns > 0) break;
    const ColumnOrigin origin = origin_of(input.column, model.text_columns);
    const std::string& name = origin.text != nullptr ? origin.text->name : input.name;
    if (read.names.empty() || read.names.back() != name) read.names.push_back(name);
  }
  return read;
}

ModelFile open_for_model(const std::string& path, const Model& model, const ReadOptions& read) {
  TableFile file(path, read_options_for(model, read));
  std::vector<ColumnSource> sources = match_columns(file, model);
  return {std::move(file), std::move(sources)};
}

ModelTable read_for_model(const std::string& path, const Model& model, const ReadOptions& read,
                          const std::string& target_choice) {
  const auto [file, sources] = open_for_model(path, model, read);
  const auto n_file_columns = static_cast<Index>(file.columns().size());
  if (!file.has_header() && file.format() != "libsvm" && n_file_columns != model.unnamed_columns) {
    throw Error(ErrorKind::kBadData,
                fmt::format("{}: the file has {} columns without names, which is not how the "
                            "training file was; the target \"{}\" cannot be found in it",
                            path, n_file_columns, model.target_name));
  }
  const Index target_column =
      file.column(target_choice.empty() ? model.target_name : target_choice, "--target");
  ModelTable result{file.read(sources, target_column), {}, {}};
  result.warnings = table_warnings(result.table);
  if (model.task == Task::kClassification) {
    result.positives = positives_of(result.table, model, result.warnings);
  } else if (!result.table.labels.empty()) {
    throw Error(ErrorKind::kBadData,
                fmt::format("{}: the target \"{}\" holds text such as \"{}\"; the model predicts a number",
                            path, result.table.target_name, result.table.labels.front()));
  }
  return result;
}

std::vector<double> model_scores(const Model& model, const Table& table, int threads) {
  std::vector<Index> columns(model.inputs.size());
  std::iota(columns.begin(), columns.end(), Index{0});
  return scores_of_rows(model, table.values.view(), columns, threads, [&](Index row) {
    return fmt::format("{}:{}", table.source, table.lines.line_of_row(row));
  });
}

std::vector<std::string> table_warnings(const Table& table) {
  std::vector<std::string> warnings = table.warnings;
  for (const auto& [column, count, first_line] : table.unknown_texts) {
    warnings.push_back(fmt::format(
        "{}: {} of {} values in column \"{}\" are texts that the training table did not have, the "
        "first in line {}; they count as none of its levels",
        table.source, count, table.rows(), column, first_line));
  }
  return warnings;
}

std::vector<double> positives_of(const Table& table, const Model& model, std::vector<std::string>& warnings) {
  std::vector<double> positives(table.target.size());
  Index dropped_dots = 0;
  for (std::size_t n = 0; n < positives.size(); ++n) {
    const std::string label = table.labels.empty() ? number_label(table.target[n])
                                                   : table.labels[static_cast<std::size_t>(table.target[n])];
    bool drops_dot = false;
    if (is_label(label, model.labels[1], drops_dot)) {
      positives[n] = 1;
    } else if (!is_label(label, model.labels[0], drops_dot)) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("{}:{}: the target \"{}\" is \"{}\"; the model knows the labels \"{}\" and \"{}\"",
                      table.source, table.lines.line_of_row(static_cast<Index>(n)), table.target_name, label,
                      model.labels[0], model.labels[1]));
    }
    dropped_dots += drops_dot ? 1 : 0;
  }
  if (dropped_dots > 0) {
    warnings.push_back(fmt::format(
        "{}: {} of {} labels end in a dot, as in \"{}.\"; they are taken for the labels without it",
        table.source, dropped_dots, table.rows(), model.labels[0]));
  }
  return positives;
}

Model with_printable_names(Model model) {
  model.target_name = escaped(model.target_name);
  for (std::string& label : model.labels) label = escaped(label);
  for (ModelInput& input : model.inputs) input.name = escaped(input.name);
  for (TextColumn& column : model.text_columns) {
    column.name = escaped(column.name);
    for (std::string& level : column.levels) level = escaped(level);
  }
  return model;
}

Evaluation evaluate(const Model& model, std::span<const double> scores, std::span<const double> targets,
                    std::span<const double> positives) {
  Evaluation evaluation;
  if (model.task == Task::kClassification) {
    evaluation.classification = classification_metrics(scores, positives);
    evaluation.rarer_label = model.labels[evaluation.classification->rarer_is_second ? 1 : 0];
    return evaluation;
  }
  evaluation.regression = regression_metrics(model.predictions_from_scores(scores), targets);
  if (model.target_scale != 1) {
    evaluation.scaled_error_percent =
        100 * evaluation.regression->mse / (model.target_scale * model.target_scale);
  }
  return evaluation;
}

}  // namespace mfga::cli
