// mfga options: every option and feature family as Markdown; docs/options.md is its output.
#include <fmt/format.h>

#include "cli/command.hpp"
#include "features/family.hpp"

namespace mfga::cli {
namespace {

// A | inside a table cell must be escaped.
std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

template <class Options>
void print_table(std::string_view title, std::span<const OptionRow<Options>> table) {
  print("## {}\n\n| option | values | default | meaning |\n|---|---|---|---|\n", title);
  const Options defaults;
  for (const auto& row : table) {
    const std::string text = option_text(defaults, row);
    print("| `{}` | {} | {} | {} |\n", flag_of(row.name), cell(row.value),
          text.empty() ? "" : fmt::format("`{}`", text), cell(spelled(row.help)));
  }
  print("\n");
}

void print_family(const FeatureFamily& family) {
  print("### `{}`\n\n{}\n\n| option | values | default | meaning |\n|---|---|---|---|\n", family.name(),
        family.help());
  const auto print_option = [](const FamilyOption& option) {
    print("| `{}` | {} | `{}` | {} |\n", option.name, cell(option.values), option.default_value,
          cell(spelled(option.help)));
  };
  for (const FamilyOption& option : family.options()) print_option(option);
  print_option(nu_option());
  print("\n");
}

void run_options() {
  print("# Options\n\nThis page is the output of `mfga options`.\n\n");
  print_table("Learning (`mfga train`)", fit_option_table());
  print_table("Comparisons with the paper (`mfga train`)", paper_option_table());
  print_table("Cross-validation (`mfga train --ridge cv`)", cross_validation_option_table());
  print_table("Reading tables (`mfga train`, `statistics`, `describe`, `predict`, `evaluate`)",
              read_option_table());
  print_table("Synthetic tables (`mfga generate`)", generate_option_table());
  print(
      "## Feature families (`--features`)\n\nA dictionary is a sum of families, each with options by name: "
      "`linear + gaussian(order=2, sigma=auto*2)`.\n\n");
  for (const FeatureFamily* family : feature_families()) print_family(*family);
}

}  // namespace

void add_options(CLI::App& tool) {
  tool.add_subcommand("options", "list every option and feature family (Markdown)")->callback(run_options);
}

}  // namespace mfga::cli
