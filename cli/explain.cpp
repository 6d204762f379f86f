// mfga explain: why rows have the scores they have, term by term or column by column.
#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "cli/command.hpp"
#include "cli/output_file.hpp"
#include "cli/prediction_output.hpp"
#include "mfga/explain.hpp"

namespace mfga::cli {
namespace {

struct ExplainCommand {
  std::string model_path;
  std::string data_path;
  Index row = 0;  // from 1; 0: all
  std::string by = "term";
  std::string label;
  std::string target;
  std::size_t show = 12;
  std::string output_path;
  int threads = 0;
  CommonOptions common;
};

std::string choices_text(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, names.size()); ++i)
    text += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", names[i]);
  return names.size() > kMost ? text + ", ..." : text;
}

// The output that --class or --target names; -1: none was named.
Index chosen_output(const Model& model, const ExplainCommand& command) {
  const bool is_classes = model.task == Task::kClassification;
  if (!command.label.empty() && !is_classes)
    throw Error(ErrorKind::kInvalidArgument,
                "--class needs a classification model; this one is for regression");
  if (!command.target.empty() && (is_classes || model.has_one_output()))
    throw Error(ErrorKind::kInvalidArgument, "--target needs a model of several targets; this one has one");
  const std::string& wanted = is_classes ? command.label : command.target;
  if (wanted.empty()) return -1;
  std::vector<std::string> names = model.labels;
  if (!is_classes) {
    for (const Output& output : model.outputs) names.push_back(output.name);
  }
  const auto found = std::ranges::find(names, wanted);
  if (found == names.end()) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("--{}: the model does not know \"{}\"; it has {}",
                            is_classes ? "class" : "target", wanted, choices_text(names)));
  }
  if (is_classes && model.has_one_output() && found == names.begin()) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("--class: of two classes there is one score, that of \"{0}\"; contributions to "
                            "\"{1}\" are the same with the other sign",
                            names[1], names[0]));
  }
  return model.has_one_output() ? 0 : found - names.begin();
}

// Which outputs of a row are explained: the one that was asked for, that of the predicted class, or all.
std::vector<Index> shown_outputs(const Model& model, Index chosen, std::span<const double> totals) {
  if (chosen >= 0) return {chosen};
  if (model.task == Task::kClassification) return {std::ranges::max_element(totals) - totals.begin()};
  std::vector<Index> all(totals.size());
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

// A term or a column of one row.
struct Part {
  std::string name;
  std::string value;  // what the row has there
  double contribution = 0;
};

// One output of one row.
struct Explained {
  std::vector<Part> terms;    // largest first
  std::vector<Part> columns;  // largest first
  double rounding_of_terms = 0;
  double rounding_of_columns = 0;
};

// Largest first; the rounding is that of this order.
double sort_parts(std::vector<Part>& parts, double total, double average) {
  std::ranges::stable_sort(parts, std::greater{},
                           [](const Part& part) { return std::abs(part.contribution); });
  std::vector<double> numbers;
  for (const Part& part : parts) numbers.push_back(part.contribution);
  const double rounding = rounding_of(total, average, numbers);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i].contribution = numbers[i];
  return rounding;
}

class OneRow {
 public:
  OneRow(const Explainer& explainer, const Table& table, Index row)
      : explainer_(explainer),
        model_(explainer.model()),
        x_(table.values.view().middle_rows(row, 1)),
        columns_(model_.inputs.size()) {
    std::iota(columns_.begin(), columns_.end(), Index{0});
    const RowName name = [&](Index) { return row_names(table)(row); };
    terms_ = explainer.by_term(x_, columns_, name);
    by_column_ = explainer.by_column(x_, columns_, name);
    for (Index c = 0; c < by_column_.parts; ++c) values_.push_back(explainer.value_text(c, x_, 0, columns_));
  }

  [[nodiscard]] std::span<const double> totals() const { return terms_.totals; }
  [[nodiscard]] double total(Index output) const { return terms_.totals[static_cast<std::size_t>(output)]; }
  [[nodiscard]] double average(Index output) const {
    return terms_.averages[static_cast<std::size_t>(output)];
  }

