// What mfga train refuses before any work is done.
#include "cli/output_file.hpp"
#include "cli/train_report.hpp"

namespace mfga::cli {

void check_arguments(TrainCommand& command, bool validation_given) {
  if (command.classes == "one-vs-rest") {
    if (!command.fit.loss.empty())
      throw Error(ErrorKind::kInvalidArgument,
                  "--classes one-vs-rest is a loss of its own; leave --loss out");
    command.fit.loss = "one_vs_rest";
  }
  if (!command.start_path.empty()) {
    command.start = load_model(command.start_path);
    command.fit.start = &command.start;
  }
  command.paper.validate(command.fit);
  if (!command.test_path.empty() && command.test_fraction > 0) {
    throw Error(ErrorKind::kInvalidArgument,
                "--test and --test-fraction exclude each other; give one of them");
  }
  if (command.fit.ridge.validation() == nullptr && validation_given) {
    throw Error(ErrorKind::kInvalidArgument, "--folds and --ridges are for --ridge cv; give that, too");
  }
  if (!command.sizes_path.empty() && command.fit.terms) {
    throw Error(ErrorKind::kInvalidArgument,
                "--path is for --terms auto, which tries several numbers of terms; leave one of them out");
  }
}

void check_outputs(const TrainCommand& command) {
  check_files({{"the table", command.columns.path}, {"--test", command.test_path}},
              {{"--model", command.model_path},
               {"--path", command.sizes_path},
               {"--report", command.report_path},
               {"--checkpoint", command.checkpoint.path}});
  // That files can be written where they are to be is found out before the work.
  for (const std::string& path : {command.model_path, command.sizes_path, command.report_path}) {
    if (path.empty()) continue;
    const OutputFile writable(path);
  }
  command.checkpoint.validate();
}

}  // namespace mfga::cli
