// From a model and its training rows to the constants of the theorem, and to its terms.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/blas.hpp"
#include "features/family.hpp"
#include "losses/logistic.hpp"
#include "losses/squared.hpp"
#include "mfga/error.hpp"
#include "theory/bound.hpp"
#include "theory/curvature.hpp"
#include "theory/kernel_sizes.hpp"

namespace mfga {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// The risk on the training rows is the recorded one but for rounding; a larger difference means other rows.
constexpr double kSameRisk = 1e-6;

void check_shapes(const Model& model, const BoundData& data) {
  if (model.terms.empty()) {
    throw Error(ErrorKind::kInvalidArgument, "the model has no terms; there is nothing to bound");
  }
  if (!model.loss.empty()) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("the bound is about the squared and the logistic loss; this model has the {} loss",
                    model.loss));
  }
  if (model.training.features.empty()) {
    throw Error(ErrorKind::kBadData,
                "the model does not record its dictionary (training.features), which the bound needs");
  }
  if (data.x.rows == 0 || static_cast<std::size_t>(data.x.rows) != data.y.size()) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("x has {} rows and y has {} values; they must agree and not be 0", data.x.rows,
                            data.y.size()));
  }
  const std::size_t columns = data.columns.size();
  if (columns == 0 ? data.x.cols != model.n_columns : columns != model.inputs.size()) {
    throw Error(
        ErrorKind::kInvalidArgument,
        columns == 0
            ? fmt::format("x has {} columns; the model was trained on {}", data.x.cols, model.n_columns)
            : fmt::format("{} columns are given for {} inputs", columns, model.inputs.size()));
  }
}

// Exact kernels are recorded by a text that is not a dictionary.
Dictionary dictionary_of(const Model& model) {
  try {
    return Dictionary(model.training.features);
  } catch (const Error&) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("the bound is about models of explicit features; this one was trained with \"{}\"",
                    model.training.features));
  }
}

bool is_tuned(const Model& model) {
  return model.training.tuning_steps > 0 || model.is_stretched() || model.mixing.rows > 0;
}

std::vector<InputColumn> input_columns(const Model& model, const BoundData& data) {
  std::vector<InputColumn> result;
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    const ModelInput& input = model.inputs[i];
    result.push_back({data.columns.empty() ? input.column : data.columns[i], input.mean, input.deviation,
                      input.warp, input.stretch, input.is_missing});
  }
  return result;
}

// The units that the model was fitted in if it scaled its target, else those of the rows' range.
TargetUnits target_units(const Model& model, std::span<const double> y) {
  if (model.task == Task::kClassification) return {};
  if (model.outputs.front().shift != 0 || model.outputs.front().scale != 1)
    return {model.outputs.front().shift, model.outputs.front().scale};
  const auto [low, high] = std::minmax_element(y.begin(), y.end());
  if (!(*low < *high)) {
    throw Error(ErrorKind::kBadData,
                fmt::format("the target {} has the value {} in every row; it cannot be scaled to [-1, 1]",
                            model.target_name, *low));
  }
  return {0.5 * (*low + *high), 0.5 * (*high - *low)};
}

std::vector<double> targets_of(const Model& model, const BoundData& data, const TargetUnits& units) {
  std::vector<double> targets;
  targets.reserve(data.y.size());
  for (const double y : data.y) {
    targets.push_back(model.task == Task::kClassification ? (y == 1 ? 1.0 : -1.0)
                                                          : (y - units.middle) / units.half_range);
  }
  return targets;
}

// The model's score in the units of the bound.
Combination combination_of(const Model& model, const TargetUnits& units) {
  Combination result;
  for (const Term& term : model.terms) {
    result.atoms.push_back(term.atom);
    result.theta.push_back(term.coefficients.front() * model.outputs.front().scale / units.half_range);
  }
  result.intercept = (model.outputs.front().shift +
                      model.outputs.front().scale * model.outputs.front().intercept - units.middle) /
                     units.half_range;
  return result;
}

// The width of the atom's kernel; 0 if its family does not record one.
double width_of(const Atom& atom) {
  const auto fields = find_feature_family(atom.family)->parameter_fields();
  return !fields.empty() && fields[0].name == "sigma" ? atom.parameters[0] : 0;
}

// How many features the kernels of a family have: the whole Gaussian kernel infinitely many.
double features_of(const Dictionary& dictionary, const std::string& family, Index n_inputs) {
  if (family == "gaussian") return kInfinite;
  double count = 0;
  for (const FamilyRequest& request : dictionary.requests()) {
    if (request.family != family) continue;
    const FeatureFamily& known = *find_feature_family(family);
    count += known.candidates(option_values(known, request), n_inputs);
  }
  return count;
}

