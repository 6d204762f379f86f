#include "model/fit_settings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "mfga/error.hpp"
#include "model/automatic.hpp"

namespace mfga {

void check_shapes(const TrainingData& data) {
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

Settings resolve_settings(const FitOptions& options, Task task) {
  const bool paper = options.preset == "paper";
  const bool regression = task == Task::kRegression;
  Settings settings;
  settings.features = options.features;
  if (settings.features.empty() && paper)
    settings.features = regression ? "linear + gaussian(order=2, squares=no)" : "linear + gaussian(order=1)";
  settings.select = options.select != "auto" ? options.select : paper ? "gradient" : "gain";
  settings.selection.rule = settings.select == "gain" ? Rule::kGain : Rule::kGradient;
  settings.selection.shortlist = options.shortlist;
  if (options.shortlist == 0 && !paper) {
    constexpr Index kForQuadraticModel = 32;
    settings.selection.shortlist = options.per_step > 1 ? 2 * options.per_step : 1;
    if (settings.select == "gain" && !regression)
      settings.selection.shortlist = std::max(settings.selection.shortlist, kForQuadraticModel);
  }
  const bool intercept = options.intercept == "auto" ? !(paper && regression) : options.intercept == "yes";
  settings.intercept = intercept ? Intercept::kUnpenalised : Intercept::kNone;
  settings.scale_target_by_range =
      regression && (options.scale_target == "auto" ? paper : options.scale_target == "range");
  return settings;
}

std::vector<ScaleKind> resolve_scales(const FitOptions& options, const ConstMatrixView& x,
                                      const std::vector<InputColumn>& standardised, Workers& workers) {
  // The other methods are compared as their papers have them.
  const bool automatic = options.scale == "auto" && options.preset != "paper" && options.method == "mfga";
  if (automatic) return automatic_scales({x, standardised}, workers);
  return std::vector<ScaleKind>(standardised.size(), options.scale == "robust"     ? ScaleKind::kRobust
                                                     : options.scale == "quantile" ? ScaleKind::kQuantile
                                                                                   : ScaleKind::kStandard);
}

double memory_limit_bytes(const FitOptions& options) {
  if (options.memory_limit > 0) return options.memory_limit * 0x1p20;
  return 0.8 * static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::string choose_engine(const FitOptions& options, const ProblemSize& size, const EngineCosts& costs,
                          bool quadratic) {
  const EngineCost& lazy = costs.lazy;
  const EngineCost& gram = costs.gram;
  const double limit = memory_limit_bytes(options);
  std::string engine = options.engine;
  if (engine == "auto") {
    const bool gram_fits = gram.bytes <= 0.5 * limit;
    engine = quadratic && gram_fits && gram.operations < lazy.operations ? "gram" : "lazy";
  }
  if (engine == "gram" && !quadratic) {
    throw Error(ErrorKind::kInvalidArgument,
                "--engine gram works for the squared loss only; use --engine lazy for classification");
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
                    engine == "gram" && costs.cross_validated ? ", fewer --folds" : ""));
  }
  return engine;
}

}  // namespace mfga
