#include "model/prepared_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "data/scale_inputs.hpp"
#include "mfga/error.hpp"
#include "model/plan.hpp"
#include "model/start.hpp"

namespace mfga {

PreparedData PreparedData::subset(std::span<const Index> positions, Workers* workers) const {
  PreparedData result{target, inputs, text_columns, rows.subset(positions, workers), intercept, cost};
  result.target.values = values_of(target.values, positions, target.columns);
  if (!groups.empty()) {
    for (const Index position : positions)
      result.groups.push_back(groups[static_cast<std::size_t>(position)]);
  }
  return result;
}

bool PreparedData::has_groups_for(Index folds) const {
  return groups.empty() || std::ssize(std::set<Index>(groups.begin(), groups.end())) >= folds;
}

Folds PreparedData::folds(const Plan& plan, const CrossValidationOptions& options) const {
  if (!has_groups_for(options.folds)) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format("the rows belong to fewer than {} groups, and each of {} folds needs one at least; "
                    "use no groups",
                    options.folds, options.folds));
  }
  const bool has_classes = target.task == Task::kClassification && target.columns == 1;
  return {DividedRows{rows.rows(), groups,
                      has_classes ? std::span<const double>(target.values) : std::span<const double>(),
                      plan.options.in_time_order},
          options, plan.options.seed};
}

void PreparedData::stretch(std::span<const double> factors) {
  rows = rows.stretched(factors);
  if (rows.mixing() != nullptr) return;  // they are in the combinations
  for (std::size_t j = 0; j < inputs.size(); ++j) inputs[j].stretch *= factors[j];
}

bool PreparedData::has_one_target() const {
  for (Index k = 0; k < target.columns; ++k) {
    const std::span<const double> values = TargetColumns{target.values, {}, target.columns}.column(k).values;
    if (!std::ranges::all_of(values, [&](double value) { return value == values.front(); })) return false;
  }
  return true;
}

CountedRows::CountedRows(const TrainingData& data) {
  if (std::ranges::find(data.weights, 0.0) == data.weights.end()) return;
  for (std::size_t n = 0; n < data.weights.size(); ++n) {
    if (data.weights[n] == 0) continue;
    positions.push_back(static_cast<Index>(n));
    weights.push_back(data.weights[n]);
    if (!data.groups.empty()) groups.push_back(data.groups[n]);
  }
  targets = values_of(data.y, positions, data.targets());
}

TrainingData CountedRows::without_others(const TrainingData& data) const {
  TrainingData result = data;
  if (positions.empty()) return result;
  result.y = targets;
  result.weights = weights;
  result.groups = groups;
  return result;
}

std::vector<InputColumn> prepare_inputs(const TrainingData& data, const Plan& plan, Workers& workers,
                                        Standardisation& standard) {
  standard = fit_standardisation(data.x, workers, data.columns, data.weights);
  if (standard.inputs.empty()) {
    throw Error(ErrorKind::kBadData,
                "every column is constant on the training rows; there is nothing to learn from");
  }
  return scale_inputs(standard.inputs, planned_scales(plan, data.x, data.weights, standard.inputs, workers),
                      data.x, plan.options.seed, workers, data.weights);
}

std::vector<Index> exclusive_columns(const std::vector<InputColumn>& inputs, const TrainingData& data) {
  std::set<Index> marked;
  for (const InputColumn& input : inputs) {
    if (input.is_missing) marked.insert(input.column);
  }
  std::vector<Index> result;
  if (data.text_columns.empty() && marked.empty()) return result;
  for (const InputColumn& input : inputs) {
    const TextColumn* const text = origin_of(input.column, data.text_columns).text;
    result.push_back(text != nullptr                 ? text - data.text_columns.data()
                     : marked.contains(input.column) ? std::ssize(data.text_columns) + input.column
                                                     : Index{-1});
  }
  return result;
}

void describe_table(const TrainingData& data, const std::vector<InputColumn>& inputs,
                    std::span<const Index> missing, Model& model) {
  model.target_name = data.target_name;
  model.n_columns = data.x.cols;
  model.unnamed_columns = data.unnamed_columns;
  model.text_columns = data.text_columns;
  model.missing_texts = data.missing_texts;
  model.inputs.clear();
  for (const InputColumn& input : inputs) {
    std::string name = column_name(data, input.column);
    if (input.is_missing) name = level_name(name, std::string(kMissingLevel));
    model.inputs.push_back({std::move(name), input.column, input.mean, input.deviation, input.warp, 1,
                            input.is_missing,
                            missing.empty() ? 0 : missing[static_cast<std::size_t>(input.column)]});
  }
}

PreparedData prepare(const TrainingData& data, const CountedRows& counted, const Plan& plan, Workers& workers,
                     Standardisation& standard) {
  const Model* const start = plan.options.start;
  std::vector<InputColumn> inputs;
  if (start != nullptr) {
    standard.inputs = inputs = inputs_of_start(*start, data);
  } else {
    inputs = prepare_inputs(data, plan, workers, standard);
  }
  std::vector<Index> text_columns;
  if (!plan.paper.preset) text_columns = exclusive_columns(inputs, data);
  BlockedRows rows =
      BlockedRows(data.x, inputs).weighted(std::vector<double>(data.weights.begin(), data.weights.end()));
  if (!counted.positions.empty()) rows = rows.subset(counted.positions, &workers);
  if (start != nullptr && !start->mixing.values.empty()) rows = rows.mixed(start->mixing);
  PreparedTarget target =
      prepare_target(counted.without_others(data), plan.loss, plan.scale_target_by_range, plan.intercept,
                     start == nullptr ? std::span<const Output>() : std::span<const Output>(start->outputs));
  const std::span<const Index> all = data.groups;
  std::vector<Index> groups = counted.groups;
  if (counted.positions.empty()) groups.assign(all.begin(), all.end());
  CoefficientCost cost;
  constexpr double kBend = 0.1;
  if (plan.options.penalty == PenaltyKind::kLogCosh) cost.bend = kBend * target.spread;
  return {std::move(target), std::move(inputs), std::move(text_columns),
          std::move(rows),   plan.intercept,    cost,
          counted.positions, std::move(groups)};
}

}  // namespace mfga
