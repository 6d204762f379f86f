#include "mfga/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

#include "data/number_text.hpp"
#include "mfga/error.hpp"
#include "model/scoring.hpp"
#include "model/target.hpp"

namespace mfga {
namespace {

std::string labels_text(const Model& model) {
  constexpr std::size_t kMostShown = 5;
  std::string text;
  for (std::size_t k = 0; k < std::min(kMostShown, model.labels.size()); ++k) {
    text += k == 0 ? "" : k + 1 == model.labels.size() ? " and " : ", ";
    text += fmt::format("\"{}\"", model.labels[k]);
  }
  return model.labels.size() > kMostShown ? text + ", ..." : text;
}

// The positions of the table's labels among those of the model.
std::vector<double> positions_of(const Model& model, const Table& table, std::vector<std::string>& warnings) {
  std::map<std::string, double, std::less<>> known;
  for (const std::string& label : model.labels) known.emplace(label, static_cast<double>(known.size()));
  std::vector<double> positions(table.target.size());
  Index dropped_dots = 0;
  for (std::size_t n = 0; n < positions.size(); ++n) {
    if (!table.weights.empty() && table.weights[n] == 0) continue;  // it does not count
    const std::string label = table.labels.empty() ? number_label(table.target[n])
                                                   : table.labels[static_cast<std::size_t>(table.target[n])];
    auto found = known.find(label);
    if (found == known.end() && label.ends_with('.')) {
      found = known.find(std::string_view(label).substr(0, label.size() - 1));
      dropped_dots += found != known.end() ? 1 : 0;
    }
    if (found == known.end()) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("{}:{}: the target \"{}\" is \"{}\"; the model knows the labels {}",
                              table.source, table.lines.line_of_row(static_cast<Index>(n)), table.target_name,
                              label, labels_text(model)));
    }
    positions[n] = found->second;
  }
  if (dropped_dots > 0) {
    warnings.push_back(fmt::format(
        "{}: {} of {} labels end in a dot, as in \"{}.\"; they are taken for the labels without it",
        table.source, dropped_dots, table.rows(), model.labels[0]));
  }
  return positions;
}

bool is_number(const std::string& text) {
  double value = 0;
  const FieldContent content = classify_field(text, value);
  return content == FieldContent::kFinite || content == FieldContent::kNotFinite;
}

// The same for numbers in memory.
std::vector<double> positions_of(const Model& model, std::span<const double> y) {
  const bool has_texts =
      std::ranges::none_of(model.labels, [](const std::string& label) { return is_number(label); });
  std::map<std::string, double> known;
  for (std::size_t k = 0; k < model.labels.size(); ++k)
    known.emplace(has_texts ? fmt::format("{}", k) : model.labels[k], static_cast<double>(k));
  std::vector<double> positions(y.size());
  for (std::size_t n = 0; n < y.size(); ++n) {
    const auto found = known.find(number_label(y[n]));
    if (found == known.end()) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("row {} (counted from 0): the target is {}; expected {}", n, number_label(y[n]),
                      has_texts
                          ? fmt::format("the position of one of the labels {}, from 0 on", labels_text(model))
                          : fmt::format("one of the labels of the model, {}", labels_text(model))));
    }
    positions[n] = found->second;
  }
  return positions;
}

}  // namespace

std::vector<double> targets_of(const Model& model, const TableView& x, std::span<const double> y) {
  const Index targets = model.task == Task::kRegression ? model.n_outputs() : 1;
  if (std::ssize(y) != x.rows * targets) {
    throw Error(ErrorKind::kInvalidArgument,
                targets == 1 ? fmt::format("there are {} targets for the {} rows of x", y.size(), x.rows)
                             : fmt::format("there are {} numbers for {} targets of the {} rows of x",
                                           y.size(), targets, x.rows));
  }
  return model.task == Task::kClassification ? positions_of(model, y)
                                             : std::vector<double>(y.begin(), y.end());
}

Evaluation evaluate(const Model& model, const TableView& x, std::span<const double> y, int threads,
                    std::span<const double> weights) {
  const std::vector<double> targets = targets_of(model, x, y);
  return evaluate_scores(model, model.scores(x, threads), targets, weights);
}

Evaluation evaluate_scores(const Model& model, std::span<const double> scores,
                           std::span<const double> targets, std::span<const double> weights) {
  Evaluation evaluation;
  if (model.task == Task::kClassification && !model.has_one_output()) {
    evaluation.classes = multi_class_metrics(softmax_scores(model, scores), targets, model.labels, weights);
    return evaluation;
  }
  if (!model.has_one_output()) {
    const std::vector<double> predictions = model.predictions_from_scores(scores);
    const std::size_t n_outputs = model.outputs.size();
    const std::size_t rows = predictions.size() / n_outputs;
    for (std::size_t k = 0; k < n_outputs; ++k) {
      std::vector<double> own(rows);
      for (std::size_t n = 0; n < rows; ++n) own[n] = predictions[n * n_outputs + k];
      evaluation.targets.push_back(
          {model.outputs[k].name, regression_metrics(own, targets.subspan(k * rows, rows), weights)});
    }
    return evaluation;
  }
  if (model.task == Task::kClassification) {
    evaluation.classification = classification_metrics(scores, targets, weights);
    if (!model.loss.empty()) {
      std::vector<double> odds;
      for (const double score : scores) odds.push_back(log_odds(model, score));
      evaluation.classification->log_loss = classification_metrics(odds, targets, weights).log_loss;
    }
    evaluation.rarer_label = model.labels[evaluation.classification->rarer_is_second ? 1 : 0];
    return evaluation;
  }
  evaluation.regression = regression_metrics(model.predictions_from_scores(scores), targets, weights);
  const double scale = model.outputs.front().scale;
  if (!model.loss.empty()) {
    const std::shared_ptr<const Loss> loss = find_loss(model.loss);
    std::vector<double> scaled;
    for (const double target : targets) scaled.push_back((target - model.outputs.front().shift) / scale);
    const bool fits = std::ranges::all_of(scaled, [&](double y) { return loss->required_of(y).empty(); });
    const double weight = TargetColumn{scaled, weights}.total_weight();
    evaluation.own_measure = loss->measure();
    if (fits)
      evaluation.own_loss = loss->unit(scale) / weight *
                            loss->sum(scores.data(), scaled.data(),
                                      weights.empty() ? nullptr : weights.data(), std::ssize(scaled));
    return evaluation;
  }
  if (scale != 1) {
    evaluation.scaled_error_percent = 100 * evaluation.regression->mse / (scale * scale);
  }
  return evaluation;
}

std::vector<double> targets_of(const Model& model, const Table& table, std::vector<std::string>& warnings) {
  if (model.task == Task::kClassification) return positions_of(model, table, warnings);
  if (table.labels.empty()) return table.target;
  throw Error(ErrorKind::kBadData,
              fmt::format("{}: the target \"{}\" holds text such as \"{}\"; the model predicts a number",
                          table.source, table.target_name, table.labels.front()));
}

}  // namespace mfga
