#include "mfga/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mfga/error.hpp"

namespace mfga {
namespace {

using Numbers = std::vector<double>;

TEST(RegressionMetrics, HandWorkedCase) {
  // Errors 1, -2, 0, 1; the targets' mean is 5 and their variance 5.
  const RegressionMetrics metrics = regression_metrics(Numbers{3, 2, 6, 9}, Numbers{2, 4, 6, 8});
  EXPECT_DOUBLE_EQ(metrics.mse, 1.5);
  EXPECT_DOUBLE_EQ(metrics.rmse, std::sqrt(1.5));
  EXPECT_DOUBLE_EQ(metrics.mae, 1);
  EXPECT_DOUBLE_EQ(metrics.r2.value(), 1 - 1.5 / 5);
}

TEST(RegressionMetrics, ExactPredictionsAndTheMean) {
  const Numbers targets = {1, 2, 6};
  const RegressionMetrics exact = regression_metrics(targets, targets);
  EXPECT_EQ(exact.mse, 0);
  EXPECT_EQ(exact.mae, 0);
  EXPECT_EQ(exact.r2, 1);
  EXPECT_DOUBLE_EQ(regression_metrics(Numbers{3, 3, 3}, targets).r2.value(), 0);
  EXPECT_LT(regression_metrics(Numbers{6, 3, 0}, targets).r2, 0);
}

TEST(RegressionMetrics, ConstantTargetHasNoR2) {
  const RegressionMetrics metrics = regression_metrics(Numbers{1, 3}, Numbers{2, 2});
  EXPECT_DOUBLE_EQ(metrics.mse, 1);
  EXPECT_FALSE(metrics.r2.has_value());
  // Neither where the mean is not the value, for rounding: three times 0.1 over three.
  for (const double value : {2.0, 0.1, 1e-20, 12345.678}) {
    const Numbers targets(7, value);
    EXPECT_FALSE(regression_metrics(targets, targets).r2.has_value()) << value;
    EXPECT_FALSE(regression_metrics(Numbers(7, value + 1), targets).r2.has_value()) << value;
  }
}

TEST(RegressionMetrics, OneRow) {
  const RegressionMetrics metrics = regression_metrics(Numbers{5}, Numbers{2});
  EXPECT_EQ(metrics.mse, 9);
  EXPECT_EQ(metrics.rmse, 3);
  EXPECT_EQ(metrics.mae, 3);
  EXPECT_FALSE(metrics.r2.has_value());
}

TEST(ClassificationMetrics, HandWorkedCase) {
  // Right: 2, -1. Wrong: -3 (a positive) and 0.5 (a negative); a score of 0 means the first class: right.
  const Numbers scores = {2, -1, -3, 0.5, 0};
  const Numbers positives = {1, 0, 1, 0, 0};
  const ClassificationMetrics metrics = classification_metrics(scores, positives);
  EXPECT_DOUBLE_EQ(metrics.error_percent, 40);
  const auto loss = [](double margin) { return std::log1p(std::exp(-margin)); };
  EXPECT_NEAR(metrics.log_loss, (loss(2) + loss(1) + loss(-3) + loss(-0.5) + std::log(2.0)) / 5, 1e-15);
  EXPECT_DOUBLE_EQ(metrics.auc.value(),
                   3.0 / 6);  // the positive 2 is above all three negatives, -3 above none
}

TEST(ClassificationMetrics, LargeScoresDoNotOverflow) {
  const ClassificationMetrics wrong = classification_metrics(Numbers{-1000, 1000}, Numbers{1, 0});
  EXPECT_DOUBLE_EQ(wrong.log_loss, 1000);
  EXPECT_EQ(wrong.error_percent, 100);
  EXPECT_EQ(wrong.auc, 0);
  const ClassificationMetrics right = classification_metrics(Numbers{1000, -1000}, Numbers{1, 0});
  EXPECT_EQ(right.log_loss, 0);
  EXPECT_EQ(right.error_percent, 0);
  EXPECT_EQ(right.auc, 1);
}

TEST(ClassificationMetrics, TiesCountHalfInTheArea) {
  EXPECT_EQ(classification_metrics(Numbers{1, 1, 1, 1}, Numbers{1, 0, 0, 1}).auc, 0.5);
  // Pairs (positive, negative): 2 over 1 and over the tied 2: 1 + 1/2; 1 over the tied 1 and 2: 1/2 + 0.
  EXPECT_EQ(classification_metrics(Numbers{2, 1, 1, 2}, Numbers{1, 1, 0, 0}).auc, 0.5);
  // 3 over 1 and 3: 1 + 1/2; 2 over 1 and 3: 1 + 0.
  EXPECT_EQ(classification_metrics(Numbers{3, 2, 1, 3}, Numbers{1, 1, 0, 0}).auc, 2.5 / 4);
}

TEST(ClassificationMetrics, AreaDoesNotDependOnTheOrderOfRows) {
  const Numbers scores = {0.3, -1, 0.3, 2, 0.7, -0.2};
  const Numbers positives = {1, 0, 0, 1, 0, 1};
  const Numbers reversed_scores(scores.rbegin(), scores.rend());
  const Numbers reversed_positives(positives.rbegin(), positives.rend());
  const double area = classification_metrics(scores, positives).auc.value();
  EXPECT_EQ(classification_metrics(reversed_scores, reversed_positives).auc, area);
  EXPECT_DOUBLE_EQ(area, (3 + 1.5 + 1) / 9.0);  // 2 over all; 0.3 over -1 and its tie; -0.2 over -1
}

TEST(ClassificationMetrics, OneClassHasNoArea) {
  const ClassificationMetrics second = classification_metrics(Numbers{1, 2, -1}, Numbers{1, 1, 1});
  EXPECT_FALSE(second.auc.has_value());
  EXPECT_FALSE(second.recall.has_value());
  EXPECT_FALSE(second.average_precision.has_value());
  EXPECT_FALSE(second.rarer_is_second);
  EXPECT_EQ(second.precision, 0);  // one row is taken for the class that is not there
  EXPECT_EQ(second.base_error_percent, 0);
  const ClassificationMetrics first = classification_metrics(Numbers{1, 2, -1}, Numbers{0, 0, 0});
  EXPECT_FALSE(first.auc.has_value());
  EXPECT_NEAR(first.error_percent, 200.0 / 3, 1e-12);
}

// Of two rows of the rarer class one is found, among three that are taken for it.
TEST(ClassificationMetrics, OfTheRarerClass) {
  const Numbers scores = {4, 3, 2, -1, -2, -3, -4, -5};
  const Numbers positives = {0, 1, 0, 0, 0, 1, 0, 0};
  const ClassificationMetrics metrics = classification_metrics(scores, positives);
  EXPECT_TRUE(metrics.rarer_is_second);
  EXPECT_DOUBLE_EQ(metrics.base_error_percent, 25);
  EXPECT_DOUBLE_EQ(metrics.error_percent, 37.5);
  EXPECT_DOUBLE_EQ(metrics.precision.value(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(metrics.recall.value(), 0.5);
  EXPECT_DOUBLE_EQ(metrics.average_precision.value(), (1.0 / 2 + 2.0 / 6) / 2);
  // The same with the classes exchanged.
  Numbers other_scores;
  Numbers other_positives;
  for (std::size_t n = 0; n < scores.size(); ++n) {
    other_scores.push_back(-scores[n]);
    other_positives.push_back(1 - positives[n]);
  }
  const ClassificationMetrics other = classification_metrics(other_scores, other_positives);
  EXPECT_FALSE(other.rarer_is_second);
  EXPECT_EQ(other.base_error_percent, metrics.base_error_percent);
  EXPECT_EQ(other.precision, metrics.precision);
  EXPECT_EQ(other.recall, metrics.recall);
  EXPECT_EQ(other.average_precision, metrics.average_precision);
}

TEST(ClassificationMetrics, WhatIsNeverPredictedHasNoPrecision) {
  const ClassificationMetrics metrics = classification_metrics(Numbers{-1, -1, -1, -1}, Numbers{0, 1, 0, 0});
  EXPECT_FALSE(metrics.precision.has_value());
  EXPECT_EQ(metrics.recall, 0);
  EXPECT_DOUBLE_EQ(metrics.average_precision.value(), 0.25);  // all are tied
  EXPECT_EQ(metrics.error_percent, metrics.base_error_percent);
}

TEST(Metrics, NumbersThatAreNotFiniteAreRefused) {
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    EXPECT_THROW(static_cast<void>(classification_metrics(Numbers{1, bad, 2}, Numbers{0, 1, 1})), Error);
    EXPECT_THROW(static_cast<void>(classification_metrics(Numbers{1, 3, 2}, Numbers{0, bad, 1})), Error);
    EXPECT_THROW(static_cast<void>(regression_metrics(Numbers{1, bad}, Numbers{0, 1})), Error);
    EXPECT_THROW(static_cast<void>(regression_metrics(Numbers{1, 2}, Numbers{bad, 1})), Error);
  }
  EXPECT_THROW(static_cast<void>(regression_metrics(Numbers{1, 2}, Numbers{1e200, 1})), Error);
  EXPECT_THROW(static_cast<void>(regression_metrics(Numbers{1}, Numbers{1, 2})), Error);
}

}  // namespace
}  // namespace mfga
