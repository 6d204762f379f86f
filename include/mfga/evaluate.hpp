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

struct TargetMetrics {
  std::string name;
  RegressionMetrics metrics;
};

struct Evaluation {
  std::optional<RegressionMetrics> regression;          // one of these four: of a number,
  std::optional<ClassificationMetrics> classification;  // of two classes,
  std::optional<MultiClassMetrics> classes;             // of more,
  std::vector<TargetMetrics> targets;                   // or of several numbers
  std::string rarer_label;  // classification: of the class that is rarer in these rows
  // A number, where something else than squares was minimised: what that is called, and its mean in the units
  // of the target.
  std::string own_measure;
  std::optional<double> own_loss;
  // 100 x MSE of a target scaled to [-1, 1], the paper's measure; where the model scales the target.
  std::optional<double> scaled_error_percent;
};

// x has the columns that the model was trained on. y is the target; of several targets all numbers of the
// first, then all of the second, ...; of a classification model the numbers that are its labels, or their
// positions, from 0 on, where its labels are texts. A label that the model does not know is an
// Error(kBadData). Threads: 0 means all cores. No weights: each row counts once.
[[nodiscard]] Evaluation evaluate(const Model& model, const TableView& x, std::span<const double> y,
                                  int threads = 0, std::span<const double> weights = {});

// From scores that are known already, such as those of a Predictor. The targets are numbers for regression,
// target after target if there are several; for classification the positions of the labels.
[[nodiscard]] Evaluation evaluate_scores(const Model& model, std::span<const double> scores,
                                         std::span<const double> targets,
                                         std::span<const double> weights = {});

// The target of a table as evaluate_scores takes it. A label that the model does not know is an
// Error(kBadData) that names file and line. A dot at the end of a label is dropped where that makes it known,
// with a warning.
[[nodiscard]] std::vector<double> targets_of(const Model& model, const Table& table,
                                             std::vector<std::string>& warnings);

}  // namespace mfga
