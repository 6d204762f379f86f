// mfga generate: synthetic tables with a known truth, streamed to the file.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "cli/command.hpp"
#include "cli/output_file.hpp"

namespace mfga::cli {
namespace {

struct GenerateCommand {
  GenerateOptions options;
  std::string output_path;
  std::string truth_path;
  bool quiet = false;
};

void append_rows(const Matrix& x, const std::vector<double>& y, std::string& text) {
  const auto out = std::back_inserter(text);
  for (Index i = 0; i < x.rows; ++i) {
    for (Index j = 0; j < x.cols; ++j) fmt::format_to(out, "{:.9g},", x(i, j));
    fmt::format_to(out, "{:.9g}\n", y[static_cast<std::size_t>(i)]);
  }
}

void run_generate(const GenerateCommand& command) {
  const Generator generator(command.options);
  check_files({}, {{"--output", command.output_path.empty() ? "-" : command.output_path},
                   {"--truth", command.truth_path}});
  ProgressLine progress(command.quiet);
  OutputFile output(command.output_path, Compression::kByName);
  // That the truth can be written, too, is found out before the work.
  std::optional<OutputFile> truth;
  if (!command.truth_path.empty()) truth.emplace(command.truth_path);
  std::string header;
  for (const std::string& name : generator.truth().input_names()) header += name + ",";
  output.write(header + "y\n");
  // A few thousand rows in memory at a time, whatever the size of the file.
  const Index rows_at_once = std::max<Index>(256, (Index{1} << 19U) / command.options.inputs);
  std::string text;
  for (Index first = 0; first < command.options.rows; first += rows_at_once) {
    Matrix x(std::min(rows_at_once, command.options.rows - first), command.options.inputs);
    std::vector<double> y;
    generator.make_rows(first, x, y);
    text.clear();
    append_rows(x, y, text);
    output.write(text);
    progress.show(fmt::format("{} of {} rows", first + x.rows, command.options.rows));
  }
  output.commit();
  progress.clear();
  if (truth) {
    truth->write(model_to_json(generator.truth()));
    truth->commit();
  }
  if (!command.quiet && !command.output_path.empty() && command.output_path != "-") {
    print("{}: {} rows, {} inputs, target y; the truth is\n{}", escaped(command.output_path),
          command.options.rows, command.options.inputs, formula_output(generator.truth(), 20));
  }
}

}  // namespace

void add_generate(CLI::App& tool) {
  auto command = std::make_shared<GenerateCommand>();
  CLI::App* app = tool.add_subcommand("generate", "write a synthetic table whose true formula is known");
  app->add_option("--output,-o", command->output_path,
                  "where to write the table (CSV; gzip if the name ends in .gz); default: standard output")
      ->check(file_name())
      ->type_name("FILE");
  app->add_option("--truth", command->truth_path, "where to save the true formula, as a model")
      ->check(file_name())
      ->type_name("FILE");
  app->add_flag("--quiet", command->quiet, "no progress line, no report");
  add_option_table(*app, command->options, generate_option_table(), "Data");
  app->callback([command] { run_generate(*command); });
}

}  // namespace mfga::cli
