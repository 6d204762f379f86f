// How good predictions are. What is undefined is empty. Numbers that are not finite are an error.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mfga/views.hpp"

namespace mfga {

struct RegressionMetrics {
  double mse = 0;
  double rmse = 0;
  double mae = 0;
  std::optional<double> r2;  // against the mean of these targets; undefined if they are all equal
};

struct ClassificationMetrics {
  double error_percent = 0;
  double base_error_percent = 0;  // of always guessing the larger class: the part of the rarer one
  double log_loss = 0;            // mean negative log-likelihood, natural logarithm
  std::optional<double> auc;      // area under the ROC curve, ties counted half; undefined for one class
  // Of the rarer class of these rows, which is the second one if both have as many.
  bool rarer_is_second = true;
  std::optional<double> precision;          // undefined if it is never predicted
  std::optional<double> recall;             // undefined if there is none of it, as the next
  std::optional<double> average_precision;  // mean precision over its rows, ranked by their scores
};

// Of one of several classes, against all others.
struct ClassMetrics {
  std::string label;
  double rows = 0;                  // of it, by their weights
  std::optional<double> precision;  // undefined if it is never predicted
  std::optional<double> recall;     // undefined if there is none of it
  std::optional<double> auc;        // by its probability; undefined if there is none of it, or nothing else
};

struct MultiClassMetrics {
  double error_percent = 0;
  double base_error_percent = 0;    // of always guessing the largest class
  double log_loss = 0;              // mean negative log-likelihood, natural logarithm
  std::optional<double> macro_auc;  // the mean of the classes' where it is defined
  std::optional<double> micro_auc;  // of all pairs of a row and a class, ranked by probability
  std::vector<ClassMetrics> classes;
  Matrix confusion;  // [true class x predicted class], rows by their weights
};

// Throw Error(kInvalidArgument) for lists of different length or weights that are negative, Error(kBadData)
// for numbers that are not finite, or too large to be squared. A row counts as often as its weight says; no
// weights: once.
[[nodiscard]] RegressionMetrics regression_metrics(std::span<const double> predictions,
                                                   std::span<const double> targets,
                                                   std::span<const double> weights = {});
// Scores of a logistic model; positives holds 1 where the true class is the second one, else 0.
[[nodiscard]] ClassificationMetrics classification_metrics(std::span<const double> scores,
                                                           std::span<const double> positives,
                                                           std::span<const double> weights = {});

// Scores of a softmax model, [rows x labels]; positions of the true labels.
[[nodiscard]] MultiClassMetrics multi_class_metrics(std::span<const double> scores,
                                                    std::span<const double> positions,
                                                    const std::vector<std::string>& labels,
                                                    std::span<const double> weights = {});

}  // namespace mfga
