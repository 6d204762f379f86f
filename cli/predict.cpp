// mfga predict: a model's predictions for the rows of a table.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "cli/command.hpp"
#include "cli/prediction_output.hpp"
#include "core/clock.hpp"
#include "data/column_texts.hpp"

namespace mfga::cli {
namespace {

struct PredictCommand {
  std::string model_path;
  std::string data_path;
  std::string output_path;
  std::vector<std::string> keep;
  bool proba = false;
  bool link = false;
  int threads = 0;
  CommonOptions common;
};

struct PredictTiming {
  double load = 0;
  double predict = 0;
  double write = 0;
};

// Counts the missing values of each column, which `missing` has an entry for after the first call; tells
// whether there are any. The first row is `first_row`.
bool count_missing(const Model& model, ConstMatrixView rows, const std::vector<Index>& columns,
                   Index first_row, std::vector<MissingValues>& missing) {
  bool has_any = false;
  std::size_t next = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool is_same_column = i > 0 && columns[i] == columns[i - 1];
    if (is_same_column) continue;
    if (next == missing.size()) missing.push_back({model.inputs[i].column_name(), 0, 0});
    MissingValues& own = missing[next++];
    for (Index row = 0; row < rows.rows; ++row) {
      if (!std::isnan(rows(row, columns[i]))) continue;
      has_any = true;
      if (own.count++ == 0) own.first_line = first_row + row + 1;
    }
  }
  return has_any;
}

// Scores of numbers that stay in their file: some rows at a time, so that only those need memory.
std::vector<double> stored_scores(const Model& model, const ModelFile& data, ConstMatrixView stored,
                                  bool may_be_missing, int threads, std::vector<MissingValues>& missing) {
  constexpr Index kBytesAtOnce = Index{64} << 20;
  const Index rows_at_once = std::max<Index>(1, kBytesAtOnce / (stored.cols * Index{sizeof(double)}));
  std::vector<double> scores;
  scores.reserve(static_cast<std::size_t>(stored.rows * model.n_outputs()));
  std::vector<Index> columns;
  for (const ColumnSource& source : data.sources) columns.push_back(source.column);
  const Predictor predictor(model, threads);
  for (Index first = 0; first < stored.rows; first += rows_at_once) {
    const ConstMatrixView part = stored.middle_rows(first, std::min(rows_at_once, stored.rows - first));
    const auto row_name = [&](Index row) {
      return fmt::format("{}: row {}, counted from 1", data.file.path(), first + row + 1);
    };
    try {
      if (count_missing(model, part, columns, first, missing) && !may_be_missing)
        throw Error(ErrorKind::kBadData, "a value is missing");
      const std::vector<double> part_scores = predictor.scores(part, columns, row_name);
      scores.insert(scores.end(), part_scores.begin(), part_scores.end());
    } catch (const Error&) {
      // A number that is not finite is an error, which the reader finds and words.
      static_cast<void>(data.file.read(data.sources, std::nullopt));
      throw;
    }
    data.file.forget(part);
  }
  std::erase_if(missing, [](const MissingValues& values) { return values.count == 0; });
  return scores;
}

struct Predictions {
  std::vector<double> scores;
  KeptColumns kept;
  std::vector<std::string> warnings;
  std::vector<MissingValues> missing;
};

// Where the columns are that --keep names.
std::vector<Index> kept_columns(const PredictCommand& command, const TableFile& file) {
  std::vector<Index> columns;
  for (const std::string& name : column_list(command.keep, file.columns(), "--keep"))
    columns.push_back(file.column(name, "--keep"));
  if (!columns.empty() && command.data_path != "-" && !std::filesystem::is_regular_file(command.data_path)) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("{}: --keep reads the table twice; give a file, or the table on standard input (-)",
                    command.data_path));
  }
  return columns;
}