  [[nodiscard]] Explained explained(Index output) const {
    Explained result;
    for (Index m = 0; m < terms_.parts; ++m)
      result.terms.push_back({explainer_.term_names()[static_cast<std::size_t>(m)], values_of_term(m),
                              terms_.contribution(0, m, output)});
    for (Index c = 0; c < by_column_.parts; ++c)
      result.columns.push_back({explainer_.column_names()[static_cast<std::size_t>(c)],
                                values_[static_cast<std::size_t>(c)], by_column_.contribution(0, c, output)});
    result.rounding_of_terms = sort_parts(result.terms, total(output), average(output));
    result.rounding_of_columns = sort_parts(result.columns, total(output), average(output));
    return result;
  }

  // Regression: the number. Classification: the label.
  [[nodiscard]] Json prediction(Index output) const {
    const std::vector<double> predictions = model_.predictions_from_scores(scores());
    if (model_.task == Task::kClassification)
      return model_.labels[static_cast<std::size_t>(predictions.front())];
    return predictions[static_cast<std::size_t>(output)];
  }
  // Of the label at a position.
  [[nodiscard]] double probability(std::size_t label) const { return probability_of(scores(), label); }
  // The same of the average scores.
  [[nodiscard]] double average_probability(std::size_t label) const {
    return probability_of(unscaled(terms_.averages), label);
  }

 private:
  [[nodiscard]] std::vector<double> unscaled(std::vector<double> totals) const {
    for (std::size_t k = 0; k < totals.size(); ++k)
      totals[k] = (totals[k] - model_.outputs[k].shift) / model_.outputs[k].scale;
    return totals;
  }
  [[nodiscard]] std::vector<double> scores() const { return model_.scores(x_, columns_, 1); }
  [[nodiscard]] double probability_of(const std::vector<double>& scores, std::size_t label) const {
    const std::vector<double> all = model_.probabilities_from_scores(scores);
    if (!model_.has_one_output()) return all[label];
    return label == 1 ? all[0] : 1 - all[0];
  }
  // `age = 52, hours = 40` of the columns that a term looks at.
  [[nodiscard]] std::string values_of_term(Index term) const {
    constexpr std::size_t kMost = 3;
    const std::span<const Index> columns = explainer_.columns_of_term(term);
    if (columns.size() > kMost) return fmt::format("{} columns", columns.size());
    std::string text;
    for (const Index c : columns)
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ",
                          explainer_.column_names()[static_cast<std::size_t>(c)],
                          values_[static_cast<std::size_t>(c)]);
    return text;
  }

  const Explainer& explainer_;
  const Model& model_;
  TableView x_;
  std::vector<Index> columns_;
  std::vector<std::string> values_;  // of each column
  Explanation terms_;
  Explanation by_column_;
};

// From one place on the scale to another, as arrows that point to where it goes.
class Waterfall {
 public:
  Waterfall(double average, std::span<const double> steps) : lowest_(average), highest_(average) {
    double sum = average;
    for (const double step : steps) {
      sum += step;
      lowest_ = std::min(lowest_, sum);
      highest_ = std::max(highest_, sum);
    }
  }

  [[nodiscard]] static std::string blank() { return std::string(kWidth + 1, ' '); }
  [[nodiscard]] std::string bar(double from, double to) const {
    const std::size_t begin = place(std::min(from, to));
    const std::size_t end = place(std::max(from, to));
    std::string text = blank();
    if (begin == end)
      text[begin] = '|';
    else
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin),
                text.begin() + static_cast<std::ptrdiff_t>(end), to > from ? '>' : '<');
    return text;
  }

 private:
  static constexpr std::size_t kWidth = 30;
  [[nodiscard]] std::size_t place(double value) const {
    const double range = highest_ - lowest_;
    if (!(range > 0) || !std::isfinite(range)) return 0;
    const double part = std::clamp((value - lowest_) / range, 0.0, 1.0);
    return static_cast<std::size_t>(std::lround(kWidth * part));
  }
  double lowest_;
  double highest_;
};

std::string shortened(const std::string& text, std::size_t most) {
  const std::string shown = escaped(text);
  return shown.size() <= most ? shown : shown.substr(0, most - 3) + "...";
}

// A level that the row does not have, or a step that it does not reach, is said to be none of it.
std::string term_text(const Part& part) {
  const std::size_t equals = part.value.find(" = ");
  if (equals == std::string::npos) return part.name;
  const std::string column = part.value.substr(0, equals);
  const std::string step = column + " >= ";
  bool holds = part.name == part.value || !part.name.starts_with(column + " = ");
  if (part.name.starts_with(step) && part.value.substr(equals + 3) != kMissingLevel)
    holds = std::atof(part.value.c_str() + equals + 3) >= std::atof(part.name.c_str() + step.size());
  return holds ? part.name : "not " + part.name;
}

