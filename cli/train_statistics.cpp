// mfga train --statistics: a model from sums over rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/output_file.hpp"
#include "cli/train_report.hpp"
#include "core/clock.hpp"

namespace mfga::cli {
namespace {

// All others are about rows, or about what was set when the statistics were made.
constexpr std::array<std::string_view, 22> kPossible = {
    "--statistics", "--terms",        "--choose", "--per-step",  "--ridge",        "--ridges",
    "--intercept",  "--no-intercept", "--select", "--shortlist", "--refine",       "--tolerance",
    "--time-limit", "--threads",      "--tune",   "--engine",    "--memory-limit", "--model",
    "--path",       "--show",         "--json",   "--quiet"};

void refuse_what_needs_rows(const CLI::App& app) {
  for (const CLI::Option* const option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || std::ranges::find(kPossible, name) != kPossible.end()) continue;
    if (name == "--features" || name == "--scale" || name == "--folds" || name == "--seed") {
      throw Error(
          ErrorKind::kInvalidArgument,
          fmt::format("{} is set by mfga statistics, and the file of --statistics has it; leave it out",
                      name));
    }
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("{} is for rows, and --statistics has sums over them; leave one of them out",
                            name == "--train" ? "the table" : name));
  }
}

}  // namespace

void train_from_statistics(TrainCommand& command, const CLI::App& app) {
  const auto start = Clock::now();
  refuse_what_needs_rows(app);
  if (app.count("--ridges") > 0 && command.fit.ridge.validation() == nullptr)
    throw Error(ErrorKind::kInvalidArgument, "--ridges is for --ridge cv; give that, too");
  Statistics::check_fit_options(command.fit);
  check_files({{"--statistics", command.statistics_path}},
              {{"--model", command.model_path}, {"--path", command.sizes_path}});
  for (const std::string& path : {command.model_path, command.sizes_path}) {
    if (path.empty()) continue;
    const OutputFile writable(path);
  }
  ProgressLine progress(command.common.quiet);
  progress.show("reading " + command.statistics_path);
  Measured measured;
  const Statistics statistics = load_statistics(command.statistics_path);
  measured.timing.load = seconds_since(start);
  progress.show("preparing");
  const FitResult result = [&] {
    const StopOnInterrupt stop;
    return statistics.fit(command.fit, [&](const Progress& state) {
      const bool is_stopping = StopOnInterrupt::requested();
      progress.show(is_stopping ? "stopping with what there is (Ctrl-C again: leave at once)"
                                : progress_text(state));
      return is_stopping ? ProgressAction::kStop : ProgressAction::kContinue;
    });
  }();
  if (result.report.stopped && result.model.terms.empty())
    throw Error(ErrorKind::kInterrupted, "stopped before there was a model; nothing is saved");
  const auto save_start = Clock::now();
  save_fit(command, result);
  if (!command.sizes_path.empty() && result.report.sizes.empty())
    measured.remarks.emplace_back("the file of --path has no sizes: no rows could be held out to choose one");
  measured.timing.save = seconds_since(save_start);
  measured.warnings = spelled(result.report.warnings);
  measured.timing.total = seconds_since(start);
  progress.clear();
  if (command.common.json) {
    print_json(report_to_json(command, result, 0, measured));
  } else if (!command.common.quiet) {
    print_statistics_report(command, statistics, result);
    for (const std::string& remark : measured.remarks) print("  {}\n", remark);
    print_fit_report(command, result, measured);
  }
}

}  // namespace mfga::cli
