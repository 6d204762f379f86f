// Learning as `mfga train` does: what is not given is chosen from the rows.
//
//   mfga::TrainResult result = mfga::train({x, y, names}, {});
//   result.fit.model;
//
// docs/defaults.md says what is chosen, and how.
#pragma once

#include <optional>

#include "mfga/cross_validate.hpp"
#include "mfga/fit.hpp"

namespace mfga {

enum class RidgeRule {
  kAutomatic,       // quick_validation(), where that is possible; else 1
  kCrossValidated,  // by TrainOptions::validation
  kGiven            // FitOptions::ridge
};

struct TrainOptions {
  FitOptions fit;
  RidgeRule ridge_rule = RidgeRule::kAutomatic;
  CrossValidationOptions validation;  // for kCrossValidated
  bool automatic_tuning = true;       // tried where nothing speaks against it; else fit.tune counts

  // What fit() is asked for, as far as that does not depend on the rows.
  [[nodiscard]] FitOptions resolved() const;
};

struct TrainResult {
  FitResult fit;
  std::optional<CrossValidation> cross_validation;  // if the ridge was chosen from the rows
};

[[nodiscard]] TrainResult train(const TrainingData& data, const TrainOptions& options,
                                const ProgressCallback& progress = {}, ThreadPool* pool = nullptr);

}  // namespace mfga
