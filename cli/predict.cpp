// mfga predict: a model's predictions for the rows of a table.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/command.hpp"

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

// A label as a CSV field.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

void run_predict(PredictCommand& command) {
  const Model model = load_model(command.model_path);
  if (command.proba && model.task != Task::kClassification) {
    throw Error(ErrorKind::kInvalidArgument,
                "--proba needs a classification model; this one is for regression");
  }
  command.common.read.threads = command.threads;
  ProgressLine progress(command.common.quiet);
  progress.show("reading " + command.data_path);
  const ModelTable data =
      read_for_model(command.data_path, model, command.common.read, TargetColumn::kIgnored, "");
  const std::vector<double> scores = model_scores(model, data.table, command.threads);
  const std::vector<double> predictions = model.predictions_from_scores(scores);
  progress.clear();

  OutputFile output(command.output_path);
  if (command.proba) {
    output.write(
        fmt::format("{},{}\n", quoted("P(" + model.labels[0] + ")"), quoted("P(" + model.labels[1] + ")")));
  } else {
    output.write(quoted(model.target_name) + "\n");
  }
  constexpr std::size_t kFlushBytes = std::size_t{1} << 16U;
  std::string text;
  for (std::size_t n = 0; n < scores.size(); ++n) {
    if (command.proba) {
      fmt::format_to(std::back_inserter(text), "{},{}\n", Model::probability_from_score(-scores[n]),
                     Model::probability_from_score(scores[n]));
    } else if (model.task == Task::kClassification) {
      text += quoted(model.labels[predictions[n] > 0.5 ? 1 : 0]) + "\n";
    } else {
      fmt::format_to(std::back_inserter(text), "{}\n", predictions[n]);
    }
    if (text.size() > kFlushBytes) {
      output.write(text);
      text.clear();
    }
  }
  output.write(text);
  output.commit();
  if (!command.common.quiet && !command.output_path.empty() && command.output_path != "-") {
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
  app->add_option("--output,-o", command->output_path,
                  "where to write the predictions (CSV); default: standard output")
      ->type_name("FILE")
      ->group("Output");
  app->add_flag("--proba", command->proba, "probabilities of the two classes instead of the label")
      ->group("Output");
  app->add_flag("--quiet", command->common.quiet, "no progress line, no report")->group("Output");
  app->add_option("--threads", command->threads, "threads; 0: all cores")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024))
      ->type_name("T");
  add_read_options(*app, command->common.read);
  app->callback([command] { run_predict(*command); });
}

}  // namespace mfga::cli
