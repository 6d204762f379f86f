// The pipeline from a table to a model: task -> standardisation -> dictionary -> engine -> greedy -> model.
#include "mfga/fit.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <set>

#include "core/blas.hpp"
#include "data/standardise.hpp"
#include "features/candidates.hpp"
#include "features/neighbour_width.hpp"
#include "mfga/error.hpp"
#include "model/target.hpp"
#include "solve/greedy.hpp"

namespace mfga {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr Index kFewestRows = 3;
// Tables up to this size are standardised once instead of in every pass; it takes a quarter off the time.
constexpr double kMostConvertedBytes = 256 * 0x1p20;

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

// What the options "auto" come to for a task under the preset.
struct Settings {
  std::string features;
  Intercept intercept;
  bool scale_target_by_range;
};

Settings resolve_settings(const FitOptions& options, Task task) {
  const bool paper = options.preset == "paper";
  const bool regression = task == Task::kRegression;
  Settings settings;
  settings.features = options.features;
  if (settings.features.empty()) {
    settings.features = !paper       ? "linear + gaussian(order=2)"
                        : regression ? "linear + gaussian(order=2, squares=no)"
                                     : "linear + gaussian(order=1)";
  }
  const bool intercept = options.intercept == "auto" ? !(paper && regression) : options.intercept == "yes";
  settings.intercept = intercept ? Intercept::kUnpenalised : Intercept::kNone;
  settings.scale_target_by_range =
      regression && (options.scale_target == "auto" ? paper : options.scale_target == "range");
  return settings;
}

double memory_limit_bytes(const FitOptions& options) {
  if (options.memory_limit > 0) return options.memory_limit * 0x1p20;
  return 0.8 * static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void refuse_if_too_large(std::string_view engine, const EngineCost& cost, const ProblemSize& size,
                         const FitOptions& options) {
  const double limit = memory_limit_bytes(options);
  if (cost.bytes <= limit && size.candidates < 2e9) return;
  throw Error(
      ErrorKind::kInvalidArgument,
      fmt::format(
          "the dictionary has {:.0f} candidates, and the {} engine would need {:.1f} MiB for them; the "
          "limit is {:.1f} MiB. Use a lower order, fewer columns (--ignore){}, or raise --memory-limit",
          size.candidates, engine, cost.bytes * 0x1p-20, limit * 0x1p-20,
          engine == "gram" ? ", --engine lazy" : ""));
}

std::string choose_engine(const FitOptions& options, const ProblemSize& size, bool quadratic) {
  const EngineCost lazy = lazy_engine_cost(size);
  const EngineCost gram = gram_engine_cost(size);
  std::string engine = options.engine;
  if (engine == "auto") {
    const bool gram_fits = gram.bytes <= 0.5 * memory_limit_bytes(options);
    engine = quadratic && gram_fits && gram.operations < lazy.operations ? "gram" : "lazy";
  }
  if (engine == "gram" && !quadratic) {
    throw Error(ErrorKind::kInvalidArgument,
                "--engine gram works for the squared loss only; use --engine lazy for classification");
  }
  refuse_if_too_large(engine, engine == "gram" ? gram : lazy, size, options);
  return engine;
}

Model make_model(const TrainingData& data, const PreparedTarget& target, const Standardisation& standard) {
  Model model;
  model.task = target.task;
  model.target_name = data.target_name;
  model.target_shift = target.shift;
  model.target_scale = target.scale;
  model.labels = target.labels;
  model.n_columns = data.x.cols;
  for (const InputColumn& input : standard.inputs) {
    model.inputs.push_back({column_name(data, input.column), input.column, input.mean, input.deviation});
  }
  return model;
}

}  // namespace

FitResult fit(const TrainingData& data, const FitOptions& options, const ProgressCallback& progress) {
  options.validate();
  check_shapes(data);
  const SingleThreadedBlas blas;
  Workers workers(options.threads);
  const auto prepare_start = Clock::now();

  // The target decides the task, the task the loss and the settings.
  const Task task = resolve_task(options.task, data);
  const Settings settings = resolve_settings(options, task);
  PreparedTarget target = prepare_target(data, task, settings.scale_target_by_range, settings.intercept);

  // Standardised inputs.
  const Standardisation standard = fit_standardisation(data.x, workers);
  FitResult result{make_model(data, target, standard), {}};
  FitReport& report = result.report;
  report.rows = data.x.rows;
  for (const Index column : standard.constant_columns)
    report.dropped_columns.push_back(column_name(data, column));
  if (standard.inputs.empty()) {
    throw Error(ErrorKind::kBadData,
                "every column is constant on the training rows; there is nothing to learn from");
  }
  BlockedRows rows(data.x, standard.inputs);
  if (rows.converted_bytes() <= kMostConvertedBytes) rows.keep_converted(workers);

  // The dictionary's size is known, and refused if need be, before any work is done.
  const Dictionary dictionary(settings.features);
  report.features = settings.features;
  const ProblemSize size{static_cast<double>(rows.rows()), dictionary.candidates(rows.inputs()),
                         static_cast<double>(options.terms), static_cast<double>(options.per_step)};
  report.engine = choose_engine(options, size, target.loss->is_quadratic());
  if (dictionary.needs_sigma()) {
    const NeighbourWidth width = neighbour_width(rows, options.seed, workers);
    report.auto_sigma = width.sigma;
    report.auto_sigma_error = width.standard_error;
    report.auto_sigma_queries = width.queries;
  }
  report.prepare_seconds = seconds_since(prepare_start);

  // Algorithm 1.
  const auto fit_start = Clock::now();
  const Candidates candidates(dictionary, rows.inputs(), report.auto_sigma);
  report.candidates = candidates.size();
  report.sigmas = candidates.sigmas();
  const Problem problem{rows, target.values, candidates, *target.loss, settings.intercept, workers};
  const Penalty penalty{options.norm_bound > 0 ? 0 : options.ridge, options.norm_bound};
  const auto engine = report.engine == "gram" ? make_gram_engine(problem) : make_lazy_engine(problem);
  const auto refit = target.loss->is_quadratic() ? make_least_squares_refit(problem, penalty)
                                                 : make_newton_refit(problem, penalty);
  const GreedyOptions greedy_options{options.terms, options.per_step, options.tolerance, penalty};
  const Index terms_wanted = std::min(options.terms, candidates.size());
  const GreedyResult greedy =
      run_greedy(problem, *engine, *refit, greedy_options, [&](const GreedyStep& step, Index terms) {
        return !progress || progress({terms, terms_wanted, step.risk, step.seconds});
      });
  report.fit_seconds = seconds_since(fit_start);

  // The model, and the record of how it came about.
  Model& model = result.model;
  const std::vector<std::string> names = model.input_names();
  for (std::size_t i = 0; i < greedy.active.atoms.size(); ++i) {
    model.terms.push_back({greedy.active.atoms[i], greedy.active.theta[i]});
  }
  model.intercept = greedy.active.intercept + target.offset;
  report.initial_risk = greedy.initial_risk;
  Index terms = 0;
  for (const GreedyStep& step : greedy.path) {
    PathStep& out = report.path.emplace_back();
    for (const Index candidate : step.added)
      out.added.push_back(describe(candidates.atom(candidate), names).text);
    terms += static_cast<Index>(step.added.size());
    out.terms = terms;
    out.risk = step.risk;
    out.largest_gradient = step.largest_gradient;
    out.ridge = step.ridge;
    out.seconds = step.seconds;
    out.newton_steps = step.newton_steps;
  }
  for (const Index candidate : greedy.dependent) {
    report.dependent_atoms.push_back(describe(candidates.atom(candidate), names).text);
  }
  if (!greedy.converged) {
    report.warnings.emplace_back(
        "the coefficients did not converge: the classes can be separated almost perfectly; use a larger "
        "--ridge");
  }
  const double final_ridge = greedy.path.empty() ? penalty.ridge : greedy.path.back().ridge;
  const double final_risk = greedy.path.empty() ? greedy.initial_risk : greedy.path.back().risk;
  model.training = {data.x.rows, settings.features, final_ridge, options.norm_bound, final_risk};
  return result;
}

}  // namespace mfga
