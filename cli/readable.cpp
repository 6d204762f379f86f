#include "cli/readable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace mfga::cli {
namespace {

// A threshold of a step or a hinge: its place among the parameters of its atom, and its input.
struct Threshold {
  std::size_t parameter;
  Index input;
};

std::vector<Threshold> thresholds_of(const Atom& atom) {
  std::vector<Threshold> result;
  if (atom.family == "step") result.push_back({0, atom.inputs[0]});
  for (std::size_t i = 0; atom.family == "hinge" && i < atom.inputs.size(); ++i)
    result.push_back({2 * i, atom.inputs[i]});
  return result;
}

// The model with thresholds that are multiples of a power of ten, which is `part` of the deviation of their
// column or less. Terms that become the same are one.
Model with_rounded_thresholds(const Model& model, double part) {
  Model result = model;
  result.terms.clear();
  for (Term term : model.terms) {
    for (const auto& [parameter, input] : thresholds_of(term.atom)) {
      const ModelInput& own = model.inputs[static_cast<std::size_t>(input)];
      const double unit = std::pow(10, std::floor(std::log10(part * own.deviation)));
      const double place =
          std::round((own.mean + own.deviation * term.atom.parameters[parameter]) / unit) * unit;
      term.atom.parameters[parameter] = (place - own.mean) / own.deviation;
    }
    const auto is_same = [&](const Term& other) {
      return other.atom.family == term.atom.family && other.atom.inputs == term.atom.inputs &&
             other.atom.exponents == term.atom.exponents && other.atom.parameters == term.atom.parameters;
    };
    if (std::ranges::none_of(result.terms, is_same)) result.terms.push_back(term);
  }
  return result;
}

// The model with coefficients for these rows.
Model refitted(const Model& model, const Table& table, const TrainCommand& command) {
  FitOptions options = command.fit;
  options.features = "linear";  // no term is added
  options.start = &model;
  options.scale = std::nullopt;
  options.ridge = model.training.ridge;
  options.terms = std::ssize(model.terms);
  options.time_limit = 0;
  Model result = learn_from(table, [&](const TrainingData& data) { return fit(data, options).model; });
  result.training.features = model.training.features;
  return result;
}

// What should be small on rows that were held out.
double loss_of(const Model& model, const Table& table) {
  std::vector<std::string> none;
  const Evaluation found =
      evaluate_scores(model, model.scores(table.view()), targets_of(model, table, none), table.weights);
  if (found.classification) return found.classification->log_loss;
  if (found.classes) return found.classes->log_loss;
  if (found.regression) return found.own_loss.value_or(found.regression->mse);
  double sum = 0;
  for (const TargetMetrics& target : found.targets) sum += 1 - target.metrics.r2.value_or(0);
  return sum;
}

}  // namespace

void choose_readable_terms(const Table& table, TrainCommand& command) {
  FitOptions& fit = command.fit;
  const std::array<std::pair<std::string_view, bool>, 8> given = {
      {{"--features", !fit.features.empty()},
       {"--scale", fit.scale.has_value()},
       {"--tune", !fit.tune.is_automatic()},
       {"--metric", fit.metric != Metric::kNone},
       {"--start", fit.start != nullptr},
       {"--refine", fit.refine},
       {"--search", fit.search != Search::kGreedy},
       {"--preset or --method", !command.paper.is_own()}}};
  for (const auto& [option, is_given] : given) {
    if (!is_given) continue;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("--readable chooses the terms and their scale itself; leave {} out", option));
  }
  // As the dictionary is chosen without it, but for what nobody reads.
  constexpr Index kMostColumns = 223;
  constexpr Index kFewestKnots = 32;
  constexpr Index kMostKnots = 200;
  const Index columns = std::max<Index>(1, table.cols());
  const Index knots =
      std::clamp(std::min<Index>(2000 / columns, table.rows() / 10), kFewestKnots, kMostKnots);
  fit.features = fmt::format("linear + step(knots={0}) + hinge(knots={0})", knots);
  if (columns > 1 && columns <= kMostColumns) fit.features += " + polynomial(degree=2, offset=0)";
  fit.scale = ScaleKind::kStandard;
  fit.tune = Tuning::none();
}

namespace {

std::string rounded_thresholds(const Table& table, const TrainCommand& command, Model& model) {
  constexpr Index kFewestRows = 50;
  constexpr double kHeldOut = 0.2;
  constexpr double kTolerated = 1.002;  // of the loss on held-out rows
  const bool has_thresholds =
      std::ranges::any_of(model.terms, [](const Term& term) { return !thresholds_of(term.atom).empty(); });
  if (!has_thresholds || table.rows() < kFewestRows) return "";
  Table training = table;
  const Table held_out = command.fit.in_time_order ? split_last_off(training, kHeldOut)
                                                   : split_off(training, kHeldOut, command.fit.seed);
  const double before = loss_of(refitted(model, training, command), held_out);
  for (const double part : {1.0, 0.1, 0.01, 0.001}) {
    const Model rounded = with_rounded_thresholds(model, part);
    if (loss_of(refitted(rounded, training, command), held_out) > kTolerated * before) continue;
    model = refitted(rounded, table, command);
    return fmt::format("thresholds are rounded to a power of ten below {:g} deviations of their column",
                       part);
  }
  return "thresholds are not rounded: held-out rows lose by it";
}

}  // namespace

std::string round_thresholds(const Table& table, const TrainCommand& command, Model& model) {
  try {
    return rounded_thresholds(table, command, model);
  } catch (const Error& error) {  // the model is there, and as good without
    if (error.kind() == ErrorKind::kInterrupted) throw;
    return fmt::format("thresholds are not rounded: {}", error.what());
  }
}

}  // namespace mfga::cli
