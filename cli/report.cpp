// mfga report: a page about a model.
#include <fmt/format.h>

#include <filesystem>
#include <numeric>

#include "cli/command.hpp"
#include "cli/output_file.hpp"
#include "cli/report_page.hpp"

namespace mfga::cli {
namespace {

struct ReportCommand {
  std::string model_path;
  std::string data_path;
  std::string output_path;
  std::string target;
  std::string weight;
  std::string title;
  int threads = 0;
  CommonOptions common;
};

void run_report(ReportCommand& command) {
  const Model model = load_model(command.model_path);
  if (command.output_path.empty())
    command.output_path = std::filesystem::path(command.model_path).replace_extension(".html").string();
  if (command.data_path.empty() && !(command.target.empty() && command.weight.empty()))
    throw Error(ErrorKind::kInvalidArgument,
                "--target and --weight are columns of a table; give --data as well");
  check_files({{"the model", command.model_path}, {"--data", command.data_path}},
              {{"--output", command.output_path}});
  OutputFile file(command.output_path);
  ProgressLine progress(command.common.quiet);
  std::optional<ModelTable> table;
  if (!command.data_path.empty()) {
    command.common.read.threads = command.threads;
    progress.show("reading " + command.data_path);
    table = read_for_model(command.data_path, model, command.common.read, command.target, command.weight,
                           TargetNeed::kIfThere);
  }
  progress.show("making the page");
  const std::string html =
      report_html(model, table ? &*table : nullptr, {.title = command.title, .threads = command.threads});
  file.write(html);
  file.commit();
  progress.clear();
  const std::vector<std::string> warnings = table ? spelled(table->warnings) : std::vector<std::string>();
  if (command.output_path == "-") return;
  if (command.common.json) {
    print_json({{"report", command.output_path},
                {"bytes", html.size()},
                {"rows", table ? table->table.rows() : 0},
                {"has_target", table && !table->targets.empty()},
                {"warnings", warnings}});
  } else if (!command.common.quiet) {
    for (const std::string& warning : warnings) print("warning: {}\n", escaped(warning));
    print("report: {} ({} kB)\n", escaped(command.output_path), (html.size() + 999) / 1000);
  }
}

}  // namespace

std::string report_html(const Model& model, const ModelTable* table, const ReportOptions& options) {
  if (table == nullptr) return report_page(model, {}, options);
  std::vector<Index> columns(model.inputs.size());
  std::iota(columns.begin(), columns.end(), Index{0});
  return report_page(model,
                     ReportData{.x = table->table.values.view(),
                                .columns = columns,
                                .targets = table->targets,
                                .weights = table->table.weights,
                                .name = std::filesystem::path(table->table.source).filename().string(),
                                .row_name = row_names(table->table)},
                     options);
}

void add_report(CLI::App& tool) {
  auto command = std::make_shared<ReportCommand>();
  CLI::App* app = tool.add_subcommand(
      "report", "write a page about a model: formula, importance, effects, errors, what was tried");
  app->add_option("model", command->model_path, "model file")->required()->type_name("MODEL");
  app->add_option("--data", command->data_path,
                  "table to look at the model with, such as rows that were not trained on; -: standard input")
      ->check(file_name())
      ->type_name("FILE");
  app->add_option("-o,--output", command->output_path,
                  "where the page goes (HTML); -: standard output; default: the model's name with .html")
      ->check(file_name())
      ->type_name("FILE");
  app->add_option("--title", command->title, "of the page")->type_name("TEXT");
  add_target_options(*app, command->target, command->weight, "as in the training table, if it is there");
  add_threads_option(*app, command->threads);
  add_read_options(*app, command->common.read);
  add_output_options(*app, command->common);
  app->callback([command] { run_report(*command); });
}

}  // namespace mfga::cli
