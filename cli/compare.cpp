// mfga compare: models side by side on a table with known targets.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/command.hpp"
#include "mfga/compare.hpp"

namespace mfga::cli {
namespace {

struct CompareCommand {
  std::vector<std::string> model_paths;
  std::string data_path;
  std::string target;
  std::string weight;
  int threads = 0;
  CommonOptions common;
};

std::string file_size_text(const std::string& path) {
  constexpr double kKilobyte = 1000;
  return fmt::format("{:.1f} kB", static_cast<double>(std::filesystem::file_size(path)) / kKilobyte);
}

// What is shown of an evaluation: name and number.
std::vector<std::pair<std::string, std::string>> measures_of(const Evaluation& evaluation) {
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.4f}", *value) : std::string("-");
  };
  if (const auto& m = evaluation.classification)
    return {{"error %", fmt::format("{:.2f}", m->error_percent)},
            {"log loss", fmt::format("{:.4f}", m->log_loss)},
            {"AUC", number(m->auc)}};
  if (const auto& m = evaluation.classes)
    return {{"error %", fmt::format("{:.2f}", m->error_percent)},
            {"log loss", fmt::format("{:.4f}", m->log_loss)},
            {"AUC", number(m->macro_auc)}};
  std::vector<std::pair<std::string, std::string>> measures;
  for (const auto& [name, metrics] : evaluation.targets)
    measures.emplace_back("RMSE " + name, fmt::format("{:.5g}", metrics.rmse));
  if (const auto& m = evaluation.regression)
    measures = {{"RMSE", fmt::format("{:.5g}", m->rmse)},
                {"MAE", fmt::format("{:.5g}", m->mae)},
                {"R2", number(m->r2)}};
  if (evaluation.own_loss) {
    std::string name = evaluation.own_measure;
    std::ranges::replace(name, '_', ' ');
    measures.emplace_back(name, fmt::format("{:.5g}", *evaluation.own_loss));
  }
  return measures;
}

// Rows of texts below one another, the first column to the left and others to the right.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      text +=
          i == 0 ? fmt::format("  {:<{}}", row[i], widths[i]) : fmt::format("  {:>{}}", row[i], widths[i]);
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

std::string comparison_text(const Comparison& comparison, const std::vector<std::string>& paths) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto measures = measures_of(comparison.models[i].evaluation);
    if (rows.empty()) {
      rows.push_back({"model", "terms", "file"});
      for (const auto& [name, value] : measures) rows.back().push_back(escaped(name));
    }
    rows.push_back({escaped(paths[i]), std::to_string(comparison.models[i].terms), file_size_text(paths[i])});
    for (const auto& [name, value] : measures) rows.back().push_back(value);
  }
  std::string text = aligned(rows);
  if (paths.size() == 1) return text;
  text += fmt::format(
      "\nmean {}, and how much more it is than that of the best model (standard error of the "
      "difference)\n",
      comparison.measure);
  rows.clear();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const ComparedModel& model = comparison.models[i];
    const bool is_best = i == comparison.best;
    rows.push_back(
        {escaped(paths[i]), fmt::format("{:.5g}", model.mean_loss),
         is_best ? "best" : fmt::format("+{:.3g} ({:.2g})", model.difference, model.standard_error),
         is_best                  ? ""
         : model.is_within_chance ? "within chance"
                                  : "more than chance"});
  }
  return text + aligned(rows) +
         fmt::format("within chance: at most two standard errors, from the differences of the {} rows\n",
                     comparison.rows);
}

Json comparison_json(const Comparison& comparison, const std::vector<std::string>& paths) {
  Json json = {{"rows", comparison.rows}, {"measure", comparison.measure}, {"best", paths[comparison.best]}};
  json["models"] = Json::array();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const ComparedModel& model = comparison.models[i];
    json["models"].push_back({{"model", paths[i]},
                              {"terms", model.terms},
                              {"bytes", std::filesystem::file_size(paths[i])},
                              {"mean_loss", model.mean_loss},
                              {"difference", model.difference},
                              {"standard_error", model.standard_error},
                              {"within_chance", model.is_within_chance},
                              {"metrics", to_json(model.evaluation)}});
  }
  return json;
}

void run_compare(CompareCommand& command) {
  std::vector<Model> models;
  for (const std::string& path : command.model_paths) models.push_back(load_model(path));
  check_comparable(models);
  if (command.data_path == "-" && models.size() > 1)
    throw Error(ErrorKind::kInvalidArgument, "--data: the table is read once for each model; give a file");
  command.common.read.threads = command.threads;
  std::vector<ModelScores> scores;
  std::vector<double> weights;
  std::vector<std::string> warnings;
  ProgressLine progress(command.common.quiet);
  // Models may have different inputs, so each has its own view of the file.
  for (std::size_t i = 0; i < models.size(); ++i) {
    progress.show(fmt::format("reading {} for {}", command.data_path, command.model_paths[i]));
    ModelTable data =
        read_for_model(command.data_path, models[i], command.common.read, command.target, command.weight);
    scores.push_back({model_scores(models[i], data.table, command.threads), std::move(data.targets)});
    weights = std::move(data.table.weights);
    for (const std::string& warning : spelled(data.warnings)) {
      if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(warning);
    }
  }
  progress.clear();
  const Comparison comparison = compare_scores(models, scores, weights);
  if (command.common.json) {
    Json json = comparison_json(comparison, command.model_paths);
    json["warnings"] = warnings;
    print_json(json);
  } else if (!command.common.quiet) {
    print("{}: {} rows\n", escaped(command.data_path), comparison.rows);
    for (const std::string& warning : warnings) print("warning: {}\n", escaped(warning));
    print("{}", comparison_text(comparison, command.model_paths));
  }
}

}  // namespace

void add_compare(CLI::App& tool) {
  auto command = std::make_shared<CompareCommand>();
  CLI::App* app = tool.add_subcommand("compare", "measure models side by side on a table");
  app->add_option("models", command->model_paths, "model files")->required()->type_name("MODEL...");
  app->add_option("--data", command->data_path, "table with the models' inputs and the target")
      ->required()
      ->check(file_name())
      ->type_name("FILE");
  add_target_options(*app, command->target, command->weight, "as in the training table");
  add_threads_option(*app, command->threads);
  add_read_options(*app, command->common.read);
  add_output_options(*app, command->common);
  app->callback([command] { run_compare(*command); });
}

}  // namespace mfga::cli
