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
  std::vector<double> values;       // regression: scaled and shifted; classification: -1 or +1
  std::vector<std::string> labels;  // classification: two
  double shift = 0;                 // prediction = shift + scale * score
  double scale = 1;
  double offset = 0;  // was subtracted from the values for accuracy; belongs to the intercept
};

// Without a choice: that of the loss, if one is given; else classification if there are labels, or two
// distinct values.
[[nodiscard]] Task resolve_task(const std::optional<Task>& choice, std::string_view loss,
                                const TrainingData& data);
// `choice` is the name of a loss; empty: squared or logistic.
[[nodiscard]] std::shared_ptr<const Loss> resolve_loss(std::string_view choice, Task task,
                                                       const TrainingData& data);
[[nodiscard]] PreparedTarget prepare_target(const TrainingData& data, std::shared_ptr<const Loss> loss,
                                            bool scale_by_range, Intercept intercept);
[[nodiscard]] std::string column_name(const TrainingData& data, Index column);
// How a numeric class label is written: the shortest decimal.
[[nodiscard]] std::string number_label(double value);

}  // namespace mfga
