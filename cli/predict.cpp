// mfga predict: a model's predictions for the rows of a table.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/command.hpp"
#include "cli/prediction_output.hpp"

namespace mfga::cli {
namespace {

struct PredictCommand {
  std::string model_path;
  std::string data_path;
  std::string output_path;
  bool proba = false;
  int threads = 0;
  CommonOptions common;
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Timing {
  double load = 0;
  double predict = 0;
  double write = 0;
};

// Scores of numbers that stay in their file: some rows at a time, so that only those need memory.
std::vector<double> stored_scores(const Model& model, const ModelFile& data, ConstMatrixView stored,
                                  int threads) {
  constexpr Index kBytesAtOnce = Index{64} << 20;
  const Index rows_at_once = std::max<Index>(1, kBytesAtOnce / (stored.cols * Index{sizeof(double)}));
  std::vector<double> scores;
  scores.reserve(static_cast<std::size_t>(stored.rows));
  std::vector<Index> columns;
  for (const ColumnSource& source : data.sources) columns.push_back(source.column);
  for (Index first = 0; first < stored.rows; first += rows_at_once) {
    const ConstMatrixView part = stored.middle_rows(first, std::min(rows_at_once, stored.rows - first));
    const std::vector<double> part_scores = model.scores(part, columns, threads);
    scores.insert(scores.end(), part_scores.begin(), part_scores.end());
    data.file.forget(part);
  }
  // A number that is not finite is an error, which the reader finds and words.
  if (std::ranges::any_of(scores, [](double score) { return std::isnan(score); }))
    static_cast<void>(data.file.read(data.sources, std::nullopt));
  return scores;
}

std::vector<double> scores_of_file(const Model& model, PredictCommand& command, Timing& timing,
                                   std::vector<std::string>& warnings) {
  command.common.read.threads = command.threads;
  const auto start = Clock::now();
  const ModelFile data = open_for_model(command.data_path, model, command.common.read);
  // A model with text has no use for numbers alone; the reader says so.
  const std::optional<ConstMatrixView> stored =
      model.text_columns.empty() ? data.file.stored_numbers() : std::nullopt;
  const Table table = stored ? Table{} : data.file.read(data.sources, std::nullopt);
  warnings = table_warnings(table);
  timing.load = seconds_since(start);
  const auto predict_start = Clock::now();
  std::vector<double> scores = stored ? stored_scores(model, data, *stored, command.threads)
                                      : model_scores(model, table, command.threads);
  timing.predict = seconds_since(predict_start);
  return scores;
}

void run_predict(PredictCommand& command) {
  const bool to_file = !command.output_path.empty() && command.output_path != "-";
  if (command.common.json && !to_file) {
    throw Error(ErrorKind::kInvalidArgument,
                "--json needs --output FILE: without one the predictions are on standard output");
  }
  const auto start = Clock::now();
  const Model model = load_model(command.model_path);
  if (command.proba && model.task != Task::kClassification) {
    throw Error(ErrorKind::kInvalidArgument,
                "--proba needs a classification model; this one is for regression");
  }
  const PredictionKind kind = command.proba ? PredictionKind::kProbabilities : PredictionKind::kTarget;
  check_prediction_output(command.output_path, model, kind);
  ProgressLine progress(command.common.quiet);
  progress.show("reading " + command.data_path);
  Timing timing;
  std::vector<std::string> warnings;
  const std::vector<double> scores = scores_of_file(model, command, timing, warnings);
  progress.clear();
  if (!command.common.json && !command.common.quiet) {
    for (const std::string& warning : warnings) fmt::print(stderr, "mfga: warning: {}\n", warning);
  }

  const auto write_start = Clock::now();
  OutputFile output(command.output_path);
  write_predictions(output, command.output_path, model, kind, scores, command.threads);
  output.commit();
  timing.write = seconds_since(write_start);
  if (command.common.json) {
    const Json json = {{"rows", scores.size()},
                       {"terms", model.terms.size()},
                       {"output", command.output_path},
                       {"warnings", warnings},
                       {"seconds",
                        {{"load", timing.load},
                         {"predict", timing.predict},
                         {"write", timing.write},
                         {"total", seconds_since(start)}}},
                       {"peak_rss_mib", peak_memory_mib()}};
    fmt::print("{}\n", json.dump(2));
  } else if (!command.common.quiet && to_file) {
    fmt::print("{} predictions: {}\n", scores.size(), command.output_path);
  }
}

}  // namespace

void add_predict(CLI::App& tool) {
  auto command = std::make_shared<PredictCommand>();
  CLI::App* app = tool.add_subcommand("predict", "predict the target for the rows of a table");
  app->add_option("model", command->model_path, "model file")->required()->type_name("MODEL");
  app->add_option("data", command->data_path,
                  "table with the model's inputs; other columns are not looked at")
      ->required()
      ->type_name("DATA");
  app->add_option(
         "--output,-o", command->output_path,
         "where to write the predictions: CSV, or a NumPy array if the name ends in .npy; default: CSV on "
         "standard output")
      ->type_name("FILE")
      ->group("Output");
  app->add_flag("--proba", command->proba, "probabilities of the two classes instead of the label")
      ->group("Output");
  add_output_options(*app, command->common);
  app->add_option("--threads", command->threads, "threads; 0: all cores")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024))
      ->type_name("T");
  add_read_options(*app, command->common.read);
  app->callback([command] { run_predict(*command); });
}

}  // namespace mfga::cli
