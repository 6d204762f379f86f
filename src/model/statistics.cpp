#include "mfga/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "data/standardise.hpp"
#include "mfga/error.hpp"
#include "model/learners.hpp"
#include "model/option_table.hpp"
#include "model/scoring.hpp"
#include "model/statistics_parts.hpp"
#include "model/with_workers.hpp"
#include "solve/dealt_folds.hpp"

namespace mfga {
namespace {

// The loss that sums of products say all about.
std::shared_ptr<const Loss> squared() { return find_loss("squared"); }

void refuse_other_losses(const FitOptions& options) {
  if (options.task != Task::kClassification && (options.loss.empty() || options.loss == squared()->name()))
    return;
  throw Error(
      ErrorKind::kInvalidArgument,
      fmt::format("statistics are for the squared loss; `{}` needs the rows: learn from them directly",
                  options.loss.empty() ? "task=classification" : "loss=" + options.loss));
}

void refuse_what_needs_rows(const FitOptions& options) {
  const CrossValidationOptions* const validation = options.ridge.validation();
  const std::array<std::pair<std::string_view, bool>, 9> others = {
      {{"`tune`", options.tune.steps() > 0},
       {"`metric`", options.metric != Metric::kNone},
       {"`search=htp`", options.search != Search::kGreedy},
       {"`nu`", options.nu != KernelWeights::kUniform},
       {"`select=normalised`", options.select == Selection::kNormalised},
       {"`engine=lazy`", options.engine == EngineKind::kLazy},
       {"`penalty=logcosh`", options.penalty != PenaltyKind::kRidge},
       {"a model to `start` from", options.start != nullptr},
       {"`folds=time`", options.in_time_order || (validation != nullptr && validation->in_time_order)}}};
  for (const auto& [name, is_given] : others) {
    if (!is_given) continue;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("{} needs the rows, and statistics are sums over them; leave it out, or learn "
                            "from the rows directly",
                            name));
  }
}

void check_target(const std::string& name, std::span<const double> y) {
  constexpr double kLargest = 1e50;  // whose squares add up without an overflow
  for (std::size_t n = 0; n < y.size(); ++n) {
    if (std::abs(y[n]) <= kLargest) continue;
    throw Error(ErrorKind::kBadData,
                fmt::format("the target {} has the value {} in row {}; expected a number from {:g} to {:g}",
                            name, y[n], n, -kLargest, kLargest));
  }
}

void check_weights(std::span<const double> weights, Index rows) {
  if (weights.empty()) return;
  if (std::ssize(weights) != rows) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("there are {} weights for {} rows", weights.size(), rows));
  }
  for (std::size_t n = 0; n < weights.size(); ++n) {
    if (weights[n] >= 0 && std::isfinite(weights[n])) continue;
    throw Error(ErrorKind::kBadData,
                fmt::format("the weight of row {} (counted from 0) is {}; expected a finite number that is "
                            "not negative",
                            n, weights[n]));
  }
}

// Of a number of this size; where there is none, that of 1.
int power_of_two(double size) {
  if (!(size > 0) || !std::isfinite(size)) return 0;
  return std::clamp(std::ilogb(size) + 1, -kLargestUnit, kLargestUnit);
}

// As large as the sample's candidates, targets and weights are on average.
GramUnits units_of(const Candidates& candidates, const PreparedData& data, Workers& workers) {
  const double total = data.rows.total_weight();
  GramUnits units{power_of_two(total / static_cast<double>(data.rows.rows())), {0}};
  double square = 0;
  const std::span<const double> weights = data.rows.weights();
  for (std::size_t n = 0; n < data.target.values.size(); ++n)
    square += (weights.empty() ? 1 : weights[n]) * data.target.values[n] * data.target.values[n];
  // Targets that are all the same in the sample will hardly be far from there.
  if (square == 0) square = total * std::pow(data.target.outputs.front().intercept, 2);
  units.sizes.push_back(power_of_two(std::sqrt(square / total)));
  for (const double norm : candidates.square_norms(data.rows, workers))
    units.sizes.push_back(power_of_two(std::sqrt(norm / total)));
  return units;
}