Predictions predict_file(const Model& model, PredictCommand& command, PredictTiming& timing) {
  command.common.read.threads = command.threads;
  const auto start = Clock::now();
  Predictions result;
  const ModelFile data = open_for_model(command.data_path, model, command.common.read);
  const std::vector<Index> kept = kept_columns(command, data.file);
  // A model with text has no use for numbers alone; the reader says so. It also knows other marks than NaN.
  const std::string missing = read_options_for(model, command.common.read).missing;
  const bool can_stay = model.text_columns.empty() && (missing == "auto" || missing == "error");
  const std::optional<ConstMatrixView> stored = can_stay ? data.file.stored_numbers() : std::nullopt;
  const Table table = stored ? Table{} : data.file.read(data.sources, std::nullopt);
  result.warnings = table_warnings(table, model);
  result.missing = table.missing;
  if (!kept.empty()) {
    for (const Index column : kept)
      result.kept.names.push_back(data.file.columns()[static_cast<std::size_t>(column)]);
    result.kept.texts =
        read_column_texts(command.data_path, read_options_for(model, command.common.read), kept);
  }
  timing.load = seconds_since(start);
  const auto predict_start = Clock::now();
  if (stored) {
    result.scores = stored_scores(model, data, *stored, missing != "error", command.threads, result.missing);
    result.warnings = missing_warnings(result.missing, model, data.file.path(), stored->rows);
  } else {
    result.scores = model_scores(model, table, command.threads);
  }
  result.warnings = spelled(result.warnings);
  timing.predict = seconds_since(predict_start);
  if (!kept.empty() && result.kept.texts.front().size() * model.outputs.size() != result.scores.size()) {
    throw Error(ErrorKind::kBadData,
                fmt::format("{}: the file changed while it was read; try again", command.data_path));
  }
  return result;
}

void run_predict(PredictCommand& command) {
  const bool to_file = !command.output_path.empty() && command.output_path != "-";
  if (command.common.json && !to_file) {
    throw Error(ErrorKind::kInvalidArgument,
                "--json needs --output FILE: without one the predictions are on standard output");
  }
  check_files({{"the model", command.model_path}, {"the data", command.data_path}},
              {{"--output", command.output_path}});
  const auto start = Clock::now();
  const Model model = load_model(command.model_path);
  if (command.proba && model.task != Task::kClassification) {
    throw Error(ErrorKind::kInvalidArgument,
                "--proba needs a classification model; this one is for regression");
  }
  const PredictionKind kind = command.proba  ? PredictionKind::kProbabilities
                              : command.link ? PredictionKind::kScores
                                             : PredictionKind::kTarget;
  check_prediction_output(command.output_path, model, kind, !command.keep.empty());
  ProgressLine progress(command.common.quiet);
  progress.show("reading " + command.data_path);
  PredictTiming timing;
  const auto [scores, kept, warnings, missing] = predict_file(model, command, timing);
  progress.clear();
  if (!command.common.json && !command.common.quiet) {
    for (const std::string& warning : warnings) print_message("warning: " + warning);
  }

  const auto write_start = Clock::now();
  OutputFile output(command.output_path, Compression::kByName);
  write_predictions(output, command.output_path, model, kind, scores, kept, command.threads);
  output.commit();
  timing.write = seconds_since(write_start);
  if (command.common.json) {
    const Json json = {{"rows", scores.size() / model.outputs.size()},
                       {"terms", model.terms.size()},
                       {"output", command.output_path},
                       {"missing", missing_to_json(missing)},
                       {"warnings", warnings},
                       {"seconds",
                        {{"load", timing.load},
                         {"predict", timing.predict},
                         {"write", timing.write},
                         {"total", seconds_since(start)}}},
                       {"peak_rss_mib", peak_memory_mib()}};
    print_json(json);
  } else if (!command.common.quiet && to_file) {
    print("{} predictions: {}\n", scores.size() / model.outputs.size(), escaped(command.output_path));
  }
}

}  // namespace

void add_predict(CLI::App& tool) {
  auto command = std::make_shared<PredictCommand>();
  CLI::App* app = tool.add_subcommand("predict", "predict the target for the rows of a table");
  app->add_option("model", command->model_path, "model file")->required()->type_name("MODEL");
  app->add_option("data", command->data_path,
                  "table with the model's inputs; other columns are not looked at; -: standard input")
      ->required()
      ->type_name("DATA");
  app->add_option("--output,-o", command->output_path,
                  "where to write the predictions: CSV, or a NumPy array if the name ends in .npy; gzip if "
                  ".gz follows; "
                  "default: CSV on standard output")
      ->check(file_name())
      ->type_name("FILE")
      ->group("Output");
  CLI::Option* const proba =
      app->add_flag("--proba", command->proba, "probabilities of the classes instead of the label")
          ->group("Output");
  app->add_flag("--link", command->link,
                "the score behind a prediction instead of it: log-odds for two classes, the logarithm of the "
                "mean for poisson and gamma")
      ->group("Output")
      ->excludes(proba);
  add_column_list(*app, "--keep", command->keep,
                  "columns of the table to copy in front of the predictions, by name or index; CSV only",
                  "Output");
  add_output_options(*app, command->common);
  add_threads_option(*app, command->threads);
  add_read_options(*app, command->common.read);
  app->callback([command] { run_predict(*command); });
}

}  // namespace mfga::cli
