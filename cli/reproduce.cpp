// mfga reproduce: the paper's tables and figure from the data sets, as JSON, CSV, Markdown and a page.
#include "repro/reproduce.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/command.hpp"
#include "cli/output_file.hpp"
#include "core/system_error.hpp"
#include "repro/data_sets.hpp"

namespace mfga::cli {
namespace {

using repro::Results;

struct ReproduceCommand {
  repro::ReproduceOptions options;
  std::string output_folder = "reproduction";
  bool resume = false;
  bool quiet = false;
};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string cpu_name() {
  std::istringstream lines(read_file("/proc/cpuinfo"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

void write_file(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

void print_results(const repro::DatasetResult& result) {
  const auto number = [](const std::optional<double>& value, const char* format) {
    return value ? fmt::format(fmt::runtime(format), *value) : std::string("-");
  };
  print("\n{} ({} training rows, {} test rows; {})\n", result.title, result.n_train, result.n_test,
        result.error_unit);
  print("  {:<14} {:>6} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "method", "terms", "oracle",
        "honest", "paper", "prepare s", "train s", "paper p s", "paper t s");
  for (const repro::MethodRow& row : result.rows) {
    const repro::PaperFigures paper = row.paper.value_or(repro::PaperFigures{});
    const auto error = [&](const std::optional<repro::ErrorEstimate>& estimate) {
      return estimate ? fmt::format("{:.4g}", estimate->error) : std::string("-");
    };
    print("  {:<14} {:>6} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n",
          row.part == repro::kOurPart ? row.method + ", ours" : row.method,
          row.terms ? fmt::format("{}", *row.terms) : "-", error(row.oracle), error(row.honest),
          number(paper.error, "{:.4g}"), number(row.preprocess_seconds, "{:.3f}"),
          number(row.train_seconds, "{:.3f}"), number(paper.preprocess_seconds, "{:.3g}"),
          number(paper.train_seconds, "{:.3g}"));
  }
  for (const std::string& remark : result.remarks) print("  {}\n", remark);
}

void run_reproduce(ReproduceCommand& command) {
  repro::ReproduceOptions& options = command.options;
  if (options.data_folder.empty()) {
    const char* folder = std::getenv("MFGA_DATA");
    if (folder == nullptr) {
      throw Error(ErrorKind::kInvalidArgument,
                  "the data sets are needed: give their folder with --data-dir, or in the environment "
                  "variable MFGA_DATA");
    }
    options.data_folder = folder;
  }
  for (const std::string& name : options.data_sets) {
    const std::vector<std::string> known = repro::data_set_names();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("there is no data set \"{}\"; there are: {}", name, fmt::join(known, ", ")));
    }
  }
  std::error_code error;
  std::filesystem::create_directories(command.output_folder, error);
  if (error) throw system_error(fmt::format("{}: cannot be made", command.output_folder), error.value());
  const std::string partial_path = command.output_folder + "/partial.json";
  Results earlier;
  if (command.resume && std::filesystem::exists(partial_path)) {
    earlier = repro::results_from_json(read_file(partial_path));
    if (earlier.quick != options.quick) {
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("{} is of a {} run; use the same options with --resume, or leave it out",
                              partial_path, earlier.quick ? "quick" : "full"));
    }
  }
  ProgressLine progress(command.quiet);
  const repro::ReproduceCallbacks callbacks{
      [&](const repro::ReproduceProgress& state) {
        progress.show(fmt::format(
            "{}: {}; {:.0f} % done{}", state.data_set, state.method, 100 * state.done,
            state.seconds_left > 0 ? fmt::format(", about {:.0f} s left", state.seconds_left) : ""));
      },
      [&](const Results& results) { write_file(partial_path, repro::results_to_json(results)); }};
  Results results = repro::reproduce(options, earlier, callbacks);
  progress.clear();
  results.cpu = cpu_name();
  results.date = fmt::format("{:%Y-%m-%d}", fmt::localtime(std::time(nullptr)));
  results.command =
      fmt::format("mfga reproduce {}{}", fmt::join(options.data_sets, " "), options.quick ? " --quick" : "");
  write_file(command.output_folder + "/results.json", repro::results_to_json(results));
  write_file(command.output_folder + "/results.csv", repro::results_to_csv(results));
  write_file(command.output_folder + "/results.md", repro::results_to_markdown(results));
  write_file(command.output_folder + "/report.html", repro::results_to_html(results));
  std::filesystem::remove(partial_path, error);
  if (command.quiet) return;
  for (const repro::DatasetResult& result : results.datasets) print_results(result);
  print("\n{:.0f} s in all. {}/report.html, results.json, results.csv and results.md hold the rest.\n",
        results.total_seconds, command.output_folder);
}

}  // namespace

void add_reproduce(CLI::App& tool) {
  auto command = std::make_shared<ReproduceCommand>();
  CLI::App* app =
      tool.add_subcommand("reproduce", "regenerate the paper's tables and figure from its data sets");
  app->add_option("datasets", command->options.data_sets, "year, news, adult, epileptic; default: all")
      ->type_name("NAME");
  app->add_option("--data-dir", command->options.data_folder,
                  "folder with the data sets; default: the environment variable MFGA_DATA")
      ->type_name("DIR");
  app->add_option("--out", command->output_folder,
                  "folder for results.json, results.csv, results.md and report.html")
      ->capture_default_str()
      ->type_name("DIR");
  app->add_flag("--quick", command->options.quick,
                "few rows, seeds and ridges: a look at the whole in less than a minute");
  app->add_flag("--resume", command->resume, "go on where an interrupted run stopped");
  add_threads_option(*app, command->options.threads);
  app->add_flag("--quiet", command->quiet, "no progress line, no tables");
  app->callback([command] { run_reproduce(*command); });
}

}  // namespace mfga::cli