void check_memory(double candidates, Index folds, const FitOptions& options) {
  const double needed = statistics_bytes(candidates, static_cast<double>(folds));
  const double limit = memory_limit_bytes(options);
  if (needed <= limit) return;
  throw Error(ErrorKind::kInvalidArgument,
              fmt::format("the dictionary has {:.0f} candidates, and the sums of their products in {} folds "
                          "would need {:.1f} MiB; the limit is {:.1f} MiB. Use fewer knots, a lower order or "
                          "fewer kernels in `features`, fewer columns (`ignore`), fewer `folds`, or raise "
                          "`memory_limit`",
                          candidates, folds, needed * 0x1p-20, limit * 0x1p-20));
}

// Rows of a batch that have a weight, by fold.
struct DealtRows {
  std::vector<Index> folds;  // those that have any
  std::vector<Index> order;  // the rows, fold after fold
  std::vector<Index> ends;   // of each fold in that order
};
DealtRows deal(std::span<const double> weights, Index rows, Index first_position, Index n_folds,
               std::uint64_t seed) {
  DealtFolds folds(n_folds, seed);
  std::vector<std::vector<Index>> by_fold(static_cast<std::size_t>(n_folds));
  for (Index n = 0; n < rows; ++n) {
    if (!weights.empty() && weights[static_cast<std::size_t>(n)] == 0) continue;
    by_fold[static_cast<std::size_t>(folds.of(first_position++))].push_back(n);
  }
  DealtRows result;
  for (Index fold = 0; fold < n_folds; ++fold) {
    const std::vector<Index>& own = by_fold[static_cast<std::size_t>(fold)];
    if (own.empty()) continue;
    result.folds.push_back(fold);
    result.order.insert(result.order.end(), own.begin(), own.end());
    result.ends.push_back(std::ssize(result.order));
  }
  return result;
}

std::vector<InputColumn> columns_of(const Model& model, const TableView& x, std::span<const Index> columns) {
  if (columns.empty() && x.cols != model.n_columns) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("the rows have {} columns; the statistics are of {}", x.cols, model.n_columns));
  }
  if (!columns.empty() && columns.size() != model.inputs.size()) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("there are {} columns for {} inputs of the statistics", columns.size(),
                            model.inputs.size()));
  }
  std::vector<InputColumn> inputs;
  for (std::size_t j = 0; j < model.inputs.size(); ++j) {
    const ModelInput& input = model.inputs[j];
    const Index column = columns.empty() ? input.column : columns[j];
    if (column < 0 || column >= x.cols) {
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("the column of input {} is {}; x has {}", j, column, x.cols));
    }
    inputs.push_back({column, input.mean, input.deviation, input.warp, input.stretch, input.is_missing});
  }
  return inputs;
}

// Of each input, in how many rows of a weight its value is missing. Throws at the first infinite one.
std::vector<Index> count_missing(const TableView& x, const std::vector<InputColumn>& inputs,
                                 const Model& model, std::span<const Index> rows, const Workers& workers) {
  std::vector<Index> missing(inputs.size());
  std::vector<Index> infinite(inputs.size(), -1);
  workers.run(std::ssize(inputs), [&](Index input) {
    const auto j = static_cast<std::size_t>(input);
    for (const Index row : rows) {
      const double value = x(row, inputs[j].column);
      if (std::isnan(value)) ++missing[j];
      if (std::isinf(value) && (infinite[j] < 0 || row < infinite[j])) infinite[j] = row;
    }
  });
  for (std::size_t j = 0; j < inputs.size(); ++j) {
    if (infinite[j] < 0) continue;
    throw Error(ErrorKind::kBadData,
                fmt::format("the column {} has the value {} in row {} (counted from 0); expected a finite "
                            "number, or NaN for a missing one",
                            model.inputs[j].column_name(), x(infinite[j], inputs[j].column), infinite[j]));
  }
  return missing;
}

}  // namespace

double statistics_bytes(double candidates, double folds) {
  return folds * sizeof(Int128) * ExactGram::count(candidates) + gram_sums_bytes(candidates, folds);
}

