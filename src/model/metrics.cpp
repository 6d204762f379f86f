#include "mfga/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "losses/logistic.hpp"
#include "losses/softmax.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

void check_numbers(std::span<const double> values, std::string_view what, std::size_t expected) {
  if (values.size() != expected) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("there are {} {} for {} rows", values.size(), what, expected));
  }
  const auto bad = std::ranges::find_if(values, [](double value) { return !std::isfinite(value); });
  if (bad == values.end()) return;
  throw Error(ErrorKind::kBadData,
              fmt::format("{}[{}] is {}; expected a finite number", what, bad - values.begin(), *bad));
}

// Weights of rows; none: 1.
class RowWeights {
 public:
  explicit RowWeights(std::span<const double> weights) : weights_(weights) {}
  double operator[](std::size_t n) const { return weights_.empty() ? 1 : weights_[n]; }
  [[nodiscard]] double sum(std::size_t rows) const {
    return weights_.empty() ? static_cast<double>(rows)
                            : std::accumulate(weights_.begin(), weights_.end(), 0.0);
  }
  [[nodiscard]] const double* data() const { return weights_.empty() ? nullptr : weights_.data(); }

 private:
  std::span<const double> weights_;
};

RowWeights checked_weights(std::span<const double> weights, std::size_t rows) {
  if (weights.empty()) return RowWeights(weights);
  check_numbers(weights, "weights", rows);
  const auto negative = std::ranges::find_if(weights, [](double weight) { return weight < 0; });
  if (negative == weights.end() && RowWeights(weights).sum(rows) > 0) return RowWeights(weights);
  throw Error(ErrorKind::kInvalidArgument,
              negative == weights.end()
                  ? std::string("all weights are 0; there is nothing to measure")
                  : fmt::format("weights[{}] is {}; expected a number that is not negative",
                                negative - weights.begin(), *negative));
}

// Rows of equal score, from the highest score down: how many there are up to and with them, and how many of
// these are positive.
struct RankedRows {
  double rows = 0;
  double positives = 0;
};
std::vector<RankedRows> ranking(std::span<const double> scores, std::span<const double> positives,
                                const RowWeights& weights) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::greater{}, [&](std::size_t n) { return scores[n]; });
  std::vector<RankedRows> groups;
  RankedRows seen;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && scores[order[i]] != scores[order[i - 1]]) groups.push_back(seen);
    seen.rows += weights[order[i]];
    seen.positives += weights[order[i]] * positives[order[i]];
  }
  if (!order.empty()) groups.push_back(seen);
  // Rows without any weight have no rank.
  std::erase_if(groups, [](const RankedRows& group) { return group.rows == 0; });
  return groups;
}

// The probability that a random positive scores above a random negative.
std::optional<double> area_under_curve(const std::vector<RankedRows>& groups) {
  const double positives = groups.back().positives;
  const double negatives = groups.back().rows - positives;
  if (positives == 0 || negatives == 0) return std::nullopt;
  double pairs = 0;
  RankedRows above;
  for (const RankedRows& group : groups) {
    const double new_negatives = (group.rows - group.positives) - (above.rows - above.positives);
    pairs += new_negatives * 0.5 * (above.positives + group.positives);
    above = group;
  }
  return pairs / (positives * negatives);
}

std::optional<double> average_precision(const std::vector<RankedRows>& groups) {
  const double positives = groups.back().positives;
  if (positives == 0) return std::nullopt;
  double sum = 0;
  double above = 0;
  for (const RankedRows& group : groups) {
    sum += (group.positives - above) * group.positives / group.rows;
    above = group.positives;
  }
  return sum / positives;
}

