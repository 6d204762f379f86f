// Predictions as files: CSV, or a NumPy array where the file's name ends in .npy.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/output_file.hpp"

namespace mfga::cli {

// What is written for each row.
enum class PredictionKind { kTarget, kProbabilities, kScores };

// Columns of the table that are written in front of the predictions, as they stand there.
struct KeptColumns {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> texts;  // by column and row
};

// A text as a CSV field.
[[nodiscard]] std::string csv_field(const std::string& text);

// Throws where the file's format cannot hold the model's predictions.
void check_prediction_output(const std::string& path, const Model& model, PredictionKind kind,
                             bool keeps_columns);

// `path` decides about the format; `output` was opened with it. Threads: 0 means all cores.
void write_predictions(OutputFile& output, const std::string& path, const Model& model, PredictionKind kind,
                       std::span<const double> scores, const KeptColumns& kept, int threads);

}  // namespace mfga::cli