Statistics::Statistics(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Statistics::Statistics(const Statistics& other) : parts_(std::make_unique<Parts>(*other.parts_)) {}
Statistics& Statistics::operator=(const Statistics& other) {
  if (this != &other) parts_ = std::make_unique<Parts>(*other.parts_);
  return *this;
}
Statistics::Statistics(Statistics&& other) noexcept = default;
Statistics& Statistics::operator=(Statistics&& other) noexcept = default;
Statistics::~Statistics() = default;

Statistics::Statistics(const TrainingData& sample, const FitOptions& options, ThreadPool* pool)
    : parts_(std::make_unique<Parts>()) {
  check_fit_options(options);
  check_data(sample);
  if (sample.targets() > 1) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("statistics are for one target, and there are {}; make some for each", sample.targets()));
  }
  if (!sample.groups.empty()) {
    throw Error(ErrorKind::kInvalidArgument,
                "statistics deal rows to folds by their position; `group` is for learning from the rows");
  }
  const Task task = resolve_task(options.task, options.loss, sample);
  if (task != Task::kRegression) {
    throw Error(ErrorKind::kBadData,
                fmt::format("the target {} has classes, and statistics are for numbers; use "
                            "`task=regression` if it is one",
                            sample.target_name));
  }
  check_target(sample.target_name, sample.y);
  const CrossValidationOptions* const validation = options.ridge.validation();
  const Index folds = validation != nullptr ? validation->folds : CrossValidationOptions().folds;
  FitOptions own_options = options;
  own_options.tune = Tuning::none();
  const Plan plan = make_plan(PlannedData{task, squared()}, own_options, {});
  const CountedRows counted(sample);
  Parts& parts = *parts_;
  parts.seed = options.seed;
  parts.threads = options.threads;
  parts.memory_limit = options.memory_limit;
  with_workers(options.threads, {}, pool, [&](Workers& workers, Control& control) {
    Standardisation standard;
    std::vector<InputColumn> inputs = prepare_inputs(sample, plan, workers, standard);
    for (const Index column : standard.constant_columns)
      parts.dropped_columns.push_back(column_name(sample, column));
    describe_table(sample, inputs, {}, parts.model);
    BlockedRows rows = BlockedRows(sample.x, inputs)
                           .weighted(std::vector<double>(sample.weights.begin(), sample.weights.end()));
    if (!counted.positions.empty()) rows = rows.subset(counted.positions, &workers);
    const std::string features = options.features.empty() ? summed_features(rows, workers) : options.features;
    const Dictionary dictionary(features);
    check_memory(dictionary.candidates(rows.inputs()), folds, options);
    parts.model.training.features = features;

    const TrainingData seen = counted.without_others(sample);
    PreparedTarget target;
    target.loss = squared();
    target.values.assign(seen.y.begin(), seen.y.end());
    target.outputs = {Output{.intercept = TargetColumn{seen.y, seen.weights}.mean()}};
    for (double& value : target.values) value -= target.outputs.front().intercept;
    parts.model.outputs = target.outputs;
    const PreparedData data{.target = std::move(target),
                            .inputs = inputs,
                            .text_columns = exclusive_columns(inputs, sample),
                            .rows = std::move(rows),
                            .intercept = plan.intercept};
    FitReport report;
    BestOfSomeRows best;
    Work work{plan, workers, control, report, best, {}, {}};
    if (dictionary.needs_sigma()) find_width(work, data);
    const auto candidates = make_candidates(work, data, dictionary);
    for (Index j = 0; j < candidates->size(); ++j) parts.atoms.push_back(candidates->atom(j));
    for (std::size_t p = 0; p < candidates->weights().size(); ++p) {
      const Index count = candidates->offsets()[p + 1] - candidates->offsets()[p];
      if (count == 0) continue;
      parts.counts.push_back(count);
      parts.weights.push_back(candidates->weights()[p]);
    }
    if (parts.atoms.empty()) {
      throw Error(ErrorKind::kBadData, fmt::format("the dictionary {} has no candidates for the columns of "
                                                   "the sample; use another one in `features`",
                                                   features));
    }
    parts.units = std::make_shared<const GramUnits>(units_of(*candidates, data, workers));
    return 0;
  });
  parts.bind();
  parts.sums.assign(static_cast<std::size_t>(folds), ExactGram(parts.units));
}

