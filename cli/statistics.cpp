// mfga statistics: sums over the rows of tables, which models are trained from.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <system_error>

#include "cli/output_file.hpp"
#include "cli/training_table.hpp"
#include "core/clock.hpp"

namespace mfga::cli {
namespace {

// Of an option table, the rows with these names.
template <class Options>
std::vector<OptionRow<Options>> rows_named(std::span<const OptionRow<Options>> table,
                                           std::initializer_list<std::string_view> names) {
  std::vector<OptionRow<Options>> rows;
  for (const OptionRow<Options>& row : table) {
    if (std::ranges::find(names, row.name) != names.end()) rows.push_back(row);
  }
  return rows;
}

struct StatisticsCommand {
  std::vector<std::string> paths;
  TrainingColumns columns;
  CommonOptions common;
  std::string output_path;
  FitOptions fit;
  CrossValidationOptions validation;
  // What is set when statistics are made. Others are for the fit.
  std::vector<OptionRow<FitOptions>> fit_rows =
      rows_named(fit_option_table(), {"task", "features", "scale", "seed", "threads", "memory_limit"});
  std::vector<OptionRow<CrossValidationOptions>> validation_rows =
      rows_named(cross_validation_option_table(), {"folds"});
};

// What became of a file.
struct AddedFile {
  std::string path;
  Index rows = 0;
  double seconds = 0;
};

bool holds_statistics(const std::string& path) {
  constexpr std::string_view kMagic = "MFGASTAT";
  std::array<char, kMagic.size()> begin{};
  // A pipe can be read once, by whoever reads its table.
  std::error_code none;
  if (path == "-" || !std::filesystem::is_regular_file(path, none)) return false;
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), begin.size());
  return file && std::string_view(begin.data(), begin.size()) == kMagic;
}

class Adding {
 public:
  Adding(const StatisticsCommand& command, ProgressLine& progress) : command_(command), progress_(progress) {}

  void add(const std::string& path) {
    const auto start = Clock::now();
    progress_.show("reading " + path);
    const Index before = statistics_ ? statistics_->rows() : 0;
    if (holds_statistics(path)) {
      merge(path);
    } else if (statistics_) {
      add_more(path);
    } else {
      begin(path);
    }
    files_.push_back({path, statistics_->rows() - before, seconds_since(start)});
  }

  [[nodiscard]] const Statistics& statistics() const { return *statistics_; }
  [[nodiscard]] const std::vector<AddedFile>& files() const { return files_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void merge(const std::string& path) {
    Statistics loaded = load_statistics(path);
    if (!statistics_) {
      statistics_.emplace(std::move(loaded));
      statistics_->set_threads(command_.fit.threads);
      return;
    }
    try {
      statistics_->merge(loaded);
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("{}: {}", path, error.what()));
    }
  }

  // The first table sets the dictionary.
  void begin(const std::string& path) {
    TrainingColumns columns = command_.columns;
    columns.path = path;
    const TableFile file(path, read_options_for(columns, command_.common.read));
    const Table table = read_training_table(file, columns);
    if (!columns.weight.empty())  // an index is one into the first file
      weight_ = file.columns()[static_cast<std::size_t>(file.column(columns.weight, "--weight"))];
    warn(table.warnings);
    learn_from(table, [&](const TrainingData& data) {
      statistics_.emplace(data, command_.fit);
      statistics_->update(data.x, data.y, data.weights, {}, shown(path));
      return 0;
    });
  }

  void add_more(const std::string& path) {
    const Model& model = statistics_->empty_model();
    const std::string weight = weight_.empty() ? command_.columns.weight : weight_;
    const ModelTable more = read_for_model(path, model, command_.common.read, "", weight);
    warn(more.warnings);
    std::vector<Index> columns(model.inputs.size());
    std::iota(columns.begin(), columns.end(), Index{0});
    try {
      statistics_->update(more.table.values.view(), more.targets, more.table.weights, columns, shown(path));
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("{}: {}", path, error.what()));
    }
  }

  [[nodiscard]] ProgressCallback shown(const std::string& path) {
    return [this, path](const Progress& state) {
      if (state.done >= 0)
        progress_.show(fmt::format("adding {}, {:.0f} %, {:.1f} s", path, 100 * state.done, state.seconds));
      return ProgressAction::kContinue;
    };
  }

  void warn(const std::vector<std::string>& warnings) {
    warnings_.insert(warnings_.end(), warnings.begin(), warnings.end());
  }

  const StatisticsCommand& command_;
  ProgressLine& progress_;
  std::optional<Statistics> statistics_;
  std::string weight_;
  std::vector<AddedFile> files_;
  std::vector<std::string> warnings_;
};