// The coefficients by kernel: the atoms of a kernel have their family and their width in common. Kernels that
// cannot be told apart in this way count as one, with no less of a tail. Of a tuned model only the families
// are known.
std::vector<KernelTail> kernel_tails(const Combination& model, const Dictionary& dictionary, Index n_inputs,
                                     bool tuned) {
  std::vector<KernelTail> tails;
  std::vector<std::pair<std::string, double>> kernels;
  for (std::size_t i = 0; i < model.atoms.size(); ++i) {
    const Atom& atom = model.atoms[i];
    const std::pair kernel(atom.family, tuned ? 0 : width_of(atom));
    const auto p = static_cast<std::size_t>(std::ranges::find(kernels, kernel) - kernels.begin());
    if (p == kernels.size()) {
      kernels.push_back(kernel);
      tails.push_back(
          {kernel.second > 0 ? fmt::format("{}(sigma={:.4g})", atom.family, kernel.second) : atom.family,
           {},
           1,
           0});
    }
    tails[p].squares.push_back(model.theta[i] * model.theta[i]);
  }
  for (std::size_t p = 0; p < tails.size(); ++p) {
    const double unused =
        features_of(dictionary, kernels[p].first, n_inputs) - static_cast<double>(tails[p].squares.size());
    if (tuned) {
      tails[p].beyond = kInfinite;
    } else {
      extrapolate(tails[p], std::max(unused, 0.0));
    }
  }
  return tails;
}

double constant_risk(const Loss& loss, std::span<const double> targets) {
  const std::vector<double> scores(targets.size(), loss.best_constant({targets}));
  return loss.sum(scores.data(), targets.data(), nullptr, static_cast<Index>(targets.size())) /
         static_cast<double>(targets.size());
}

void note_rows(const Model& model, Bound& bound) {
  const TrainingRecord& training = model.training;
  if (training.rows != bound.rows) {
    bound.notes.push_back(
        fmt::format("the model was trained on {} rows, not on these {}; the bound is about "
                    "the training rows",
                    training.rows, bound.rows));
    return;
  }
  const double scale = model.outputs.front().scale / bound.units.half_range;
  const double recorded = training.risk * (model.task == Task::kRegression ? scale * scale : 1);
  if (std::abs(bound.train_risk - recorded) > kSameRisk * (std::abs(recorded) + 1e-9)) {
    bound.notes.push_back(
        fmt::format("the mean loss on these rows is {:.6g}, that on the training rows was "
                    "{:.6g}: these are other rows; the bound is about the training rows",
                    bound.train_risk, recorded));
  }
}

// The kernels whose features depend on the rows, by their families.
std::string placed_by_rows(const std::vector<KernelSize>& sizes) {
  std::vector<std::string> families;
  for (const KernelSize& size : sizes) {
    std::string family = size.kernel.substr(0, size.kernel.find('('));
    const bool is_fixed = family == "linear" || family == "polynomial" || family == "gaussian" ||
                          family == "fourier" || family == "maclaurin";
    if (!is_fixed && std::ranges::find(families, family) == families.end())
      families.push_back(std::move(family));
  }
  return fmt::format("{}", fmt::join(families, ", "));
}

void note_assumptions(const Model& model, std::span<const double> targets, Bound& bound) {
  if (model.outputs.front().intercept != 0) {
    bound.notes.emplace_back(
        "the theorem's class has no intercept; the bound is that of the class shifted by this model's");
  }
  bound.notes.emplace_back("C is the norm of the fitted coefficients; the theorem fixes it before the data");
  if (bound.is_tuned) {
    bound.notes.emplace_back(
        "the model was tuned: the bound is that of the untuned dictionary, on inputs that are not stretched. "
        "The "
        "theorem does not cover terms, or inputs, that were moved to fit the data; `tune=no` trains a model "
        "that it covers");
    bound.notes.emplace_back(
        "beta and mu are those of the moved terms, and the tail of the coefficients is not available, as "
        "they "
        "belong to moved terms: the spectral term is all that C allows, G B C");
  }
  if (const std::string placed = placed_by_rows(bound.sizes); !placed.empty()) {
    bound.notes.push_back(fmt::format(
        "the features of {} lie where the training rows are (knots, centres, ranges); the theorem "
        "fixes them before the data",
        placed));
  }
  if (model.training.norm_bound > 0) {
    bound.notes.emplace_back("the model has a norm bound: its multiplier is not counted into mu and beta");
  }
  if (bound.kernels == 1) {
    bound.notes.emplace_back(
        "with one kernel, ceil(log P) is 0; the lemma's proof needs at least 1, used here");
  }
  if (model.task == Task::kClassification) {
    bound.notes.emplace_back(
        "mu and beta are those at the solution; over the whole class mu is smaller for the logistic loss");
    return;
  }
  const bool scaled = model.outputs.front().shift != 0 || model.outputs.front().scale != 1;
  bound.notes.push_back(
      fmt::format("the target is scaled to [-1, 1], as the theorem assumes: (target - {:.6g}) / {:.6g}, {}",
                  bound.units.middle, bound.units.half_range,
                  scaled ? "as the model does" : "the middle and half of its range on these rows"));
  const double largest = std::abs(*std::max_element(
      targets.begin(), targets.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  if (largest > 1 + 1e-9) {
    bound.notes.push_back(fmt::format("on that scale a target of these rows is {:.4g} in size", largest));
  }
  if (bound.kernel_bound * bound.norm < 1) {
    bound.notes.emplace_back("B C is below 1: the supplement's bound presumes targets of at most B C");
  }
}

}  // namespace

void BoundOptions::validate() const {
  if (!(delta > 0 && delta < 1)) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`delta` is {}; expected a number between 0 and 1, both excluded", delta));
  }
  if (threads < 0) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`threads` is {}; expected 0 (all cores) or more", threads));
  }
}

