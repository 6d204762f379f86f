// mfga train --readable: terms that people read, with thresholds of few digits.
#pragma once

#include <string>

#include "cli/train_report.hpp"

namespace mfga::cli {

// Sets the options that it stands for; throws where one of them is given.
void choose_readable_terms(const Table& table, TrainCommand& command);

// Rounds the thresholds of the model as far as held-out rows allow, and fits its coefficients again. Says
// what was done; empty: there was nothing to round.
[[nodiscard]] std::string round_thresholds(const Table& table, const TrainCommand& command, Model& model);

}  // namespace mfga::cli
