#include "model/plan.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "mfga/error.hpp"
#include "model/target.hpp"
#include "solve/cross_validation.hpp"

namespace mfga {
namespace {

void check_weights(const TrainingData& data) {
  if (data.weights.empty()) return;
  if (data.weights.size() != data.y.size()) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("there are {} weights for {} rows", data.weights.size(), data.y.size()));
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

void check_text_columns(const TrainingData& data) {
  for (const TextColumn& text : data.text_columns) {
    if (text.first >= 0 && text.first + text.count() <= data.x.cols) continue;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("the text column \"{}\" is columns {} to {} of x, which has {}", text.name,
                            text.first, text.first + text.count() - 1, data.x.cols));
  }
}

// The other methods are compared as their papers have them.
bool is_the_products_own(const FitOptions& options) {
  return options.preset != "paper" && options.method == "mfga";
}

}  // namespace

void check_data(const TrainingData& data) {
  if (static_cast<std::size_t>(data.x.rows) != data.y.size()) {
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
                  rows, folds, kFewestRows, folds > rows ? "fewer --folds" : "more rows or --folds"));
}

Plan make_plan(const TrainingData& data, const FitOptions& options,
               const CrossValidationOptions* validation) {
  Plan plan(options);
  plan.task = resolve_task(options.task, options.loss, data);
  plan.loss = resolve_loss(options.loss, plan.task, data);
  const bool paper = options.preset == "paper";
  const bool regression = plan.task == Task::kRegression;
  plan.select = options.select != "auto" ? options.select : paper ? "gradient" : "gain";
  plan.selection.rule = plan.select == "gain" ? Rule::kGain : Rule::kGradient;
  plan.selection.shortlist = options.shortlist;
  if (options.shortlist == 0 && !paper) {
    constexpr Index kForQuadraticModel = 32;
    plan.selection.shortlist = options.per_step > 1 ? 2 * options.per_step : 1;
    if (plan.select == "gain" && !plan.loss->constant_curvature())
      plan.selection.shortlist = std::max(plan.selection.shortlist, kForQuadraticModel);
  }
  const bool intercept = options.intercept == "auto" ? !(paper && regression) : options.intercept == "yes";
  plan.intercept = intercept ? Intercept::kUnpenalised : Intercept::kNone;
  plan.scale_target_by_range =
      regression && (options.scale_target == "auto" ? paper : options.scale_target == "range");
  if (plan.scale_target_by_range && !plan.loss->constant_curvature()) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("a target scaled to [-1, 1] (--scale-target range, --preset paper) is for the squared "
                    "loss; the {} loss needs it in its own units",
                    plan.loss->name()));
  }
  plan.penalty = {options.norm_bound > 0 ? 0 : options.ridge, options.norm_bound};
  plan.precision = options.precision == "double" ? Precision::kDouble : Precision::kMixed;
  plan.width_rule = is_the_products_own(options) ? WidthRule::kAutomatic : WidthRule::kPaper;
  if (validation != nullptr) plan.validation = *validation;
  plan.judges_tuning = options.tune == "auto" && can_validate_quickly(data);
  return plan;
}

std::vector<ScaleKind> planned_scales(const Plan& plan, const TableView& x, std::span<const double> weights,
                                      const std::vector<InputColumn>& standardised, Workers& workers) {
  const std::string& scale = plan.options.scale;
  if (scale == "auto" && is_the_products_own(plan.options)) {
    const BlockedRows rows(x, standardised);
    return automatic_scales(rows.weighted(std::vector<double>(weights.begin(), weights.end())), workers);
  }
  return std::vector<ScaleKind>(standardised.size(), scale == "robust"     ? ScaleKind::kRobust
                                                     : scale == "quantile" ? ScaleKind::kQuantile
                                                                           : ScaleKind::kStandard);
}

double memory_limit_bytes(const FitOptions& options) {
  if (options.memory_limit > 0) return options.memory_limit * 0x1p20;
  return 0.8 * static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::string choose_engine(const Plan& plan, const ProblemSize& size, int threads) {
  const EngineCost lazy =
      plan.validation ? lazy_validation_cost(size, *plan.validation) : lazy_engine_cost(size);
  const EngineCost gram =
      plan.validation ? gram_validation_cost(size, *plan.validation, threads) : gram_engine_cost(size);
  const bool is_quadratic = plan.loss->constant_curvature().has_value();
  const double limit = memory_limit_bytes(plan.options);
  std::string engine = plan.options.engine;
  if (engine == "auto") {
    const bool gram_fits = gram.bytes <= 0.5 * limit;
    engine = is_quadratic && gram_fits && gram.operations < lazy.operations ? "gram" : "lazy";
  }
  if (engine == "gram" && !is_quadratic) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("--engine gram works for the squared loss only; use --engine lazy for {}",
                            plan.task == Task::kClassification ? "classification" : "this one"));
  }
  const double bytes = engine == "gram" ? gram.bytes : lazy.bytes;
  if (bytes > limit || size.candidates >= 2e9) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("the dictionary has {:.0f} candidates, and the {} engine would need {:.1f} MiB for them; "
                    "the limit is {:.1f} MiB. Use a lower order, fewer columns (--ignore){}{}, or raise "
                    "--memory-limit",
                    size.candidates, engine, bytes * 0x1p-20, limit * 0x1p-20,
                    engine == "gram" ? ", --engine lazy" : "",
                    engine == "gram" && plan.validation ? ", fewer --folds" : ""));
  }
  return engine;
}

}  // namespace mfga
