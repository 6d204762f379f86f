// How good predictions are.
#pragma once

#include <span>

namespace mfga {

struct RegressionMetrics {
  double mse = 0;
  double rmse = 0;
  double mae = 0;
  double r2 = 0;  // against the mean of these targets; 0 if they are all equal
};

struct ClassificationMetrics {
  double error_percent = 0;
  double log_loss = 0;  // mean negative log-likelihood, natural logarithm
  double auc = 0;       // area under the ROC curve, ties counted half; 0.5 if one class is absent
};

[[nodiscard]] RegressionMetrics regression_metrics(std::span<const double> predictions,
                                                   std::span<const double> targets);
// Scores of a logistic model; positives holds 1 where the true class is the second one, else 0.
[[nodiscard]] ClassificationMetrics classification_metrics(std::span<const double> scores,
                                                           std::span<const double> positives);

}  // namespace mfga
