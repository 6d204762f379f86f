#include "mfga/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "data/number_text.hpp"
#include "mfga/error.hpp"
#include "model/target.hpp"

namespace mfga {
namespace {

// The label, or the one without a dot at its end.
bool is_label(std::string_view text, const std::string& label, bool& drops_dot) {
  if (text == label) return true;
  drops_dot = text.ends_with('.') && text.substr(0, text.size() - 1) == label;
  return drops_dot;
}

// 1 for the second label of the model, 0 for the first.
std::vector<double> positives_of(const Model& model, const Table& table, std::vector<std::string>& warnings) {
  std::vector<double> positives(table.target.size());
  Index dropped_dots = 0;
  for (std::size_t n = 0; n < positives.size(); ++n) {
    const std::string label = table.labels.empty() ? number_label(table.target[n])
                                                   : table.labels[static_cast<std::size_t>(table.target[n])];
    bool drops_dot = false;
    if (is_label(label, model.labels[1], drops_dot)) {
      positives[n] = 1;
    } else if (!is_label(label, model.labels[0], drops_dot)) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("{}:{}: the target \"{}\" is \"{}\"; the model knows the labels \"{}\" and \"{}\"",
                      table.source, table.lines.line_of_row(static_cast<Index>(n)), table.target_name, label,
                      model.labels[0], model.labels[1]));
    }
    dropped_dots += drops_dot ? 1 : 0;
  }
  if (dropped_dots > 0) {
    warnings.push_back(fmt::format(
        "{}: {} of {} labels end in a dot, as in \"{}.\"; they are taken for the labels without it",
        table.source, dropped_dots, table.rows(), model.labels[0]));
  }
  return positives;
}

bool is_number(const std::string& text) {
  double value = 0;
  const FieldContent content = classify_field(text, value);
  return content == FieldContent::kFinite || content == FieldContent::kNotFinite;
}

// The same for numbers in memory.
std::vector<double> positives_of(const Model& model, std::span<const double> y) {
  const bool has_texts =
      std::ranges::none_of(model.labels, [](const std::string& label) { return is_number(label); });
  const std::string first = has_texts ? "0" : model.labels[0];
  const std::string second = has_texts ? "1" : model.labels[1];
  std::vector<double> positives(y.size());
  for (std::size_t n = 0; n < y.size(); ++n) {
    const std::string label = number_label(y[n]);
    if (label != first && label != second) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("row {} (counted from 0): the target is {}; expected {} or {}{}", n, label,
                              first, second,
                              has_texts ? fmt::format(", the positions of the labels \"{}\" and \"{}\"",
                                                      model.labels[0], model.labels[1])
                                        : ", the labels of the model"));
    }
    positives[n] = label == second ? 1 : 0;
  }
  return positives;
}

}  // namespace

Evaluation evaluate(const Model& model, ConstMatrixView x, std::span<const double> y, int threads,
                    std::span<const double> weights) {
  if (static_cast<Index>(y.size()) != x.rows) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("there are {} targets for the {} rows of x", y.size(), x.rows));
  }
  const std::vector<double> scores = model.scores(x, threads);
  return evaluate_scores(
      model, scores,
      model.task == Task::kClassification ? positives_of(model, y) : std::vector<double>(y.begin(), y.end()),
      weights);
}

Evaluation evaluate_scores(const Model& model, std::span<const double> scores,
                           std::span<const double> targets, std::span<const double> weights) {
  Evaluation evaluation;
  if (model.task == Task::kClassification) {
    evaluation.classification = classification_metrics(scores, targets, weights);
    evaluation.rarer_label = model.labels[evaluation.classification->rarer_is_second ? 1 : 0];
    return evaluation;
  }
  evaluation.regression = regression_metrics(model.predictions_from_scores(scores), targets, weights);
  if (model.target_scale != 1) {
    evaluation.scaled_error_percent =
        100 * evaluation.regression->mse / (model.target_scale * model.target_scale);
  }
  return evaluation;
}

std::vector<double> targets_of(const Model& model, const Table& table, std::vector<std::string>& warnings) {
  if (model.task == Task::kClassification) return positives_of(model, table, warnings);
  if (table.labels.empty()) return table.target;
  throw Error(ErrorKind::kBadData,
              fmt::format("{}: the target \"{}\" holds text such as \"{}\"; the model predicts a number",
                          table.source, table.target_name, table.labels.front()));
}

}  // namespace mfga
