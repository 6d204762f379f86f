// Evaluation of a model on rows.
#include "mfga/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/blas.hpp"
#include "core/row_blocks.hpp"
#include "features/candidates.hpp"
#include "features/family.hpp"
#include "mfga/error.hpp"
#include "mfga/version.hpp"
#include "model/scoring.hpp"

namespace mfga {

namespace {

// An input that is not finite need not show in the score, for no term may look at it; it always shows in the
// norm, which may also just have overflowed.
void mark_not_finite(const RowBlock& block, double* scores) {
  for (Index n = 0; n < block.rows; ++n) {
    if (std::isfinite(block.square_norms[n])) continue;
    for (Index j = 0; j < block.inputs; ++j) {
      if (!std::isfinite(block.input(j)[n])) scores[n] = std::numeric_limits<double>::quiet_NaN();
    }
  }
}

// Says why a row has no score.
[[noreturn]] void throw_without_score(const Model& model, ConstMatrixView x, std::span<const Index> columns,
                                      Index row, const RowName& row_name) {
  std::size_t farthest = 0;
  double largest = 0;
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    const ModelInput& input = model.inputs[i];
    const double value = x(row, columns[i]);
    if (!std::isfinite(value)) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("{}: the value of \"{}\", column {} of x, is {}; expected a finite number",
                              row_name(row), input.name, columns[i], value));
    }
    const double z = std::abs(value / input.deviation - input.mean / input.deviation);
    if (z >= largest) farthest = i;
    largest = std::max(largest, z);
  }
  const ModelInput& input = model.inputs[farthest];
  throw Error(ErrorKind::kBadData,
              fmt::format("{}: the prediction is not a finite number, for the row is too far from those of "
                          "the training: its \"{}\" is {:.4g}, and theirs were {:.4g} on average with a "
                          "deviation of {:.4g}. Correct the row or leave it out",
                          row_name(row), input.name, x(row, columns[farthest]), input.mean, input.deviation));
}

// The value of the column that the terms see as this one; where the scale is flat, the lowest.
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

}  // namespace

std::string_view version() { return MFGA_VERSION; }

std::string_view task_name(Task task) { return task == Task::kRegression ? "regression" : "classification"; }

std::vector<double> Model::scores(ConstMatrixView x, int threads) const {
  if (x.cols != n_columns) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("x has {} columns; the model was trained on {}", x.cols, n_columns));
  }
  std::vector<Index> columns;
  for (const ModelInput& input : inputs) columns.push_back(input.column);
  return scores(x, columns, threads);
}

std::vector<double> Model::scores(ConstMatrixView x, std::span<const Index> columns, int threads) const {
  return scores_of_rows(*this, x, columns, threads,
                        [](Index row) { return fmt::format("row {} (counted from 0)", row); });
}

std::vector<double> scores_of_rows(const Model& model, ConstMatrixView x, std::span<const Index> columns,
                                   int threads, const RowName& row_name) {
  if (columns.size() != model.inputs.size()) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("there are {} columns for the model's {} inputs; give one for each",
                            columns.size(), model.inputs.size()));
  }
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    if (columns[i] >= 0 && columns[i] < x.cols) continue;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("the input {} is to be column {} of x, which has {} columns",
                            model.inputs[i].name, columns[i], x.cols));
  }
  std::vector<InputColumn> sources;
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    const ModelInput& input = model.inputs[i];
    sources.push_back({columns[i], input.mean, input.deviation, input.warp, input.stretch});
  }
  std::vector<Atom> atoms;
  std::vector<double> coefficients;
  for (const Term& term : model.terms) {
    atoms.push_back(term.atom);
    coefficients.push_back(term.coefficient);
  }
  const ScoreFunction score(atoms, coefficients, model.intercept);
  BlockedRows rows(x, sources);
  if (model.mixing.rows > 0) rows = rows.mixed(model.mixing);
  Workers workers(threads);
  const SingleThreadedBlas blas;
  std::vector<double> result(static_cast<std::size_t>(x.rows));
  for_each_block(rows, workers, [&](const RowBlock& block, Arena& arena) {
    double* scores_of_block = result.data() + block.first_row;
    score.evaluate(block, scores_of_block, arena);
    mark_not_finite(block, scores_of_block);
  });
  const auto without = std::ranges::find_if(result, [](double value) { return !std::isfinite(value); });
  if (without != result.end())
    throw_without_score(model, x, columns, static_cast<Index>(without - result.begin()), row_name);
  return result;
}

void check_finite(const Model& model) {
  const auto check = [](double value, const std::string& what) {
    if (std::isfinite(value)) return;
    throw Error(ErrorKind::kNumerical,
                fmt::format("the model has the number {} as {}, and cannot be used or saved. The computation "
                            "has overflowed: use a larger --ridge, --scale quantile, or divide large columns "
                            "by a constant",
                            value, what));
  };
  check(model.intercept, "its intercept");
  check(model.target_shift, "the shift of its target");
  check(model.target_scale, "the scale of its target");
  check(model.training.ridge, "its ridge");
  check(model.training.norm_bound, "its norm bound");
  check(model.training.risk, "its mean loss");
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
    check(model.terms[i].coefficient, "the coefficient" + of_term);
    check(atom.nu, "the weight nu" + of_term);
    for (const double value : atom.parameters) check(value, "a parameter" + of_term);
    for (const double value : atom.shared.numbers()) check(value, "a shared number" + of_term);
  }
}

std::vector<double> Model::predictions_from_scores(std::span<const double> scores) const {
  std::vector<double> result(scores.begin(), scores.end());
  for (std::size_t n = 0; n < result.size(); ++n) {
    double& value = result[n];
    if (task == Task::kRegression) value = target_shift + target_scale * value;
    // There is no label for a score that is not a number.
    if (!std::isfinite(value)) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("the score {} of row {} (counted from 0) has no finite prediction", scores[n], n));
    }
    if (task == Task::kClassification) value = value > 0 ? 1.0 : 0.0;
  }
  return result;
}

std::vector<double> Model::predict(ConstMatrixView x, int threads) const {
  return predictions_from_scores(scores(x, threads));
}

double Model::probability_from_score(double score) {
  const double small = std::exp(-std::abs(score));
  return (score >= 0 ? 1.0 : small) / (1.0 + small);
}

std::vector<double> Model::probabilities(ConstMatrixView x, int threads) const {
  if (task != Task::kClassification) {
    throw Error(ErrorKind::kInvalidArgument,
                "probabilities need a classification model; this one is for regression");
  }
  std::vector<double> result = scores(x, threads);
  for (double& value : result) value = probability_from_score(value);
  return result;
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
