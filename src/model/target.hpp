// From the target column to what the learner minimises against.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "losses/loss.hpp"
#include "mfga/fit.hpp"
#include "mfga/model.hpp"
#include "solve/problem.hpp"

namespace mfga {

struct PreparedTarget {
  Task task = Task::kRegression;
  std::shared_ptr<const Loss> loss;
  // [columns x rows]. Regression: scaled and shifted; two classes: -1 or +1; more: positions of labels.
  std::vector<double> values;
  Index columns = 1;
  std::vector<std::string> labels;  // classification
  // One per output: prediction = shift + scale * score. The intercept was subtracted from the values for
  // accuracy.
  std::vector<Output> outputs;

  // How far scores are apart, usually: the deviation of the values where scores are of their kind, else 1.
  double spread = 1;

  // What a mean loss is multiplied by for the units of the target; several targets have none in common.
  [[nodiscard]] double loss_unit() const { return outputs.size() > 1 ? 1 : loss->unit(outputs[0].scale); }
};

// Without a choice: that of the loss, if one is given; else classification if there are labels, or two
// distinct values.
[[nodiscard]] Task resolve_task(const std::optional<Task>& choice, std::string_view loss,
                                const TrainingData& data);
// `choice` is the name of a loss; empty: squared, logistic, or softmax for more than two classes.
[[nodiscard]] std::shared_ptr<const Loss> resolve_loss(std::string_view choice, Task task,
                                                       const TrainingData& data);
// `units`: those of several targets where a model is gone on from, else empty.
[[nodiscard]] PreparedTarget prepare_target(const TrainingData& data, std::shared_ptr<const Loss> loss,
                                            bool scale_by_range, Intercept intercept,
                                            std::span<const Output> units = {});
[[nodiscard]] std::string column_name(const TrainingData& data, Index column);
// How a numeric class label is written: the shortest decimal.
[[nodiscard]] std::string number_label(double value);

}  // namespace mfga
