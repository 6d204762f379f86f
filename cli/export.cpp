// mfga export: a model as a program, or in a format that other tools read.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/output_file.hpp"
#include "mfga/export.hpp"

namespace mfga::cli {
namespace {

struct ExportCommand {
  std::string model_path;
  std::string format;
  std::string output_path;
};

void run_export(const ExportCommand& command) {
  check_files({{"the model", command.model_path}}, {{"--output", command.output_path}});
  const bool to_file = !command.output_path.empty() && command.output_path != "-";
  const auto format = std::ranges::find(export_formats(), command.format, &ExportFormat::name);
  if (format != export_formats().end() && format->is_binary && !to_file && isatty(STDOUT_FILENO) != 0) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("{} is no text; give a file with --output FILE", command.format));
  }
  const std::string content = export_model(load_model(command.model_path), command.format);
  OutputFile file(command.output_path);
  file.write(content);
  file.commit();
}

}  // namespace

void add_export(CLI::App& tool) {
  auto command = std::make_shared<ExportCommand>();
  CLI::App* app = tool.add_subcommand(
      "export",
      "write a model as a program in another language, or in a format that other tools read\n\n"
      "  mfga export model.json --format c --output model.c\n"
      "  mfga export model.json --format onnx --output model.onnx\n");
  app->add_option("model", command->model_path, "model file")->required()->type_name("MODEL");
  std::vector<std::string> helps;
  std::vector<std::string_view> names;
  for (const ExportFormat& format : export_formats()) {
    names.push_back(format.name);
    helps.push_back(fmt::format("{}: {}", format.name, format.help));
  }
  app->add_option("--format", command->format, fmt::format("{}", fmt::join(helps, "; ")))
      ->required()
      ->type_name(fmt::format("{}", fmt::join(names, "|")));
  app->add_option("-o,--output", command->output_path, "file to write; default: standard output")
      ->type_name("FILE");
  app->callback([command] { run_export(*command); });
}

}  // namespace mfga::cli