void Statistics::update(const TableView& x, std::span<const double> y, std::span<const double> weights,
                        std::span<const Index> columns, const ProgressCallback& progress, ThreadPool* pool) {
  Parts& parts = *parts_;
  if (x.rows != std::ssize(y)) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("x has {} rows and y has {} values; they must agree", x.rows, y.size()));
  }
  const std::vector<InputColumn> inputs = columns_of(parts.model, x, columns);
  check_target(parts.model.target_name, y);
  check_weights(weights, x.rows);
  const DealtRows dealt = deal(weights, x.rows, rows(), folds(), parts.seed);
  if (dealt.order.empty()) return;
  // There is nothing to keep of half an update.
  ProgressCallback all_or_nothing;
  if (progress) {
    all_or_nothing = [&](const Progress& state) {
      const ProgressAction action = progress(state);
      return action == ProgressAction::kStop ? ProgressAction::kAbort : action;
    };
  }
  with_workers(parts.threads, all_or_nothing, pool, [&](Workers& workers, Control& /*control*/) {
    const std::vector<Index> missing = count_missing(x, inputs, parts.model, dealt.order, workers);
    const BlockedRows rows = BlockedRows(x, inputs)
                                 .weighted(std::vector<double>(weights.begin(), weights.end()))
                                 .subset(dealt.order, &workers);
    std::vector<double> targets = values_of(y, dealt.order);
    for (double& target : targets) target -= parts.model.outputs.front().intercept;
    const auto loss = squared();
    const Timetable times(0);
    const auto added = gram_sums({rows, targets, *loss, Intercept::kUnpenalised, workers}, *parts.candidates,
                                 dealt.ends, [&](double part) {
                                   Progress state;
                                   state.phase = "adding rows";
                                   state.done = part;
                                   state.seconds = times.seconds();
                                   workers.show(state);
                                 });
    for (std::size_t i = 0; i < added.size(); ++i) {
      if (parts.sums[static_cast<std::size_t>(dealt.folds[i])].can_add(*added[i])) continue;
      throw Error(ErrorKind::kNumerical,
                  "the sums would overflow: rows are too far from those of the sample that scales were set "
                  "from. Nothing was added; begin with a sample that is like all rows");
    }
    // From here on nothing throws.
    for (std::size_t i = 0; i < added.size(); ++i)
      parts.sums[static_cast<std::size_t>(dealt.folds[i])].add(*added[i]);
    for (std::size_t j = 0; j < missing.size(); ++j) parts.model.inputs[j].missing += missing[j];
    parts.model.training.rows += std::ssize(dealt.order);
    return 0;
  });
}

void Statistics::merge(const Statistics& other) {
  Parts& parts = *parts_;
  const Parts& others = *other.parts_;
  if (const std::string_view what = parts.difference(others); !what.empty()) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("statistics can be merged if they were made from one sample with the same options, "
                    "and these differ in {}; make one from a sample and update copies of it",
                    what));
  }
  for (std::size_t fold = 0; fold < parts.sums.size(); ++fold) {
    if (parts.sums[fold].can_add(others.sums[fold])) continue;
    throw Error(ErrorKind::kNumerical, "the sums of both together would overflow");
  }
  for (std::size_t fold = 0; fold < parts.sums.size(); ++fold) parts.sums[fold].add(others.sums[fold]);
  for (std::size_t j = 0; j < parts.model.inputs.size(); ++j)
    parts.model.inputs[j].missing += others.model.inputs[j].missing;
  parts.model.training.rows += others.model.training.rows;
}

std::string_view Statistics::Parts::difference(const Parts& other) const {
  const auto has_one_name = [](const ModelInput& a, const ModelInput& b) {
    return a.name == b.name && a.column == b.column && a.is_missing == b.is_missing;
  };
  const auto has_one_scale = [](const ModelInput& a, const ModelInput& b) {
    return a.mean == b.mean && a.deviation == b.deviation && a.warp == b.warp && a.stretch == b.stretch;
  };
  if (model.n_columns != other.model.n_columns || model.text_columns != other.model.text_columns ||
      !std::ranges::equal(model.inputs, other.model.inputs, has_one_name))
    return "their columns";
  if (model.target_name != other.model.target_name) return "their target";
  if (!std::ranges::equal(model.inputs, other.model.inputs, has_one_scale) ||
      model.outputs.front().intercept != other.model.outputs.front().intercept)
    return "their scales";
  if (atoms != other.atoms || counts != other.counts || weights != other.weights) return "their dictionary";
  if (folds() != other.folds() || seed != other.seed) return "their folds";
  return *units == *other.units ? "" : "their units";
}

Index Statistics::rows() const { return parts_->model.training.rows; }
Index Statistics::candidates() const { return std::ssize(parts_->atoms); }
Index Statistics::folds() const { return parts_->folds(); }
const std::string& Statistics::features() const { return parts_->model.training.features; }
const Model& Statistics::empty_model() const { return parts_->model; }
void Statistics::set_threads(int threads) { parts_->threads = threads; }

void Statistics::check_fit_options(const FitOptions& options) {
  options.validate();
  refuse_other_losses(options);
  refuse_what_needs_rows(options);
}

}  // namespace mfga
