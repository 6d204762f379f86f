// What `mfga train` does with a checkpoint.
#include <fmt/format.h>

#include "cli/option_checks.hpp"
#include "cli/train_report.hpp"

namespace mfga::cli {

void add_checkpoint_options(CLI::App& app, Checkpoint& checkpoint) {
  app.add_option(
         "--checkpoint", checkpoint.path,
         "where to keep what the fit has found so far, for --resume if its process ends; removed when the "
         "model is saved")
      ->check(file_name())
      ->type_name("FILE")
      ->group("Output");
  app.add_option("--checkpoint-every", checkpoint.every,
                 "seconds between writes of the checkpoint, at least; 0: after every step")
      ->capture_default_str()
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 1e9))
      ->group("Output");
  app.add_flag("--resume", checkpoint.resume,
               "go on from the --checkpoint, if it is there, to the same model; with any --threads")
      ->group("Output");
}

std::string end_checkpoint(const Checkpoint& checkpoint, const FitReport& report) {
  if (!report.stopped) {
    checkpoint.remove();
    return "";
  }
  if (checkpoint.path.empty()) return "";
  return fmt::format("{}: the checkpoint stays; `resume` goes on from it", checkpoint.path);
}

}  // namespace mfga::cli
