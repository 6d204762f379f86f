// How good a model is on rows whose targets are known.
//
//   const mfga::Evaluation evaluation = mfga::evaluate(model, x_test, y_test);
//   evaluation.regression->rmse;
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mfga/metrics.hpp"
#include "mfga/model.hpp"
#include "mfga/table.hpp"
#include "mfga/views.hpp"

namespace mfga {

struct Evaluation {
  std::optional<RegressionMetrics> regression;          // one of these two,
  std::optional<ClassificationMetrics> classification;  // by the task of the model
  std::string rarer_label;  // classification: of the class that is rarer in these rows
  // 100 x MSE of a target scaled to [-1, 1], the paper's measure; where the model scales the target.
  std::optional<double> scaled_error_percent;
};

// x has the columns that the model was trained on. y is the target; of a classification model the numbers
// that are its labels, or 0 and 1 for the first and the second where its labels are texts. A label that the
// model does not know is an Error(kBadData). Threads: 0 means all cores. No weights: each row
// counts once.
[[nodiscard]] Evaluation evaluate(const Model& model, ConstMatrixView x, std::span<const double> y,
                                  int threads = 0, std::span<const double> weights = {});

// From scores that are known already, such as those of a Predictor. The targets are numbers for regression;
// for classification 1 where the class is the second label of the model, else 0.
[[nodiscard]] Evaluation evaluate_scores(const Model& model, std::span<const double> scores,
                                         std::span<const double> targets,
                                         std::span<const double> weights = {});

// The target of a table as evaluate_scores takes it. A label that the model does not know is an
// Error(kBadData) that names file and line. A dot at the end of a label is dropped where that makes it known,
// with a warning.
[[nodiscard]] std::vector<double> targets_of(const Model& model, const Table& table,
                                             std::vector<std::string>& warnings);

}  // namespace mfga
