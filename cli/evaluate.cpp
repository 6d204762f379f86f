// mfga evaluate: how well a model does on a table with known targets.
#include <fmt/format.h>

#include "cli/command.hpp"

namespace mfga::cli {
namespace {

struct EvaluateCommand {
  std::string model_path;
  std::string data_path;
  std::string target;
  std::string weight;
  int threads = 0;
  CommonOptions common;
};

void run_evaluate(EvaluateCommand& command) {
  const Model model = load_model(command.model_path);
  command.common.read.threads = command.threads;
  ProgressLine progress(command.common.quiet);
  progress.show("reading " + command.data_path);
  const ModelTable data =
      read_for_model(command.data_path, model, command.common.read, command.target, command.weight);
  const Evaluation evaluation = evaluate_scores(model, model_scores(model, data.table, command.threads),
                                                data.targets, data.table.weights);
  progress.clear();
  if (command.common.json) {
    Json json = {{"task", task_name(model.task)}, {"terms", model.terms.size()}, {"rows", data.table.rows()}};
    json["metrics"] = to_json(evaluation);
    json["missing"] = missing_to_json(data.table.missing);
    json["warnings"] = spelled(data.warnings);
    print_json(json);
  } else if (!command.common.quiet) {
    print("{}\n", table_summary(data.table));
    for (const std::string& warning : spelled(data.warnings)) print("warning: {}\n", escaped(warning));
    print("{}\n{}", to_text(evaluation), classes_text(evaluation));
  }
}

}  // namespace

void add_evaluate(CLI::App& tool) {
  auto command = std::make_shared<EvaluateCommand>();
  CLI::App* app = tool.add_subcommand("evaluate", "measure a model's error on a table");
  app->add_option("model", command->model_path, "model file")->required()->type_name("MODEL");
  app->add_option("data", command->data_path,
                  "table with the model's inputs and the target; -: standard input")
      ->required()
      ->type_name("DATA");
  add_target_options(*app, command->target, command->weight, "as in the training table");
  add_threads_option(*app, command->threads);
  add_read_options(*app, command->common.read);
  add_output_options(*app, command->common);
  app->callback([command] { run_evaluate(*command); });
}

}  // namespace mfga::cli