// What sets the dictionary and the columns must not be given where a file has set them.
void refuse_what_is_set(const StatisticsCommand& command, const CLI::App& app) {
  if (!holds_statistics(command.paths.front())) return;
  for (const std::string name : {"--features", "--scale", "--seed", "--folds", "--task", "--target",
                                 "--ignore", "--text", "--group"}) {
    if (app.count(name) == 0) continue;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("{} is set by {}, which holds statistics; leave it out, or begin with a table",
                            name, command.paths.front()));
  }
}

void run_statistics(StatisticsCommand& command, const CLI::App& app) {
  const auto start = Clock::now();
  command.fit.ridge = Ridge::cross_validated(command.validation);
  Statistics::check_fit_options(command.fit);
  for (const std::string& path : command.paths)
    check_files({{"the table", path}}, {{"--output", command.output_path}});
  if (std::ranges::count(command.paths, "-") > 1)
    throw Error(ErrorKind::kInvalidArgument, "standard input (-) can be read once; give the others as files");
  refuse_what_is_set(command, app);
  // That it can be written is found out before the work.
  { const OutputFile writable(command.output_path); }
  command.common.read.threads = command.fit.threads;
  ProgressLine progress(command.common.quiet);
  Adding adding(command, progress);
  for (const std::string& path : command.paths) adding.add(path);
  progress.show("saving");
  const Statistics& statistics = adding.statistics();
  const std::string bytes = statistics.to_bytes();
  OutputFile file(command.output_path);
  file.write(bytes);
  file.commit();
  progress.clear();
  const std::vector<std::string> warnings = spelled(adding.warnings());
  if (command.common.json) {
    Json files = Json::array();
    for (const AddedFile& added : adding.files())
      files.push_back({{"path", added.path}, {"rows", added.rows}, {"seconds", added.seconds}});
    print_json({{"files", std::move(files)},
                {"rows", statistics.rows()},
                {"target", statistics.empty_model().target_name},
                {"inputs", statistics.empty_model().inputs.size()},
                {"features", statistics.features()},
                {"candidates", statistics.candidates()},
                {"folds", statistics.folds()},
                {"bytes", bytes.size()},
                {"warnings", warnings},
                {"peak_rss_mib", peak_memory_mib()},
                {"seconds", seconds_since(start)},
                {"statistics", command.output_path}});
    return;
  }
  if (command.common.quiet) return;
  for (const AddedFile& added : adding.files())
    print("{}: {} rows in {:.3f} s\n", escaped(added.path), added.rows, added.seconds);
  for (const std::string& warning : warnings) print("warning: {}\n", escaped(warning));
  print("target: \"{}\"\n", escaped(statistics.empty_model().target_name));
  print("dictionary: {}, {} candidates\n", statistics.features(), statistics.candidates());
  print("{} rows in {} folds; {:.1f} MiB; {:.3f} s; peak memory {:.0f} MiB\n", statistics.rows(),
        statistics.folds(), static_cast<double>(bytes.size()) * 0x1p-20, seconds_since(start),
        peak_memory_mib());
  print("statistics: {}\n", escaped(command.output_path));
}

}  // namespace

void add_statistics(CLI::App& tool) {
  auto command = std::make_shared<StatisticsCommand>();
  CLI::App* app = tool.add_subcommand(
      "statistics", "sum products of features over the rows of tables, for mfga train --statistics");
  app->add_option("files", command->paths,
                  "tables, one after the other, the first of which sets scales and dictionary; or files of "
                  "statistics, which are merged")
      ->required()
      ->check(file_name())
      ->type_name("FILE...")
      ->group("Data files");
  add_training_columns(*app, command->columns);
  add_read_options(*app, command->common.read);
  add_option_table<FitOptions>(*app, command->fit, command->fit_rows, "Learning");
  add_option_table<CrossValidationOptions>(*app, command->validation, command->validation_rows, "Learning");
  app->add_option("-o,--output", command->output_path, "where to save the statistics")
      ->required()
      ->check(file_name())
      ->type_name("FILE")
      ->group("Output");
  add_output_options(*app, command->common);
  app->callback([command, app] { run_statistics(*command, *app); });
}

}  // namespace mfga::cli
