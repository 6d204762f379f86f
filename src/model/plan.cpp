#include "model/plan.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "mfga/error.hpp"
#include "model/option_table.hpp"
#include "model/target.hpp"
#include "solve/cross_validation.hpp"

namespace mfga {
namespace {

void check_weights(const TrainingData& data) {
  if (data.weights.empty()) return;
  if (std::ssize(data.weights) != data.x.rows) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("there are {} weights for {} rows", data.weights.size(), data.x.rows));
  }
  Index counted = 0;
  for (std::size_t n = 0; n < data.weights.size(); ++n) {
    const double weight = data.weights[n];
    if (!(weight >= 0) || !std::isfinite(weight)) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("the weight of row {} (counted from 0) is {}; expected a finite number that is "
                              "not negative",
                              n, weight));
    }
    counted += weight > 0 ? 1 : 0;
  }
  if (counted < kFewestRows) {
    throw Error(ErrorKind::kBadData,
                fmt::format("{} rows have a weight above 0; at least {} are needed", counted, kFewestRows));
  }
}

// Whether rows of groups that stay together can be divided into so many folds.
bool has_groups_for(const TrainingData& data, Index folds) {
  if (data.groups.empty()) return true;
  std::set<Index> groups;
  for (std::size_t n = 0; n < data.groups.size(); ++n) {
    if (data.weights.empty() || data.weights[n] > 0) groups.insert(data.groups[n]);
  }
  return std::ssize(groups) >= folds;
}

void check_text_columns(const TrainingData& data) {
  for (const TextColumn& text : data.text_columns) {
    if (text.first >= 0 && text.first + text.count() <= data.x.cols) continue;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("the text column \"{}\" is columns {} to {} of x, which has {}", text.name,
                            text.first, text.first + text.count() - 1, data.x.cols));
  }
}

// What the theory of a choice, or a bound on the work, rules out is not tuned where nobody asked for it.
bool can_tune(const FitOptions& options, const paper::Options& paper) {
  return paper.is_own() && paper.norm_bound == 0 && options.search == Search::kGreedy && !options.refine &&
         options.nu == KernelWeights::kUniform && options.engine != EngineKind::kGram &&
         options.tolerance == 0 && options.start == nullptr;
}

// What is defined for one output only.
void refuse_several_outputs(const FitOptions& options, const paper::Options& paper, const Loss& loss) {
  const bool is_quadratic = loss.constant_curvature().has_value();
  const std::string_view what = paper.method != paper::Method::kMfga           ? "`method`"
                                : paper.norm_bound > 0 && !is_quadratic        ? "`norm_bound`"
                                : options.nu == KernelWeights::kAlignment      ? "`nu=alignment`"
                                : options.nu == KernelWeights::kCrossValidated ? "`nu=cv`"
                                : options.search == Search::kHardThresholding  ? "`search=htp`"
                                                                               : "";
  if (what.empty()) return;
  throw Error(ErrorKind::kInvalidArgument,
              fmt::format("{} is for one target or two classes; leave it out for several", what));
}

}  // namespace

void check_data(const TrainingData& data) {
  if (data.x.rows * data.targets() != std::ssize(data.y)) {
    if (data.targets() > 1) {
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("x has {} rows and y has {} values; {} targets need {}", data.x.rows,
                              data.y.size(), data.targets(), data.x.rows * data.targets()));
    }
    throw Error(ErrorKind::kInvalidArgument, fmt::format("x has {} rows and y has {} values; they must agree",
                                                         data.x.rows, data.y.size()));
  }
  if (data.x.rows < kFewestRows) {
    throw Error(ErrorKind::kBadData,
                fmt::format("there are {} training rows; at least {} are needed", data.x.rows, kFewestRows));
  }
  if (!data.columns.empty() && static_cast<Index>(data.columns.size()) != data.x.cols) {
    throw Error(ErrorKind::kInvalidArgument, fmt::format("there are {} column names for {} columns of x",
                                                         data.columns.size(), data.x.cols));
  }
  std::set<std::string_view> names;
  for (const std::string& name : data.columns) {
    if (!names.insert(name).second) {
      throw Error(ErrorKind::kInvalidArgument, fmt::format("the column name \"{}\" occurs twice", name));
    }
  }
  if (!data.groups.empty() && std::ssize(data.groups) != data.x.rows) {
    throw Error(ErrorKind::kInvalidArgument, fmt::format("there are {} groups for {} rows; each row has one",
                                                         data.groups.size(), data.x.rows));
  }
  check_text_columns(data);
  check_weights(data);
}