// The parts below one another, each where the sum stands; what is too small to show is one line.
std::string waterfall_text(const std::vector<Part>& parts, bool are_terms, const std::string& average_text,
                           double average, double total, std::size_t show) {
  const auto none = std::ranges::find(parts, 0.0, &Part::contribution);  // from here on nothing is added
  const std::size_t count = static_cast<std::size_t>(none - parts.begin());
  // A line for one more part takes no more room than a line that says so.
  const std::size_t shown = count <= show + 1 ? count : show;
  std::vector<double> steps;
  for (std::size_t i = 0; i < shown; ++i) steps.push_back(parts[i].contribution);
  double rest = 0;
  for (std::size_t i = shown; i < count; ++i) rest += parts[i].contribution;
  if (shown < count) steps.push_back(rest);
  const Waterfall waterfall(average, steps);
  constexpr std::size_t kLongestValue = 40;
  constexpr std::size_t kLongestTerm = 60;
  std::size_t longest = 8;
  const auto left = [&](const Part& part) {
    return shortened(are_terms ? part.value : fmt::format("{} = {}", part.name, part.value), kLongestValue);
  };
  for (std::size_t i = 0; i < shown; ++i) longest = std::max(longest, left(parts[i]).size());
  std::string text = fmt::format("  {:>11}  {}  {:<{}}{}\n", "adds", waterfall.blank(), "this row",
                                 are_terms ? longest + 2 : 0, are_terms ? "term" : "");
  text += fmt::format("  {:>11.5g}  {}  {}\n", average, waterfall.bar(average, average), average_text);
  double sum = average;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string bar = waterfall.bar(sum, sum + steps[i]);
    sum += steps[i];
    text += fmt::format("  {:>+11.4g}  {}  ", steps[i], bar);
    if (i == shown)
      text += fmt::format("{} more {}\n", count - shown, are_terms ? "terms" : "columns");
    else if (are_terms)
      text += fmt::format("{:<{}}{}\n", left(parts[i]), longest + 2,
                          shortened(term_text(parts[i]), kLongestTerm));
    else
      text += left(parts[i]) + "\n";
  }
  return text + fmt::format("  {:>11.5g}  {}  ", total, waterfall.bar(total, total));
}

std::string number_text(const Json& value) {
  return value.is_number() ? fmt::format("{:.6g}", value.get<double>()) : escaped(value.get<std::string>());
}

void print_row(const OneRow& row, const Explainer& explainer, const ExplainCommand& command,
               const std::string& row_name, Index chosen) {
  const Model& model = explainer.model();
  const bool is_classes = model.task == Task::kClassification;
  bool is_first = true;
  for (const Index output : shown_outputs(model, chosen, row.totals())) {
    const Explained explained = row.explained(output);
    const bool by_term = command.by == "term";
    const std::string prediction = number_text(row.prediction(output));
    if (!is_first) print("\n");
    if (is_first || !is_classes)
      print("{}: {}{} {}\n", escaped(row_name),
            escaped(model.has_one_output() || is_classes
                        ? model.target_name
                        : model.outputs[static_cast<std::size_t>(output)].name),
            " is predicted to be", prediction);
    is_first = false;
    const std::size_t label = model.has_one_output() ? 1 : static_cast<std::size_t>(output);
    print("{}\n\n", escaped(explainer.score_name(output)));
    print("{}", waterfall_text(by_term ? explained.terms : explained.columns, by_term,
                               explainer.knows_means() ? "average of the training rows"
                                                       : "row of average values (the file has no averages)",
                               row.average(output), row.total(output), command.show));
    if (is_classes)
      print("score: probability {:.4g} of {} ({:.4g} at the average)\n", row.probability(label),
            escaped(model.labels[label]), row.average_probability(label));
    else
      print("{}\n", model.loss.empty() ? "prediction" : fmt::format("score; prediction {}", prediction));
  }
}

Json parts_json(const std::vector<Part>& parts, const char* kind) {
  Json list = Json::array();
  for (const Part& part : parts)
    list.push_back({{kind, part.name}, {"value", part.value}, {"contribution", part.contribution}});
  return list;
}

