// The mfga tool. Exit codes: 0 done, 1 the computation failed, 2 wrong usage or bad data, 3 the system is
// out of something - memory, threads, space on the disk - 130 interrupted.
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/command.hpp"
#include "cli/output_file.hpp"
#include "cli/ranks.hpp"

namespace {

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

int exit_code(mfga::ErrorKind kind) {
  switch (kind) {
    case mfga::ErrorKind::kNumerical:
      return kFailed;
    case mfga::ErrorKind::kSystem:
      return mfga::cli::kNoSystem;
    default:
      return kBadInput;
  }
}

// Says what went wrong, of several ranks once. Returns the exit code.
int explained(std::optional<mfga::cli::LaunchedRanks>& ranks, const std::string& message, int code) {
  if (!ranks || ranks->tells_of_error(message, code)) mfga::cli::print_message(message);
  return code;
}

bool is_first_rank() {
  return mfga::cli::launched_ranks() == nullptr || mfga::cli::launched_ranks()->rank() == 0;
}

int run_tool(int argc, char** argv, std::optional<mfga::cli::LaunchedRanks>& ranks) {
  CLI::App tool(
      "mfga learns small, readable non-linear models: formulas of a few terms, picked greedily from "
      "explicit features of several kernels.\n\n"
      "  mfga train data.csv --target price --test-fraction 0.2 --model model.json\n"
      "  mfga inspect model.json\n"
      "  mfga predict model.json new.csv --output predictions.csv",
      "mfga");
  tool.set_version_flag("--version",
                        "mfga " + std::string(mfga::version()) + (mfga::cli::has_mpi() ? " with MPI" : ""));
  tool.require_subcommand(1);
  tool.get_formatter()->column_width(34);
  mfga::cli::add_describe(tool);
  mfga::cli::add_train(tool);
  mfga::cli::add_statistics(tool);
  mfga::cli::add_predict(tool);
  mfga::cli::add_evaluate(tool);
  mfga::cli::add_report(tool);
  mfga::cli::add_inspect(tool);
  mfga::cli::add_explain(tool);
  mfga::cli::add_compare(tool);
  mfga::cli::add_export(tool);
  mfga::cli::add_bound(tool);
  mfga::cli::add_generate(tool);
  mfga::cli::add_demo(tool);
  mfga::cli::add_reproduce(tool);
  mfga::cli::add_devices(tool);
  mfga::cli::add_options(tool);
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (mfga::cli::launched_ranks() != nullptr && !command.starts_with('-') && command != "train") {
    throw mfga::Error(mfga::ErrorKind::kInvalidArgument,
                      "several ranks can train together; start other commands without mpirun");
  }
  try {
    tool.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    // --help, --version
    if (error.get_exit_code() == 0) return is_first_rank() ? tool.exit(error) : 0;
    const int code = explained(ranks, mfga::cli::usage_problem(tool, error, argc, argv), kBadInput);
    if (is_first_rank()) std::fputs("Try mfga --help, or mfga COMMAND --help.\n", stderr);
    return code;
  }
}

int run_and_explain(int argc, char** argv, std::optional<mfga::cli::LaunchedRanks>& ranks) try {
  ranks.emplace();
  const int code = run_tool(argc, argv, ranks);
  // What is lost after an error was its message, or is said by it.
  if (code == 0) mfga::cli::finish_standard_output();
  return code;
} catch (const mfga::Error& error) {
  return explained(ranks, mfga::cli::spelled(error.what()), exit_code(error.kind()));
} catch (const std::bad_alloc&) {
  // Also of what was to be said: to say this takes no memory.
  std::fputs(mfga::cli::kOutOfMemory, stderr);
  if (mfga::cli::launched_ranks() != nullptr)
    static_cast<void>(ranks->tells_of_error("", mfga::cli::kNoSystem));
  return mfga::cli::kNoSystem;
} catch (const std::system_error& error) {
  return explained(ranks, error.what(), mfga::cli::kNoSystem);
} catch (const std::exception& error) {
  return explained(ranks, error.what(), kFailed);
}

int run(int argc, char** argv) {
  std::optional<mfga::cli::LaunchedRanks> ranks;
  const int code = run_and_explain(argc, argv, ranks);
  if (code != 0) mfga::cli::tell_saved_files();
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  mfga::cli::occupy_closed_streams();
  mfga::cli::handle_signals();
  // The JSON library takes memory to give memory back; where there is none, that ends the program.
  std::set_terminate(mfga::cli::end_by_terminate);
  return run(argc, argv);
}