// Precision, recall and average precision of the rarer class.
void measure_rarer_class(std::span<const double> scores, std::span<const double> positives,
                         const RowWeights& weights, ClassificationMetrics& metrics) {
  std::vector<double> its_scores(scores.begin(), scores.end());
  std::vector<double> is_in(positives.begin(), positives.end());
  if (!metrics.rarer_is_second) {
    for (double& score : its_scores) score = -score;
    for (double& value : is_in) value = 1 - value;
  }
  double found = 0;
  double predicted = 0;
  for (std::size_t n = 0; n < scores.size(); ++n) {
    if ((scores[n] > 0) != metrics.rarer_is_second) continue;
    predicted += weights[n];
    found += weights[n] * is_in[n];
  }
  double all = 0;
  for (std::size_t n = 0; n < scores.size(); ++n) all += weights[n] * is_in[n];
  if (predicted > 0) metrics.precision = found / predicted;
  if (all > 0) metrics.recall = found / all;
  metrics.average_precision = average_precision(ranking(its_scores, is_in, weights));
}

}  // namespace

RegressionMetrics regression_metrics(std::span<const double> predictions, std::span<const double> targets,
                                     std::span<const double> row_weights) {
  RegressionMetrics metrics;
  check_numbers(targets, "targets", targets.size());
  check_numbers(predictions, "predictions", targets.size());
  const RowWeights weights = checked_weights(row_weights, targets.size());
  if (targets.empty()) return metrics;
  const double count = weights.sum(targets.size());
  double mean = 0;
  for (std::size_t n = 0; n < targets.size(); ++n) mean += weights[n] * targets[n];
  mean /= count;
  double variance = 0;
  bool differ = false;  // the targets that count
  std::size_t first = 0;
  while (weights[first] == 0) ++first;
  for (std::size_t n = 0; n < targets.size(); ++n) {
    const double error = predictions[n] - targets[n];
    const double part = weights[n] / count;
    metrics.mse += error * error * part;
    metrics.mae += std::abs(error) * part;
    variance += (targets[n] - mean) * (targets[n] - mean) * part;
    differ = differ || (weights[n] > 0 && targets[n] != targets[first]);
  }
  if (!std::isfinite(metrics.mse) || !std::isfinite(variance)) {
    throw Error(ErrorKind::kBadData,
                "targets or predictions are too large for their errors to be squared; divide the target by "
                "a power of ten");
  }
  metrics.rmse = std::sqrt(metrics.mse);
  const double unexplained = metrics.mse / variance;
  if (differ && std::isfinite(unexplained)) metrics.r2 = 1 - unexplained;
  return metrics;
}

ClassificationMetrics classification_metrics(std::span<const double> scores,
                                             std::span<const double> positives,
                                             std::span<const double> row_weights) {
  ClassificationMetrics metrics;
  check_numbers(positives, "positives", positives.size());
  check_numbers(scores, "scores", positives.size());
  const RowWeights weights = checked_weights(row_weights, positives.size());
  if (scores.empty()) return metrics;
  std::vector<double> classes(scores.size());
  std::vector<double> signs(scores.size());
  double errors = 0;
  double seconds = 0;
  for (std::size_t n = 0; n < scores.size(); ++n) {
    classes[n] = positives[n] > 0.5 ? 1.0 : 0.0;
    signs[n] = 2 * classes[n] - 1;
    errors += (scores[n] > 0) != (positives[n] > 0.5) ? weights[n] : 0;
    seconds += weights[n] * classes[n];
  }
  const double count = weights.sum(scores.size());
  metrics.error_percent = 100 * errors / count;
  metrics.log_loss =
      logistic_loss().sum(scores.data(), signs.data(), weights.data(), static_cast<Index>(scores.size())) /
      count;
  if (!std::isfinite(metrics.log_loss))
    throw Error(ErrorKind::kBadData, "the scores are too large for their log-loss to be summed");
  metrics.auc = area_under_curve(ranking(scores, classes, weights));
  metrics.rarer_is_second = 2 * seconds <= count;
  metrics.base_error_percent = 100 * std::min(seconds, count - seconds) / count;
  measure_rarer_class(scores, classes, weights, metrics);
  return metrics;
}

