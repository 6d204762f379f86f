// Models side by side on the same rows, with the standard errors of their differences.
//
//   const mfga::Comparison comparison = mfga::compare(models, x_test, y_test);
//   comparison.models[1].difference;   // of its mean loss from that of the best model
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mfga/evaluate.hpp"
#include "mfga/model.hpp"
#include "mfga/views.hpp"

namespace mfga {

struct ComparedModel {
  Index terms = 0;
  Evaluation evaluation;
  double mean_loss = 0;
  // Of the mean loss from that of the best model, and its standard error: rows are hard or easy for all
  // models, so that the differences of the rows vary much less than their losses.
  double difference = 0;
  double standard_error = 0;
  // Whether the difference is at most two standard errors: other rows could well turn it round.
  bool is_within_chance = true;
};

struct Comparison {
  std::string measure;  // of the losses: `log loss`, `squared error`, ...
  Index rows = 0;
  std::size_t best = 0;  // the model with the smallest mean loss
  std::vector<ComparedModel> models;
};

// Of one model: its scores of the rows, and their targets as evaluate_scores takes them.
struct ModelScores {
  std::vector<double> scores;
  std::vector<double> targets;
};

// Throws Error(kInvalidArgument) unless all models predict the same: task, target and labels.
void check_comparable(std::span<const Model> models);
// Losses are log losses of classes, and squared errors of numbers; where all models have minimised the same
// other loss, that one. Of several targets: the squared errors in units of the variance of each, on average.
[[nodiscard]] Comparison compare_scores(std::span<const Model> models, std::span<const ModelScores> scores,
                                        std::span<const double> weights = {});
// x has the columns that all of them were trained on; y and the weights are as for evaluate.
[[nodiscard]] Comparison compare(std::span<const Model> models, const TableView& x, std::span<const double> y,
                                 int threads = 0, std::span<const double> weights = {});

}  // namespace mfga
