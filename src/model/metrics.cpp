#include "mfga/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "losses/logistic.hpp"

namespace mfga {
namespace {

// The probability that a random positive scores above a random negative, from the ranks of the positives.
double area_under_curve(std::span<const double> scores, std::span<const double> positives) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  double rank_sum = 0;
  double n_positive = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    double tied_positives = 0;
    while (end < order.size() && scores[order[end]] == scores[order[begin]])
      tied_positives += positives[order[end++]];
    rank_sum += tied_positives * 0.5 * static_cast<double>(begin + 1 + end);  // mean rank of the tie
    n_positive += tied_positives;
    begin = end;
  }
  const double n_negative = static_cast<double>(scores.size()) - n_positive;
  if (n_positive == 0 || n_negative == 0) return 0.5;
  return (rank_sum - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative);
}

}  // namespace

RegressionMetrics regression_metrics(std::span<const double> predictions, std::span<const double> targets) {
  RegressionMetrics metrics;
  if (targets.empty()) return metrics;
  const double count = static_cast<double>(targets.size());
  const double mean = std::accumulate(targets.begin(), targets.end(), 0.0) / count;
  double variance = 0;
  for (std::size_t n = 0; n < targets.size(); ++n) {
    const double error = predictions[n] - targets[n];
    metrics.mse += error * error / count;
    metrics.mae += std::abs(error) / count;
    variance += (targets[n] - mean) * (targets[n] - mean) / count;
  }
  metrics.rmse = std::sqrt(metrics.mse);
  metrics.r2 = variance > 0 ? 1 - metrics.mse / variance : 0;
  return metrics;
}

ClassificationMetrics classification_metrics(std::span<const double> scores,
                                             std::span<const double> positives) {
  ClassificationMetrics metrics;
  if (scores.empty()) return metrics;
  std::vector<double> signs(scores.size());
  double errors = 0;
  for (std::size_t n = 0; n < scores.size(); ++n) {
    signs[n] = positives[n] > 0.5 ? 1.0 : -1.0;
    errors += (scores[n] > 0) != (positives[n] > 0.5) ? 1 : 0;
  }
  const double count = static_cast<double>(scores.size());
  metrics.error_percent = 100 * errors / count;
  metrics.log_loss =
      logistic_loss().sum(scores.data(), signs.data(), static_cast<Index>(scores.size())) / count;
  metrics.auc = area_under_curve(scores, positives);
  return metrics;
}

}  // namespace mfga
