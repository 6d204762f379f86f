#include "cli/option_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

#include "data/column_lookup.hpp"
#include "data/number_text.hpp"
#include "data/text_rows.hpp"
#include "mfga/error.hpp"

namespace mfga::cli {
namespace {

CLI::Validator check(std::string (*problem)(const std::string&)) {
  return {[problem](std::string& text) { return problem(text); }, ""};
}

std::string suggestion(const std::vector<std::string>& names, const std::string& name) {
  const std::string nearest = nearest_name(names, name);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

CLI::Validator file_name() {
  return check([](const std::string& text) -> std::string {
    return text.empty() ? "the name is empty; expected a file" : "";
  });
}

CLI::Validator whole_number() {
  return check([](const std::string& text) -> std::string {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && stop == end) return "";
    return fmt::format("found {}; expected a whole number from 0 to {}", quoted_for_message(text),
                       std::numeric_limits<std::uint64_t>::max());
  });
}

CLI::Validator fraction() {
  return check([](const std::string& text) -> std::string {
    double number = 0;
    const bool is_number = classify_field(text, number) == FieldContent::kFinite;
    return is_number && number >= 0 && number <= 1
               ? ""
               : fmt::format("found {}; expected a number between 0 and 1", quoted_for_message(text));
  });
}

std::vector<std::string> column_list(const std::vector<std::string>& given,
                                     const std::vector<std::string>& columns, const std::string& option) {
  const TextLayout layout{',', ""};
  std::vector<std::string> list;
  for (const std::string& value : given) {
    if (std::ranges::find(columns, value) != columns.end()) {
      list.push_back(value);
      continue;
    }
    std::vector<RawField> fields;
    const char* const end = value.data() + value.size();
    const bool is_one_line = layout.scan_row(value.data(), end, fields) == end;
    for (const RawField& field : fields) {
      if (!is_one_line || field.fault != RawField::Fault::kNone || field.text.empty()) {
        throw Error(ErrorKind::kInvalidArgument,
                    fmt::format("{}: found {}; expected names between commas, those that hold a comma in "
                                "quotes, as in '\"a,b\",c'",
                                option, quoted_for_message(value)));
      }
      list.push_back(unquote(field.text));
    }
  }
  return list;
}

void add_column_list(CLI::App& command, const std::string& name, std::vector<std::string>& given,
                     const std::string& help, const std::string& group) {
  command.add_option(name, given, help)->allow_extra_args(false)->type_name("A,B")->group(group);
}

std::string usage_problem(const CLI::App& tool, const CLI::ParseError& error, int argc, char** argv) {
  // CLI11 would only say that a command is missing.
  if (argc > 1 && argv[1][0] != '-' && tool.get_subcommands().empty()) {
    std::vector<std::string> commands;
    for (const CLI::App* command : tool.get_subcommands(nullptr)) commands.push_back(command->get_name());
    return fmt::format("there is no command \"{}\"{}", argv[1], suggestion(commands, argv[1]));
  }
  for (const std::string& argument : tool.remaining(true)) {
    double number = 0;
    if (argument.size() < 2 || argument[0] != '-' || argument == "--" ||
        classify_field(argument, number) != FieldContent::kText) {
      continue;
    }
    const CLI::App& command = tool.get_subcommands().empty() ? tool : *tool.get_subcommands().front();
    const std::string option = argument.substr(0, argument.find('='));
    return fmt::format("{} has no option {}{}", command.get_name(), option,
                       suggestion(option_names(command), option));
  }
  return error.what();
}

}  // namespace mfga::cli
