// The mfga tool. Exit codes: 0 done, 1 the computation failed, 2 wrong usage or bad data, 130 interrupted.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "cli/command.hpp"

namespace {

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

int exit_code(mfga::ErrorKind kind) { return kind == mfga::ErrorKind::kNumerical ? kFailed : kBadInput; }

}  // namespace

int main(int argc, char** argv) {
  mfga::cli::handle_signals();
  CLI::App tool(
      "mfga learns small, readable non-linear models: formulas of a few terms, picked greedily from "
      "explicit features of several kernels.\n\n"
      "  mfga train --train data.csv --target price --test-fraction 0.2 --model model.json\n"
      "  mfga inspect model.json\n"
      "  mfga predict model.json new.csv --output predictions.csv",
      "mfga");
  tool.set_version_flag("--version", "mfga " + std::string(mfga::version()));
  tool.require_subcommand(1);
  tool.get_formatter()->column_width(34);
  mfga::cli::add_train(tool);
  mfga::cli::add_predict(tool);
  mfga::cli::add_evaluate(tool);
  mfga::cli::add_inspect(tool);
  mfga::cli::add_bound(tool);
  mfga::cli::add_generate(tool);
  mfga::cli::add_demo(tool);
  mfga::cli::add_reproduce(tool);
  mfga::cli::add_options(tool);
  try {
    tool.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return tool.exit(error);  // --help, --version
    // CLI11 would only say that a command is missing.
    const bool is_unknown_command = argc > 1 && argv[1][0] != '-' && tool.get_subcommands().empty();
    const std::string problem =
        is_unknown_command ? fmt::format("there is no command \"{}\"", argv[1]) : std::string(error.what());
    fmt::print(stderr, "mfga: {}\nTry mfga --help, or mfga COMMAND --help.\n", problem);
    return kBadInput;
  } catch (const mfga::Error& error) {
    fmt::print(stderr, "mfga: {}\n", error.what());
    return exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "mfga: out of memory\n");
    return kFailed;
  } catch (const std::exception& error) {
    fmt::print(stderr, "mfga: {}\n", error.what());
    return kFailed;
  }
}
