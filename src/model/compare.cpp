#include "mfga/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "losses/loss.hpp"
#include "mfga/error.hpp"
#include "model/scoring.hpp"

namespace mfga {
namespace {

// A model with its scores of the rows, and their targets.
struct ScoredModel {
  const Model* model = nullptr;
  std::span<const double> scores;
  std::span<const double> targets;
};

[[noreturn]] void throw_not_alike(std::size_t model, const std::string& why) {
  throw Error(ErrorKind::kInvalidArgument,
              fmt::format("model {} cannot be compared with the first one: {}", model + 1, why));
}

double log_loss_of_two(double log_odds, bool is_second) {
  const double margin = is_second ? log_odds : -log_odds;
  return margin > 0 ? std::log1p(std::exp(-margin)) : std::log1p(std::exp(margin)) - margin;
}

std::vector<double> log_losses(const ScoredModel& scored) {
  const Model& model = *scored.model;
  std::vector<double> losses;
  if (model.has_one_output()) {
    for (std::size_t n = 0; n < scored.scores.size(); ++n)
      losses.push_back(log_loss_of_two(log_odds(model, scored.scores[n]), scored.targets[n] > 0));
    return losses;
  }
  const std::vector<double> scores = softmax_scores(model, scored.scores);
  const std::size_t classes = model.outputs.size();
  for (std::size_t n = 0; n < scored.targets.size(); ++n) {
    const std::span<const double> own = std::span(scores).subspan(n * classes, classes);
    const double largest = *std::ranges::max_element(own);
    double sum = 0;
    for (const double score : own) sum += std::exp(score - largest);
    losses.push_back(largest + std::log(sum) - own[static_cast<std::size_t>(scored.targets[n])]);
  }
  return losses;
}

double weight_of(std::span<const double> weights, std::size_t row) {
  return weights.empty() ? 1 : weights[row];
}

double weighted_mean(std::span<const double> values, std::span<const double> weights) {
  double sum = 0;
  double total = 0;
  for (std::size_t n = 0; n < values.size(); ++n) {
    sum += weight_of(weights, n) * values[n];
    total += weight_of(weights, n);
  }
  return sum / total;
}

// Of each row, the mean over the targets; several are in units of their variances.
std::vector<double> squared_errors(const ScoredModel& scored, std::span<const double> weights) {
  const std::size_t targets = scored.model->outputs.size();
  const std::vector<double> predictions = scored.model->predictions_from_scores(scored.scores);
  const std::size_t rows = predictions.size() / targets;
  std::vector<double> losses(rows);
  for (std::size_t k = 0; k < targets; ++k) {
    const std::span<const double> own = scored.targets.subspan(k * rows, rows);
    double unit = 1;
    if (targets > 1) {
      const double mean = weighted_mean(own, weights);
      std::vector<double> squares;
      for (const double value : own) squares.push_back((value - mean) * (value - mean));
      const double variance = weighted_mean(squares, weights);
      unit = static_cast<double>(targets) * (variance > 0 ? variance : 1);
    }
    for (std::size_t n = 0; n < rows; ++n) {
      const double error = predictions[n * targets + k] - own[n];
      losses[n] += error * error / unit;
    }
  }
  return losses;
}

std::vector<double> own_losses(const ScoredModel& scored, const Loss& loss) {
  const Output& output = scored.model->outputs.front();
  std::vector<double> losses;
  for (std::size_t n = 0; n < scored.scores.size(); ++n) {
    const double target = (scored.targets[n] - output.shift) / output.scale;
    losses.push_back(loss.unit(output.scale) * loss.sum(&scored.scores[n], &target, nullptr, 1));
  }
  return losses;
}

void set_difference(std::span<const double> losses, std::span<const double> best,
                    std::span<const double> weights, ComparedModel& model) {
  std::vector<double> differences;
  for (std::size_t n = 0; n < losses.size(); ++n) differences.push_back(losses[n] - best[n]);
  model.difference = weighted_mean(differences, weights);
  double squares = 0;
  double total = 0;
  for (std::size_t n = 0; n < differences.size(); ++n) {
    const double weight = weight_of(weights, n);
    squares += std::pow(weight * (differences[n] - model.difference), 2);
    total += weight;
  }
  const auto rows = static_cast<double>(differences.size());
  model.standard_error = rows > 1 ? std::sqrt(squares * rows / (rows - 1)) / total : 0;
  constexpr double kStandardErrors = 2;
  model.is_within_chance = model.difference <= kStandardErrors * model.standard_error;
}

}  // namespace

void check_comparable(std::span<const Model> models) {
  if (models.empty()) throw Error(ErrorKind::kInvalidArgument, "there is no model to compare");
  const auto sorted_labels = [](const Model& model) {
    std::vector<std::string> labels = model.labels;
    std::ranges::sort(labels);
    return labels;
  };
  const Model& first = models.front();
  for (std::size_t i = 1; i < models.size(); ++i) {
    const Model& model = models[i];
    if (model.task != first.task)
      throw_not_alike(
          i, fmt::format("it is for {}, and that one for {}", task_name(model.task), task_name(first.task)));
    if (model.target_name != first.target_name)
      throw_not_alike(i, fmt::format("its target is \"{}\", and that one's \"{}\"", model.target_name,
                                     first.target_name));
    if (sorted_labels(model) != sorted_labels(first))
      throw_not_alike(i, fmt::format("it knows other labels of \"{}\"", model.target_name));
  }
}

Comparison compare_scores(std::span<const Model> models, std::span<const ModelScores> scores,
                          std::span<const double> weights) {
  check_comparable(models);
  std::vector<ScoredModel> all;
  for (std::size_t i = 0; i < models.size(); ++i) {
    all.push_back({&models[i], scores[i].scores, scores[i].targets});
    if (scores[i].targets.size() != scores[0].targets.size())
      throw_not_alike(i, fmt::format("it has {} targets of the rows, and that one {}",
                                     scores[i].targets.size(), scores[0].targets.size()));
  }
  Comparison comparison;
  for (const ScoredModel& scored : all) {
    ComparedModel& own = comparison.models.emplace_back();
    own.terms = std::ssize(scored.model->terms);
    own.evaluation = evaluate_scores(*scored.model, scored.scores, scored.targets, weights);
  }
  const Model& first = models.front();
  const bool is_classes = first.task == Task::kClassification;
  const bool has_own_loss =
      !is_classes && first.has_one_output() &&
      std::ranges::all_of(
          models, [&](const Model& model) { return model.loss == first.loss && !first.loss.empty(); }) &&
      std::ranges::all_of(comparison.models,
                          [](const ComparedModel& own) { return own.evaluation.own_loss.has_value(); });
  comparison.measure = is_classes               ? "log loss"
                       : has_own_loss           ? comparison.models.front().evaluation.own_measure
                       : first.has_one_output() ? "squared error"
                                                : "squared error in units of the variance";
  std::ranges::replace(comparison.measure, '_', ' ');
  std::vector<std::vector<double>> losses;
  for (const ScoredModel& scored : all) {
    losses.push_back(is_classes     ? log_losses(scored)
                     : has_own_loss ? own_losses(scored, *find_loss(first.loss))
                                    : squared_errors(scored, weights));
  }
  comparison.rows = std::ssize(losses.front());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    comparison.models[i].mean_loss = weighted_mean(losses[i], weights);
    if (comparison.models[i].mean_loss < comparison.models[comparison.best].mean_loss) comparison.best = i;
  }
  for (std::size_t i = 0; i < losses.size(); ++i)
    set_difference(losses[i], losses[comparison.best], weights, comparison.models[i]);
  return comparison;
}

Comparison compare(std::span<const Model> models, const TableView& x, std::span<const double> y, int threads,
                   std::span<const double> weights) {
  check_comparable(models);
  std::vector<ModelScores> scores;
  for (const Model& model : models) scores.push_back({model.scores(x, threads), targets_of(model, x, y)});
  return compare_scores(models, scores, weights);
}

}  // namespace mfga