Json row_json(const OneRow& row, const Explainer& explainer, const ExplainCommand& command, Index line,
              Index chosen) {
  const Model& model = explainer.model();
  const bool is_classes = model.task == Task::kClassification;
  Json json = {
      {"row", command.row}, {"line", line}, {"task", task_name(model.task)}, {"target", model.target_name}};
  json["explanations"] = Json::array();
  for (const Index output : shown_outputs(model, chosen, row.totals())) {
    const Explained explained = row.explained(output);
    const std::string& name = model.outputs[static_cast<std::size_t>(output)].name;
    Json one = {{"output", name.empty() ? Json() : Json(name)},
                {"score_is", explainer.score_name(output)},
                {"prediction", row.prediction(output)}};
    if (is_classes) {
      const std::size_t label = model.has_one_output() ? 1 : static_cast<std::size_t>(output);
      one["class"] = model.labels[label];
      one["probability"] = row.probability(label);
    }
    one["average"] = row.average(output);
    one["average_is_of_training_rows"] = explainer.knows_means();
    one["terms"] = parts_json(explained.terms, "term");
    one["rounding_of_terms"] = explained.rounding_of_terms;
    one["columns"] = parts_json(explained.columns, "column");
    one["rounding_of_columns"] = explained.rounding_of_columns;
    one["score"] = row.total(output);
    json["explanations"].push_back(std::move(one));
  }
  return json;
}

void explain_one(const Explainer& explainer, ExplainCommand& command, Index chosen) {
  ReadOptions read = command.common.read;
  read.only_row = command.row;
  read.threads = 1;  // which take longer to start than a few rows to read
  const ModelFile data = open_for_model(command.data_path, explainer.model(), read);
  const Table table = data.file.read(data.sources, std::nullopt);
  const Index line = table.lines.line_of_row(0);
  const OneRow row(explainer, table, 0);
  const std::vector<std::string> warnings = spelled(table_warnings(table, explainer.model()));
  if (command.common.json) {
    Json json = row_json(row, explainer, command, line, chosen);
    json["warnings"] = warnings;
    print_json(json);
    return;
  }
  if (command.common.quiet) return;
  for (const std::string& warning : warnings) print_message("warning: " + warning);
  print_row(row, explainer, command, fmt::format("{}:{} (row {})", table.source, line, command.row), chosen);
}

// All rows as CSV: one line per row and output that is explained.
void write_table(OutputFile& file, const Explainer& explainer, const Table& table,
                 const ExplainCommand& command, Index chosen) {
  const Model& model = explainer.model();
  const bool by_term = command.by == "term";
  const bool has_outputs = !model.has_one_output();
  std::string text = "row,";
  if (has_outputs) text += model.task == Task::kClassification ? "class," : "target,";
  text += "average,";
  for (const std::string& name : by_term ? explainer.term_names() : explainer.column_names())
    text += csv_field(name) + ",";
  text += "rounding,score\n";
  std::vector<Index> columns(model.inputs.size());
  std::iota(columns.begin(), columns.end(), Index{0});
  const RowName name = row_names(table);
  // Some rows at a time, so that contributions of all need no memory.
  constexpr Index kMostNumbers = Index{1} << 22U;  // 32 MiB
  const Index of_a_row = std::max<Index>(1, std::ssize(model.terms) * model.n_outputs());
  const Index rows_at_once = std::clamp<Index>(kMostNumbers / of_a_row, 16, 8192);
  for (Index first = 0; first < table.rows(); first += rows_at_once) {
    const Index count = std::min(rows_at_once, table.rows() - first);
    const auto name_of_part = [&](Index row) { return name(first + row); };
    const ConstMatrixView x = table.values.view().middle_rows(first, count);
    const Explanation explanation =
        by_term ? explainer.by_term(x, columns, name_of_part) : explainer.by_column(x, columns, name_of_part);
    for (Index n = 0; n < count; ++n) {
      const auto outputs = static_cast<std::size_t>(explanation.outputs);
      const std::span<const double> totals =
          std::span(explanation.totals).subspan(static_cast<std::size_t>(n) * outputs, outputs);
      for (const Index k : shown_outputs(model, chosen, totals)) {
        const auto place = static_cast<std::size_t>(n) * outputs + static_cast<std::size_t>(k);
        const auto out = std::back_inserter(text);
        fmt::format_to(out, FMT_COMPILE("{},"), first + n + 1);
        if (has_outputs) text += csv_field(model.outputs[static_cast<std::size_t>(k)].name) + ",";
        fmt::format_to(out, FMT_COMPILE("{},"), explanation.averages[static_cast<std::size_t>(k)]);
        for (Index i = 0; i < explanation.parts; ++i)
          fmt::format_to(out, FMT_COMPILE("{},"), explanation.contribution(n, i, k));
        fmt::format_to(out, FMT_COMPILE("{},{}\n"), explanation.rounding[place], explanation.totals[place]);
      }
    }
    file.write(text);
    text.clear();
  }
  file.write(text);
}