void check_folds(Index rows, Index folds) {
  const Index most_held_out = (rows + folds - 1) / folds;
  if (folds <= rows && rows - most_held_out >= kFewestRows) return;
  throw Error(
      ErrorKind::kBadData,
      fmt::format("{} rows cannot be divided into {} folds with at least {} rows outside of each; use "
                  "{}",
                  rows, folds, kFewestRows, folds > rows ? "fewer `folds`" : "more rows or `folds`"));
}

void check_groups(const TrainingData& data, Index folds) {
  if (has_groups_for(data, folds)) return;
  throw Error(
      ErrorKind::kBadData,
      fmt::format("the rows belong to fewer than {} groups, and each of {} folds needs one at least; use "
                  "fewer `folds`, or no groups",
                  folds, folds));
}

CrossValidationOptions quick_validation() { return {5, {1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100}, 1, 25000}; }

bool can_validate_quickly(const TrainingData& data) {
  constexpr Index kFewestToHoldOut = 50;
  constexpr Index kFewestOfAClass = 10;
  const Index without_weight = std::ranges::count(data.weights, 0.0);
  if (std::ssize(data.y) / data.targets() - without_weight < kFewestToHoldOut) return false;
  if (!has_groups_for(data, quick_validation().folds)) return false;
  if (data.targets() > 1) return true;
  std::vector<double> targets;
  for (std::size_t n = 0; n < data.y.size(); ++n) {
    if (data.weights.empty() || data.weights[n] > 0) targets.push_back(data.y[n]);
  }
  const auto lowest = std::ranges::count(targets, std::ranges::min(targets));
  const auto highest = std::ranges::count(targets, std::ranges::max(targets));
  const bool two_values = lowest + highest == std::ssize(targets);
  return !two_values || std::min(lowest, highest) >= kFewestOfAClass;
}

// How many terms, or the most that held-out rows may choose.
void plan_size(bool can_validate, Plan& plan) {
  constexpr Index kMostTerms = 200;
  const FitOptions& options = plan.options;
  plan.chooses_terms = !options.terms && plan.paper.is_own() && plan.paper.norm_bound == 0 &&
                       plan.grows_step_by_step() && !options.refine && options.start == nullptr &&
                       options.tolerance == 0 && options.tune.steps() == 0 && can_validate;
  plan.terms = options.terms.value_or(plan.chooses_terms ? kMostTerms : kUsualTerms);
  if (!plan.chooses_terms || plan.judges_tuning) return;
  // A path without tuning in all folds: they say how far means of losses are by chance.
  if (!plan.validation) {
    plan.validation = quick_validation();
    plan.validation->ridges = {plan.penalty.ridge};
  }
  if (options.ridge.validation() == nullptr) plan.validation->used_folds = 0;
}

Plan make_plan(const TrainingData& data, const FitOptions& options, const paper::Options& paper) {
  const Model* const start = options.start;
  const std::string loss = options.loss.empty() && start != nullptr ? start->loss : options.loss;
  const Task task = resolve_task(options.task, loss, data);
  return make_plan({task, resolve_loss(loss, task, data), data.targets(), can_validate_quickly(data),
                    !data.groups.empty()},
                   options, paper);
}

Plan make_plan(const PlannedData& data, const FitOptions& options, const paper::Options& paper) {
  Plan plan(options, paper);
  const Model* const start = options.start;
  plan.task = data.task;
  plan.loss = data.loss;
  plan.targets = data.targets;
  if (plan.loss->outputs(plan.targets) > 1) refuse_several_outputs(options, paper, *plan.loss);
  const bool regression = plan.task == Task::kRegression;
  plan.per_step = options.per_step.value_or(paper.is_own() ? 0 : 1);
  plan.select = options.select.value_or(paper.preset ? Selection::kGradient : Selection::kGain);
  plan.selection.rule = plan.select == Selection::kGain ? Rule::kGain : Rule::kGradient;
  plan.selection.shortlist = options.shortlist;
  if (options.shortlist == 0 && !paper.preset) {
    const bool ranks_by_shortlist = plan.select == Selection::kGain && !plan.loss->constant_curvature() &&
                                    plan.loss->outputs(plan.targets) == 1;
    plan.selection.shortlist = ranks_by_shortlist ? 32 : 1;
    plan.selection.shortlist_of_each = ranks_by_shortlist ? 8 : 2;
  }
  const bool intercept = options.intercept.value_or(!(paper.preset && regression));
  plan.intercept = intercept ? Intercept::kUnpenalised : Intercept::kNone;
  const paper::TargetScale usual_scale =
      paper.preset ? paper::TargetScale::kRange : paper::TargetScale::kNone;
  plan.scale_target_by_range =
      regression && paper.scale_target.value_or(usual_scale) == paper::TargetScale::kRange;
  if (plan.scale_target_by_range && !plan.loss->constant_curvature()) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("a target scaled to [-1, 1] (`scale_target=range`, `preset=paper`) is for the squared "
                    "loss; the {} loss needs it in its own units",
                    plan.loss->name()));
  }
  const double* const given = options.ridge.value();
  const double ridge = given != nullptr ? *given : start != nullptr ? start->training.ridge : 1;
  plan.penalty = {paper.norm_bound > 0 ? 0 : ridge, paper.norm_bound};
  plan.width_rule = paper.is_own() ? WidthRule::kAutomatic : WidthRule::kPaper;
  if (const CrossValidationOptions* const validation = options.ridge.validation()) {
    plan.validation = *validation;
    plan.options.in_time_order |= validation->in_time_order;
  } else if (options.ridge.is_automatic() && start == nullptr && paper.is_own() && paper.norm_bound == 0 &&
             data.can_validate_quickly) {
    constexpr Index kEnoughRows = 10000;
    plan.validation = quick_validation();
    if (!plan.tries_all()) plan.validation->most_rows = kEnoughRows;
  }
  if (plan.options.in_time_order && data.has_groups) {
    throw Error(
        ErrorKind::kInvalidArgument,
        "rows are held out by groups or in the order of time, not both; leave out `group` or `folds=time`");
  }
  const bool has_ridge = std::ranges::all_of(plan.ridges(), [](double r) { return r > 0; });
  plan.may_tune = options.tune.is_automatic() && has_ridge && can_tune(options, paper);
  plan.judges_tuning = plan.may_tune && data.can_validate_quickly;
  plan_size(data.can_validate_quickly, plan);
  return plan;
}

