// What `mfga train` was asked for, what it measured, and how that is shown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/repeats.hpp"
#include "cli/training_table.hpp"

namespace mfga::cli {

// How to learn, from which files, and what to show.
struct TrainCommand {
  FitOptions fit;
  paper::Options paper;
  CrossValidationOptions validation;  // of a ridge that is cross-validated
  TrainingColumns columns;
  std::string statistics_path;  // sums over rows, in place of a table
  std::string start_path;
  Model start;  // of that file, if there is one
  std::string test_path;
  double test_fraction = 0;
  std::string model_path;
  std::string sizes_path;   // where the losses by number of terms go
  std::string report_path;  // where the page about the model goes
  Checkpoint checkpoint = {.keep = true};
  CommonOptions common;
  std::string class_weights;
  std::string classes = "softmax";
  bool readable = false;
  Index repeats = 1;
  std::size_t show_terms = 12;
};

struct Timing {
  double load = 0;
  double predict = 0;
  double repeat = 0;  // the fits with other seeds
  double save = 0;
  double total = 0;
};

// What was measured, beside the fit itself.
struct Measured {
  Evaluations first;  // of the first seed, whose model is saved
  RepeatedEvaluations repeats;
  std::vector<std::string> remarks;    // about the training table
  std::vector<MissingValues> missing;  // in it
  std::vector<std::string> warnings;   // about the tables and the fit
  Timing timing;
};

// What options must not go together, and the model to start from.
void check_arguments(TrainCommand& command, bool validation_given);
// That files can be written where they are to be.
void check_outputs(const TrainCommand& command);
// Learns together with other processes, each from its part of the table.
void train_on_ranks(TrainCommand& command, Communicator& ranks);
// Learns from sums in place of rows. `app` says which options were given.
void train_from_statistics(TrainCommand& command, const CLI::App& app);

void add_checkpoint_options(CLI::App& app, Checkpoint& checkpoint);
// After the model is saved: removes the file, or returns the remark that it stays.
[[nodiscard]] std::string end_checkpoint(const Checkpoint& checkpoint, const FitReport& report);

// Where a fit stands, for a progress line.
[[nodiscard]] std::string progress_text(const Progress& state);
// Writes the model, and the losses by number of terms, where they are to go.
void save_fit(const TrainCommand& command, const FitResult& result);
// The same, and ends the checkpoint; what there is to say of that joins the remarks.
void save_fit(const TrainCommand& command, const FitResult& result, std::vector<std::string>& remarks);

[[nodiscard]] Json report_to_json(const TrainCommand& command, const FitResult& result, Index n_test,
                                  const Measured& measured);
// The losses of held-out rows by number of terms, as CSV or JSON by the name of the file.
[[nodiscard]] std::string path_file_text(const FitReport& report, const std::string& path);
// The table, the task and the dictionary; then the fit, the formula and the errors.
void print_data_report(const TrainCommand& command, const Table& train, const Table* test,
                       const FitResult& result);
// The same of sums in place of a table.
void print_statistics_report(const TrainCommand& command, const Statistics& statistics,
                             const FitResult& result);
void print_fit_report(const TrainCommand& command, const FitResult& result, const Measured& measured);

}  // namespace mfga::cli
