// Predictions as files: CSV, or a NumPy array where the file's name ends in .npy.
#pragma once

#include <span>
#include <string>

#include "cli/command.hpp"

namespace mfga::cli {

// What is written for each row.
enum class PredictionKind { kTarget, kProbabilities };

// Throws where the file's format cannot hold the model's predictions.
void check_prediction_output(const std::string& path, const Model& model, PredictionKind kind);

// `path` decides about the format; `output` was opened with it. Threads: 0 means all cores.
void write_predictions(OutputFile& output, const std::string& path, const Model& model, PredictionKind kind,
                       std::span<const double> scores, int threads);

}  // namespace mfga::cli
