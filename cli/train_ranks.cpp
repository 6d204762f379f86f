// mfga train with several processes: each reads its part of the table, all learn one model, and the first
// writes and tells.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include "cli/train_report.hpp"
#include "core/archive.hpp"
#include "core/clock.hpp"
#include "core/rank_messages.hpp"
#include "core/ranks.hpp"
#include "data/text_rows.hpp"
#include "model/row_memory.hpp"

namespace mfga::cli {
namespace {

void refuse_for_ranks(const TrainCommand& command) {
  const std::array<std::pair<bool, std::string_view>, 7> given = {
      {{!command.test_path.empty(), "--test"},
       {command.test_fraction > 0, "--test-fraction"},
       {!command.class_weights.empty(), "--class-weights"},
       {command.readable, "--readable"},
       {!command.report_path.empty(), "--report"},
       {command.repeats > 1, "--repeats"},
       {!command.columns.text.empty(), "--text"}}};
  for (const auto& [is_given, name] : given) {
    if (!is_given) continue;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("{} is for one process; leave it out, or start mfga without mpirun", name));
  }
}

// Stands for rows of which only the number is told.
class RowCount final : public RowSource {
 public:
  RowCount(Index rows, Index cols) : rows_(rows), cols_(cols) {}
  [[nodiscard]] Index rows() const override { return rows_; }
  [[nodiscard]] Index cols() const override { return cols_; }
  void read(std::span<const Index> /*positions*/, Index /*stride*/, double* /*out*/) const override {}
  [[nodiscard]] double number(Index /*row*/, Index /*column*/) const override { return 0; }
  [[nodiscard]] Index most_copied() const override { return 0; }

 private:
  Index rows_;
  Index cols_;
};

// What a rank knows of its part.
struct PartOfTable {
  Index rows = 0;
  RowLines lines;
  std::vector<MissingValues> missing;
};

void archive(Archive& bytes, PartOfTable& part) {
  bytes(part.rows, part.lines.first_line);
  std::vector<Index> skips;
  for (const RowLines::Skip& skip : part.lines.skips) skips.insert(skips.end(), {skip.row, skip.lines});
  bytes(skips, part.lines.listed);
  part.lines.skips.clear();
  for (std::size_t i = 0; i + 1 < skips.size(); i += 2) part.lines.skips.push_back({skips[i], skips[i + 1]});
  Index count = std::ssize(part.missing);
  bytes(count);
  part.missing.resize(static_cast<std::size_t>(count));
  for (MissingValues& column : part.missing) bytes(column.column, column.count, column.first_line);
}

// The lines of all rows, and how many values are missing in all.
PartOfTable joined(const Table& own, Communicator& ranks) {
  PartOfTable part{own.rows(), own.lines, own.missing};
  Archive message;
  archive(message, part);
  PartOfTable all;
  std::map<std::string, MissingValues> missing;
  for (const std::string& said : ranks.all_gather(message.bytes())) {
    Archive theirs(said);
    archive(theirs, part);
    if (part.rows > 0) append_lines(part.lines, all.rows, all.lines);
    all.rows += part.rows;
    for (const MissingValues& column : part.missing) {
      MissingValues& found =
          missing.try_emplace(column.column, MissingValues{column.column, 0, 0}).first->second;
      if (found.count == 0) found.first_line = column.first_line;
      found.count += column.count;
    }
  }
  for (const std::string& name : own.columns) {
    if (const auto found = missing.find(name); found != missing.end()) all.missing.push_back(found->second);
  }
  return all;
}

// Numbers of all ranks, on the first.
std::vector<double> gathered(std::span<const double> own, Communicator& ranks) {
  return joined_numbers<double>(ranks.gather(bytes_of(own), 0));
}

}  // namespace

void train_on_ranks(TrainCommand& command, Communicator& ranks) {
  const auto start = Clock::now();
  const bool is_first = ranks.rank() == 0;
  refuse_for_ranks(command);
  agreed(&ranks, [&] {
    if (is_first) check_outputs(command);
  });
  ProgressLine progress(command.common.quiet || !is_first);
  progress.show("reading " + command.columns.path);
  command.common.read.threads = command.fit.threads;
  command.common.read.most_bytes = most_bytes_of_table(command.fit);
  command.common.read.communicator = &ranks;
  Table table = read_training_table(command.columns, command.common.read);
  PartOfTable all = joined(table, ranks);
  Measured measured;
  measured.timing.load = table.load_seconds;

  progress.show("preparing");
  FitResult result = learn_from(table, [&](TrainingData data) {
    data.lines = &all.lines;
    FitOptions options = command.fit;
    // Reading counts, too; the first rank's clock is the one that counts.
    if (options.time_limit > 0) {
      constexpr double kLeast = 1e-3;
      options.time_limit = std::max(kLeast, options.time_limit - seconds_since(start));
    }
    const auto show = [&](const Progress& state) {
      progress.show(progress_text(state));
      return ProgressAction::kContinue;
    };
    return paper::fit(data, options, command.paper, show, nullptr, command.checkpoint, &ranks);
  });
  const auto save_start = Clock::now();
  agreed(&ranks, [&] {
    if (is_first) save_fit(command, result, table.remarks);
  });
  measured.timing.save = seconds_since(save_start);

  progress.show("predicting");
  const auto predict_start = Clock::now();
  std::vector<std::string> none;  // the model's own labels
  const std::vector<double> scores = gathered(result.model.scores(table.view(), command.fit.threads), ranks);
  const std::vector<double> own_targets = targets_of(result.model, table, none);
  const auto columns = static_cast<std::size_t>(training_data(table).targets());
  const std::size_t rows = own_targets.size() / columns;
  std::vector<double> targets;
  for (std::size_t k = 0; k < columns; ++k) {
    const std::vector<double> more = gathered(std::span(own_targets).subspan(k * rows, rows), ranks);
    targets.insert(targets.end(), more.begin(), more.end());
  }
  const std::vector<double> weights = gathered(table.weights, ranks);
  if (!is_first) return;
  measured.first = {evaluate_scores(result.model, scores, targets, weights), {}};
  measured.timing.predict = seconds_since(predict_start);
  measured.repeats.add(measured.first);
  table.remarks.push_back(fmt::format("learned by {} ranks, each from its part of the rows", ranks.size()));
  measured.remarks = spelled(table.remarks);
  measured.missing = all.missing;
  measured.warnings = table.warnings;
  measured.warnings.insert(measured.warnings.end(), result.report.warnings.begin(),
                           result.report.warnings.end());
  measured.warnings = spelled(measured.warnings);
  measured.timing.total = seconds_since(start) + result.report.resumed_seconds;
  progress.clear();
  if (command.common.json) {
    print_json(report_to_json(command, result, 0, measured));
  } else if (!command.common.quiet) {
    // What is told of the table is that of all rows.
    table.stored = std::make_shared<RowCount>(all.rows, table.cols());
    table.values = {};
    table.missing = all.missing;
    if (columns == 1) table.target = targets;
    print_data_report(command, table, nullptr, result);
    print_fit_report(command, result, measured);
  }
}

}  // namespace mfga::cli