void explain_all(const Explainer& explainer, ExplainCommand& command, Index chosen) {
  command.common.read.threads = command.threads;
  ProgressLine progress(command.common.quiet);
  progress.show("reading " + command.data_path);
  const ModelFile data = open_for_model(command.data_path, explainer.model(), command.common.read);
  const Table table = data.file.read(data.sources, std::nullopt);
  progress.clear();
  if (!command.common.quiet && !command.common.json) {
    for (const std::string& warning : spelled(table_warnings(table, explainer.model())))
      print_message("warning: " + warning);
  }
  OutputFile file(command.output_path, Compression::kByName);
  write_table(file, explainer, table, command, chosen);
  file.commit();
  const bool to_file = !command.output_path.empty() && command.output_path != "-";
  if (command.common.json)
    print_json({{"rows", table.rows()}, {"by", command.by}, {"output", command.output_path}});
  else if (!command.common.quiet && to_file)
    print("{} rows explained by {}: {}\n", table.rows(), command.by, escaped(command.output_path));
}

void run_explain(ExplainCommand& command) {
  const bool to_file = !command.output_path.empty() && command.output_path != "-";
  if (command.row > 0 && !command.output_path.empty())
    throw Error(ErrorKind::kInvalidArgument,
                "--output is for all rows; --row prints one, with --json as JSON");
  if (command.row == 0 && command.common.json && !to_file)
    throw Error(
        ErrorKind::kInvalidArgument,
        "--json needs --row N, or --output FILE: without these the rows are on standard output, as CSV");
  check_files({{"the model", command.model_path}, {"the data", command.data_path}},
              {{"--output", command.output_path}});
  const Model model = load_model(command.model_path);
  const Index chosen = chosen_output(model, command);
  const Explainer explainer(model, command.row > 0 ? 1 : command.threads);
  if (command.row > 0)
    explain_one(explainer, command, chosen);
  else
    explain_all(explainer, command, chosen);
}

}  // namespace

void add_explain(CLI::App& tool) {
  auto command = std::make_shared<ExplainCommand>();
  CLI::App* app = tool.add_subcommand("explain", "show what each term or column adds to the score of a row");
  app->add_option("model", command->model_path, "model file")->required()->type_name("MODEL");
  app->add_option("data", command->data_path,
                  "table with the model's inputs; other columns are not looked at; -: standard input")
      ->required()
      ->type_name("DATA");
  app->add_option("--row", command->row,
                  "the row to explain, counted from 1 without the header; default: all rows, as CSV")
      ->check(CLI::Range(Index{1}, std::numeric_limits<Index>::max()))
      ->type_name("N");
  app->add_option("--by", command->by,
                  "term: what each term adds; column: what each column of the table does, over all terms")
      ->check(CLI::IsMember({"term", "column"}))
      ->capture_default_str()
      ->type_name("term|column");
  app->add_option("--class", command->label, "whose score is explained; default: the predicted one's")
      ->type_name("LABEL");
  app->add_option("--target", command->target, "of several targets, the one to explain; default: all")
      ->type_name("NAME");
  app->add_option("--show", command->show, "terms or columns to print of a row; what others add is one line")
      ->check(whole_number())
      ->capture_default_str()
      ->type_name("N");
  app->add_option("--output,-o", command->output_path,
                  "where to write the rows as CSV; gzip if the name ends in .gz; default: standard output")
      ->check(file_name())
      ->type_name("FILE")
      ->group("Output");
  add_output_options(*app, command->common);
  add_threads_option(*app, command->threads);
  add_read_options(*app, command->common.read);
  app->callback([command] { run_explain(*command); });
}

}  // namespace mfga::cli
