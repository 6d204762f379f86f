#include "mfga/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "features/family.hpp"
#include "losses/logistic.hpp"
#include "losses/softmax.hpp"
#include "mfga/error.hpp"
#include "mfga/predictor.hpp"
#include "mfga/version.hpp"
#include "model/scoring.hpp"

namespace mfga {

namespace {

// Not finite where there is none: no label belongs to a score that is not a number.
double prediction(const Model& model, double score, const Output& output) {
  if (model.task == Task::kRegression)
    return output.shift +
           output.scale * (model.loss.empty() ? score : loss_of_kind(model.loss).prediction(score));
  if (!std::isfinite(score)) return score;
  return score > 0 ? 1.0 : 0.0;
}

}  // namespace

double in_units(double seen, const ModelInput& input) {
  const Warp& warp = input.warp;
  double z = seen / input.stretch;
  if (warp.kind() == ScaleKind::kRobust) z = std::clamp(z, -warp.limit, warp.limit);
  if (warp.kind() == ScaleKind::kQuantile) {
    const auto above = std::ranges::lower_bound(warp.values, z);
    const auto i = static_cast<std::size_t>(above - warp.values.begin());
    if (i == 0 || i == warp.values.size()) {
      z = i == 0 ? warp.knots.front() : warp.knots.back();
    } else {
      const double part = (z - warp.values[i - 1]) / (warp.values[i] - warp.values[i - 1]);
      z = std::lerp(warp.knots[i - 1], warp.knots[i], part);
    }
  }
  return input.mean + input.deviation * z;
}

std::string_view version() { return MFGA_VERSION; }

std::string_view task_name(Task task) { return task == Task::kRegression ? "regression" : "classification"; }

std::vector<double> Model::scores(const TableView& x, int threads) const {
  return Predictor(*this, threads).scores(x);
}

std::vector<double> Model::scores(const TableView& x, std::span<const Index> columns, int threads) const {
  return Predictor(*this, threads).scores(x, columns);
}

void check_finite(const Model& model) {
  const auto check = [](double value, const std::string& what) {
    if (std::isfinite(value)) return;
    throw Error(ErrorKind::kNumerical,
                fmt::format("the model has the number {} as {}, and cannot be used or saved. The computation "
                            "has overflowed: use a larger ridge, the quantile scale, or divide large columns "
                            "by a constant",
                            value, what));
  };
  for (const Output& output : model.outputs) {
    const std::string of_output = output.name.empty() ? "" : fmt::format(" of \"{}\"", output.name);
    check(output.intercept, "its intercept" + of_output);
    check(output.shift, "the shift of its target" + of_output);
    check(output.scale, "the scale of its target" + of_output);
  }
  check(model.training.ridge, "its ridge");
  check(model.training.norm_bound, "its norm bound");
  check(model.training.risk, "its mean loss");
  check(model.training.bend, "the bend of its penalty");
  for (const ModelInput& input : model.inputs) {
    const std::string of_input = fmt::format(" of the input \"{}\"", input.name);
    check(input.mean, "the mean" + of_input);
    check(input.deviation, "the deviation" + of_input);
    check(input.stretch, "the stretch" + of_input);
    check(input.warp.limit, "the limit" + of_input);
    for (const double knot : input.warp.knots) check(knot, "a knot" + of_input);
    for (const double value : input.warp.values) check(value, "a value" + of_input);
  }
  for (const double value : model.mixing.values) check(value, "an entry of its mixing");
  for (std::size_t i = 0; i < model.terms.size(); ++i) {
    const std::string of_term = fmt::format(" of term {}", i + 1);
    const Atom& atom = model.terms[i].atom;
    for (const double coefficient : model.terms[i].coefficients)
      check(coefficient, "the coefficient" + of_term);
    check(model.terms[i].mean.value_or(0), "the mean" + of_term);
    check(atom.nu, "the weight nu" + of_term);
    for (const double value : atom.parameters) check(value, "a parameter" + of_term);
    for (const double value : atom.shared.numbers()) check(value, "a shared number" + of_term);
  }
}

double Model::prediction_from_score(double score) const {
  const double value = prediction(*this, score, outputs.front());
  if (!std::isfinite(value))
    throw Error(ErrorKind::kBadData, fmt::format("the score {} has no finite prediction", score));
  return value;
}

std::vector<double> Model::predictions_from_scores(std::span<const double> scores) const {
  const std::size_t n_outputs = outputs.size();
  std::vector<double> result;
  if (task == Task::kClassification && n_outputs > 1) {
    for (std::size_t first = 0; first < scores.size(); first += n_outputs) {
      const std::span<const double> row = scores.subspan(first, n_outputs);
      result.push_back(static_cast<double>(std::ranges::max_element(row) - row.begin()));
    }
    return result;
  }
  result.resize(scores.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = prediction(*this, scores[i], outputs[i % n_outputs]);
    if (std::isfinite(result[i])) continue;
    throw Error(ErrorKind::kBadData,
                fmt::format("the score {} of row {} (counted from 0) has no finite prediction", scores[i],
                            i / n_outputs));
  }
  return result;
}

std::vector<double> Model::predict(const TableView& x, int threads) const {
  return Predictor(*this, threads).predictions(x);
}

double log_odds(const Model& model, double score) {
  if (model.loss.empty()) return score;
  const double probability = loss_of_kind(model.loss).prediction(score);
  return std::log(probability / (1 - probability));
}

double Model::probability_from_score(double score) { return logistic_probability(score); }

std::vector<double> softmax_scores(const Model& model, std::span<const double> scores) {
  std::vector<double> result(scores.begin(), scores.end());
  if (!model.loss.starts_with("one_vs_rest")) return result;
  // The logarithm of each probability by itself.
  for (double& value : result)
    value = value < 0 ? value - std::log1p(std::exp(value)) : -std::log1p(std::exp(-value));
  return result;
}

std::vector<double> Model::probabilities_from_scores(std::span<const double> scores) const {
  std::vector<double> result = softmax_scores(*this, scores);
  if (has_one_output()) {
    for (double& value : result) value = probability_from_score(log_odds(*this, value));
    return result;
  }
  for (std::size_t first = 0; first < result.size(); first += outputs.size())
    softmax_probabilities(result.data() + first, n_outputs(), 1);
  return result;
}

std::vector<double> Model::probabilities(const TableView& x, int threads) const {
  return Predictor(*this, threads).probabilities(x);
}

std::string ModelInput::column_name() const {
  if (!is_missing) return name;
  return name.substr(0, name.size() - level_name("", std::string(kMissingLevel)).size());
}

std::vector<std::string> Model::input_names() const {
  std::vector<std::string> names;
  for (const ModelInput& input : inputs) names.push_back(input.name);
  return names;
}

bool Model::is_stretched() const {
  return std::ranges::any_of(inputs, [](const ModelInput& input) { return input.stretch != 1; });
}

std::vector<std::string> Model::formula_names() const {
  std::vector<std::string> names;
  for (const ModelInput& input : inputs) {
    const ScaleKind scale = input.warp.kind();
    const std::string_view mark = mixing.rows > 0 ? "m" : scale_name(scale).substr(0, 1);
    names.push_back(mixing.rows == 0 && scale == ScaleKind::kStandard
                        ? input.name
                        : fmt::format("{}({})", mark, input.name));
  }
  return names;
}

std::vector<Place> Model::places(const Atom& atom) const {
  std::vector<Place> places;
  if (mixing.rows > 0) return places;
  std::vector<Coordinate> coordinates = find_feature_family(atom.family)->coordinates(atom);
  std::erase_if(coordinates, [](const Coordinate& coordinate) { return coordinate.input < 0; });
  constexpr std::size_t kFew = 2;
  if (coordinates.size() > kFew) {
    std::ranges::stable_sort(coordinates, std::greater{},
                             [](const Coordinate& coordinate) { return std::abs(coordinate.value); });
  }
  for (const Coordinate& coordinate : coordinates) {
    const ModelInput& input = inputs[static_cast<std::size_t>(coordinate.input)];
    places.push_back({input.name, in_units(coordinate.value, input)});
  }
  return places;
}

}  // namespace mfga