MultiClassMetrics multi_class_metrics(std::span<const double> scores, std::span<const double> positions,
                                      const std::vector<std::string>& labels,
                                      std::span<const double> row_weights) {
  MultiClassMetrics metrics;
  const std::size_t rows = positions.size();
  const std::size_t n_classes = labels.size();
  check_numbers(positions, "positions", rows);
  check_numbers(scores, "scores", rows * n_classes);
  const RowWeights weights = checked_weights(row_weights, rows);
  metrics.confusion = Matrix(std::ssize(labels), std::ssize(labels));
  if (rows == 0) return metrics;
  const double count = weights.sum(rows);
  std::vector<double> by_class(scores.size());  // the scores, class after class
  std::vector<double> probabilities(scores.begin(), scores.end());
  std::vector<double> is_class(scores.size());  // 1 for the pair of a row and its class
  std::vector<double> pair_weights(scores.size());
  for (std::size_t n = 0; n < rows; ++n) {
    const std::span<const double> own = scores.subspan(n * n_classes, n_classes);
    const auto label = static_cast<std::size_t>(positions[n]);
    if (!(positions[n] >= 0) || label >= n_classes || static_cast<double>(label) != positions[n]) {
      throw Error(
          ErrorKind::kInvalidArgument,
          fmt::format("positions[{}] is {}; expected that of one of {} labels", n, positions[n], n_classes));
    }
    metrics.confusion(static_cast<Index>(label), std::ranges::max_element(own) - own.begin()) += weights[n];
    softmax_probabilities(probabilities.data() + n * n_classes, std::ssize(labels), 1);
    for (std::size_t k = 0; k < n_classes; ++k) {
      by_class[k * rows + n] = own[k];
      is_class[n * n_classes + k] = k == label ? 1 : 0;
      pair_weights[n * n_classes + k] = weights[n];
    }
  }
  const auto size = static_cast<Index>(rows);
  metrics.log_loss =
      softmax_loss(static_cast<double>(n_classes))
          ->sum({by_class.data(), positions.data(), weights.data(), size, std::ssize(labels), size, size}) /
      count;
  if (!std::isfinite(metrics.log_loss))
    throw Error(ErrorKind::kBadData, "the scores are too large for their log-loss to be summed");
  metrics.micro_auc = area_under_curve(ranking(probabilities, is_class, RowWeights(pair_weights)));
  double right = 0;
  double largest = 0;
  double sum_of_auc = 0;
  double defined = 0;
  for (std::size_t k = 0; k < n_classes; ++k) {
    const auto own = static_cast<Index>(k);
    ClassMetrics of_class;
    of_class.label = labels[k];
    double predicted = 0;
    for (Index other = 0; other < metrics.confusion.rows; ++other) {
      of_class.rows += metrics.confusion(own, other);
      predicted += metrics.confusion(other, own);
    }
    const double found = metrics.confusion(own, own);
    if (predicted > 0) of_class.precision = found / predicted;
    if (of_class.rows > 0) of_class.recall = found / of_class.rows;
    std::vector<double> own_probabilities(rows);
    std::vector<double> is_own(rows);
    for (std::size_t n = 0; n < rows; ++n) {
      own_probabilities[n] = probabilities[n * n_classes + k];
      is_own[n] = is_class[n * n_classes + k];
    }
    of_class.auc = area_under_curve(ranking(own_probabilities, is_own, weights));
    if (of_class.auc) {
      sum_of_auc += *of_class.auc;
      ++defined;
    }
    right += found;
    largest = std::max(largest, of_class.rows);
    metrics.classes.push_back(std::move(of_class));
  }
  if (defined > 0) metrics.macro_auc = sum_of_auc / defined;
  metrics.error_percent = 100 * (count - right) / count;
  metrics.base_error_percent = 100 * (count - largest) / count;
  return metrics;
}

}  // namespace mfga