Bound learning_bound(const Model& model, const BoundData& data, const BoundOptions& options) {
  options.validate();
  if (!model.has_one_output()) {
    throw Error(ErrorKind::kInvalidArgument,
                "the theorem is about one target or two classes; the model has several");
  }
  check_shapes(model, data);
  const SingleThreadedBlas blas;
  Workers workers(options.threads);
  const Dictionary dictionary = dictionary_of(model);
  const bool regression = model.task == Task::kRegression;
  const Loss& loss = regression ? squared_loss() : logistic_loss();

  Bound bound;
  bound.rows = data.x.rows;
  bound.terms = static_cast<Index>(model.terms.size());
  bound.kernels = static_cast<Index>(dictionary.requests().size());
  bound.delta = options.delta;
  bound.units = target_units(model, data.y);
  const std::vector<double> targets = targets_of(model, data, bound.units);
  const Combination combination = combination_of(model, bound.units);

  // Definitions 1 and 2 on the active set, measured. The multiplier of a norm bound is no part of the risk,
  // and other costs than squares have no curvature that could be counted on.
  const bool is_square = model.training.norm_bound == 0 && model.training.bend == 0;
  const double ridge = is_square ? model.training.ridge : 0;
  std::vector<InputColumn> columns = input_columns(model, data);
  BlockedRows rows(data.x, columns);
  if (model.mixing.rows > 0) rows = rows.mixed(model.mixing);
  const RowMeasurements measured = measure_rows(
      rows, targets, loss, combination,
      model.outputs.front().intercept != 0 ? Intercept::kUnpenalised : Intercept::kNone, ridge, workers);
  if (!std::isfinite(measured.risk)) {
    throw Error(ErrorKind::kBadData, "the mean loss on the rows is not finite; x and y must be finite");
  }
  bound.smoothness = measured.largest_curvature;
  bound.strong_convexity = measured.smallest_curvature;
  bound.condition =
      bound.strong_convexity > 0 ? std::ceil(bound.smoothness / bound.strong_convexity) : kInfinite;
  bound.train_risk = measured.risk;
  bound.constant_risk = constant_risk(loss, targets);

  // Assumption 1 and class (2): B and C. The dictionary is that of the inputs before they were moved.
  bound.is_tuned = is_tuned(model);
  for (InputColumn& column : columns) column.stretch = 1;
  bound.sizes = kernel_sizes(dictionary, BlockedRows(data.x, columns), workers);
  double diagonal = 0;
  for (const KernelSize& size : bound.sizes) diagonal = std::max(diagonal, size.largest);
  bound.kernel_bound = std::sqrt(diagonal);
  double square_norm = 0;
  for (const double theta : combination.theta) square_norm += theta * theta;
  bound.norm = std::sqrt(square_norm);

  // Assumption 2. Logistic: |L'| <= 1, L'' <= 1/4, L(0) = log 2. Quadratic: |2 (f - y)| <= 2 (1 + B C), as
  // |y| <= 1 and |f| <= B C.
  bound.lipschitz = regression ? 2 * (1 + bound.kernel_bound * bound.norm) : 1;
  bound.loss_smoothness = regression ? 2 : 0.25;
  bound.loss_at_zero = regression ? 0 : std::log(2.0);

  bound.rademacher = rademacher_bound(bound);
  bound.estimation = regression ? quadratic_estimation(bound) : lipschitz_estimation(bound);
  bound.tails = kernel_tails(combination, dictionary, rows.inputs(), bound.is_tuned);
  optimise_epsilon(bound);
  note_rows(model, bound);
  note_assumptions(model, targets, bound);
  return bound;
}

}  // namespace mfga
