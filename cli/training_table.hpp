// The table that is learned from, and which of its columns are what.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace mfga::cli {

struct TrainingColumns {
  std::string path;
  std::string target;
  std::vector<std::string> ignore;
  std::vector<std::string> text;
  std::string weight;
  std::string group;
};

// Adds --target, --ignore, --text (or --categorical), --weight and --group.
void add_training_columns(CLI::App& command, TrainingColumns& columns);

// --cache.
void add_cache_option(CLI::App& command, ReadOptions& read);
// Throws if not even what is kept of each row of a table on disk has room.
void check_rows_fit(const Table& table, const FitOptions& options);

// How the file of such columns is read: its header is told by the names of the targets.
[[nodiscard]] ReadOptions read_options_for(const TrainingColumns& columns, ReadOptions read);
[[nodiscard]] Table read_training_table(const TrainingColumns& columns, const ReadOptions& read);
[[nodiscard]] Table read_training_table(const TableFile& file, const TrainingColumns& columns);

[[nodiscard]] TrainingData training_data(const Table& table);

// Learns from the table; what is wrong with the data is said with the name of its file.
template <class Learn>
auto learn_from(const Table& table, Learn learn) {
  try {
    return learn(training_data(table));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadData) throw;
    throw Error(error.kind(), fmt::format("{}: {}", table.source, error.what()));
  }
}

}  // namespace mfga::cli
