// What the subcommands share: registration from option tables, data files seen through a model, output.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/option_checks.hpp"
#include "cli/spelling.hpp"
#include "cli/standard_output.hpp"
#include "mfga/mfga.hpp"
#include "model/option_table.hpp"

namespace mfga::cli {

using Json = nlohmann::ordered_json;

// Each subcommand is one file with one function that adds it to the tool.
void add_train(CLI::App& tool);
void add_statistics(CLI::App& tool);
void add_predict(CLI::App& tool);
void add_evaluate(CLI::App& tool);
void add_explain(CLI::App& tool);
void add_compare(CLI::App& tool);
void add_report(CLI::App& tool);
void add_describe(CLI::App& tool);
void add_inspect(CLI::App& tool);
void add_export(CLI::App& tool);
void add_bound(CLI::App& tool);
void add_generate(CLI::App& tool);
void add_demo(CLI::App& tool);
void add_devices(CLI::App& tool);
void add_options(CLI::App& tool);
void add_reproduce(CLI::App& tool);

// Adds --name for every row of an option table.
template <class Options>
void add_option_table(CLI::App& command, Options& options, std::span<const OptionRow<Options>> table,
                      const std::string& group) {
  for (const OptionRow<Options>& row : table) {
    const std::string name = flag_of(row.name);
    const std::string help = spelled(row.help);
    CLI::Option* const option = std::visit(
        [&](auto member) -> CLI::Option* {
          using Member = decltype(member);
          if constexpr (std::is_same_v<Member, ChoiceMember<Options>> ||
                        std::is_same_v<Member, WrittenMember<Options>>) {
            return command.add_option_function<std::string>(
                name, [&options, &row](const std::string& text) { set_option(options, row, text); }, help);
          } else if constexpr (std::is_same_v<Member, bool Options::*>) {
            return command.add_flag(name, options.*member, help);
          } else {
            return command.add_option(name, options.*member, help);
          }
        },
        row.member);
    option->group(group);
    if (std::holds_alternative<bool Options::*>(row.member)) continue;
    if (std::holds_alternative<std::vector<double> Options::*>(row.member))
      option->delimiter(',')->allow_extra_args(false);
    if (std::holds_alternative<std::uint64_t Options::*>(row.member)) option->check(whole_number());
    option->type_name(std::string(row.value));
    if (const std::string text = option_text(options, row); !text.empty()) option->default_str(text);
  }
}

// How tables are read, and what is printed; options of several subcommands.
struct CommonOptions {
  ReadOptions read;
  bool json = false;
  bool quiet = false;
};
void add_read_options(CLI::App& command, ReadOptions& read);
void add_output_options(CLI::App& command, CommonOptions& common);
void add_threads_option(CLI::App& command, int& threads);
// Of commands that measure a model: where its target and the weights of rows are.
void add_target_options(CLI::App& command, std::string& target, std::string& weight,
                        std::string_view default_target);

// The same options, with as many LIBSVM features as the model knows where nothing is said about them.
[[nodiscard]] ReadOptions read_options_for(const Model& model, ReadOptions read);

// A file that has a model's inputs; sources[i] says what input i is in it.
struct ModelFile {
  TableFile file;
  std::vector<ColumnSource> sources;
};
[[nodiscard]] ModelFile open_for_model(const std::string& path, const Model& model, const ReadOptions& read);

// The rows of such a file, its columns in the order of the inputs.
struct ModelTable {
  Table table;
  std::vector<double> targets;  // as evaluate_scores takes them
  std::vector<std::string> warnings;
};
enum class TargetNeed { kAlways, kIfThere };
// With the target: the one of the training table where `target_choice` is empty; where it is needed only if
// it is there, a file without it has no targets. And with weights, if a column of them is named.
[[nodiscard]] ModelTable read_for_model(const std::string& path, const Model& model, const ReadOptions& read,
                                        const std::string& target_choice, const std::string& weight = "",
                                        TargetNeed need = TargetNeed::kAlways);
// Scores of a table read by read_for_model.
[[nodiscard]] std::vector<double> model_scores(const Model& model, const Table& table, int threads);
// The rows of a table by file and line; the table must live as long.
[[nodiscard]] RowName row_names(const Table& table);

[[nodiscard]] Json to_json(const Evaluation& evaluation);
[[nodiscard]] std::string to_text(const Evaluation& evaluation);
// What there is to say of each of several classes; else nothing.
[[nodiscard]] std::string classes_text(const Evaluation& evaluation);

// What may be wrong with a table, and what it holds that the model does not know.
[[nodiscard]] std::vector<std::string> table_warnings(const Table& table, const Model& model);
// Columns with missing values that had none in the training.
[[nodiscard]] std::vector<std::string> missing_warnings(std::span<const MissingValues> missing,
                                                        const Model& model, const std::string& source,
                                                        Index rows);
// The number of missing values by column.
[[nodiscard]] Json missing_to_json(std::span<const MissingValues> missing);

// The model with names, labels and levels as they can be shown on one line.
[[nodiscard]] Model with_printable_names(Model model);
// The formula of the model, and where there is more of it.
[[nodiscard]] std::string formula_output(const Model& model, std::size_t most_terms);
// The largest stretches of the inputs, as bars; empty if there are none.
[[nodiscard]] std::string stretch_text(const Model& model, std::size_t most);
[[nodiscard]] std::string table_summary(const Table& table);

// A line on the terminal that is rewritten as work proceeds; silent when standard error is not a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();
  void show(const std::string& text);
  void clear();

 private:
  bool active_;
  bool shown_ = false;
};

[[nodiscard]] double peak_memory_mib();

}  // namespace mfga::cli