std::vector<ScaleKind> planned_scales(const Plan& plan, const TableView& x, std::span<const double> weights,
                                      const std::vector<InputColumn>& standardised, Workers& workers) {
  const std::optional<ScaleKind>& scale = plan.options.scale;
  if (!scale && plan.paper.is_own()) {
    const BlockedRows rows(x, standardised);
    return automatic_scales(rows.weighted(std::vector<double>(weights.begin(), weights.end())), workers);
  }
  return std::vector<ScaleKind>(standardised.size(), scale.value_or(ScaleKind::kStandard));
}

double memory_limit_bytes(const FitOptions& options) {
  if (options.memory_limit > 0) return options.memory_limit * 0x1p20;
  return 0.8 * static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::string engine_name(EngineKind engine) {
  return option_text(FitOptions{.engine = engine}, fit_option_table(), "engine");
}

EngineCost engine_cost(const Plan& plan, EngineKind engine, const ProblemSize& size, int threads) {
  if (engine == EngineKind::kGram)
    return plan.validation ? gram_validation_cost(size, *plan.validation, threads) : gram_engine_cost(size);
  return plan.validation ? lazy_validation_cost(size, *plan.validation) : lazy_engine_cost(size);
}

EngineKind choose_engine(const Plan& plan, const ProblemSize& size, int threads) {
  const EngineCost lazy = engine_cost(plan, EngineKind::kLazy, size, threads);
  const EngineCost gram = engine_cost(plan, EngineKind::kGram, size, threads);
  const bool has_ridge = plan.options.penalty == PenaltyKind::kRidge;
  const bool is_quadratic = plan.loss->constant_curvature().has_value() && has_ridge;
  const double limit = memory_limit_bytes(plan.options);
  const bool gram_pays =
      is_quadratic && plan.targets == 1 && gram.bytes <= 0.5 * limit && gram.operations < lazy.operations;
  const EngineKind engine = plan.options.engine.value_or(gram_pays ? EngineKind::kGram : EngineKind::kLazy);
  const bool is_gram = engine == EngineKind::kGram;
  if (is_gram && !has_ridge) {
    throw Error(
        ErrorKind::kInvalidArgument,
        "`engine=gram` works for squares of coefficients only; use `engine=lazy` for `penalty=logcosh`");
  }
  if (is_gram && !is_quadratic) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`engine=gram` works for the squared loss only; use `engine=lazy` for {}",
                            plan.task == Task::kClassification ? "classification" : "this one"));
  }
  if (is_gram && plan.targets > 1) {
    throw Error(ErrorKind::kInvalidArgument,
                "`engine=gram` works for one target only; use `engine=lazy` for several");
  }
  const double bytes = is_gram ? gram.bytes : lazy.bytes;
  if (bytes > limit || size.candidates >= 2e9) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("the dictionary has {:.0f} candidates, and the {} engine would need {:.1f} MiB for them; "
                    "the limit is {:.1f} MiB. Use a lower order, fewer columns (`ignore`){}{}, or raise "
                    "`memory_limit`",
                    size.candidates, engine_name(engine), bytes * 0x1p-20, limit * 0x1p-20,
                    is_gram ? ", `engine=lazy`" : "", is_gram && plan.validation ? ", fewer `folds`" : ""));
  }
  return engine;
}

}  // namespace mfga
