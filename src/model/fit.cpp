// The pipeline from a table to a model: task -> standardisation -> kernel width -> method -> model.
#include "mfga/fit.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "baselines/kernel_machine.hpp"
#include "baselines/random_features.hpp"
#include "core/blas.hpp"
#include "core/random.hpp"
#include "data/scale_inputs.hpp"
#include "data/standardise.hpp"
#include "features/candidates.hpp"
#include "features/neighbour_width.hpp"
#include "mfga/cross_validate.hpp"
#include "mfga/error.hpp"
#include "mfga/table.hpp"
#include "model/automatic.hpp"
#include "model/fit_checks.hpp"
#include "model/target.hpp"
#include "solve/atom_products.hpp"
#include "solve/cross_validation.hpp"
#include "solve/greedy.hpp"
#include "solve/independent_atoms.hpp"
#include "solve/kernel_weights.hpp"
#include "solve/learned_metric.hpp"
#include "solve/leverage.hpp"
#include "solve/set_search.hpp"
#include "solve/tuned_search.hpp"

namespace mfga {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr Index kFewestRows = 3;

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

// What the options "auto" come to for a task under the preset.
struct Settings {
  std::string features;  // empty: automatic
  std::string select;
  SelectionOptions selection;
  Intercept intercept;
  bool scale_target_by_range;
};

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

struct EngineCosts {
  EngineCost lazy;
  EngineCost gram;
  bool cross_validated = false;
};

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

// One fit: what all methods share, and the model that they fill in.
class Fitter {
 public:
  Fitter(const TrainingData& data, const FitOptions& options)
      : data_(data),
        options_(options),
        workers_(options.threads),
        start_(Clock::now()),
        settings_(resolve_settings(options, resolve_task(options.task, data))),
        target_(prepare_target(data, resolve_task(options.task, data), settings_.scale_target_by_range,
                               settings_.intercept)),
        standard_(fit_standardisation(data.x, workers_)),
        inputs_(scale_inputs(standard_.inputs, resolve_scales(options, data.x, standard_.inputs, workers_),
                             data.x, options.seed, workers_)),
        rows_(data.x, inputs_),
        penalty_{options.norm_bound > 0 ? 0 : options.ridge, options.norm_bound} {
    if (standard_.inputs.empty()) {
      throw Error(ErrorKind::kBadData,
                  "every column is constant on the training rows; there is nothing to learn from");
    }
    report().rows = data.x.rows;
    for (const Index column : standard_.constant_columns) {
      report().dropped_columns.push_back(column_name(data, column));
    }
    start_model();
  }

  // The fit of some rows of another fit, with what that one found out about all of them: standardisation,
  // kernel width, dictionary, and the target's units. `on_model` sees the model after each step.
  Fitter(const Fitter& whole, const FitOptions& options, const std::vector<Index>& rows,
         std::function<void(const ScoreFunction&)> on_model)
      : data_(whole.data_),
        options_(options),
        workers_(options.threads),
        start_(Clock::now()),
        settings_(whole.settings_),
        target_(whole.target_),
        standard_(whole.standard_),
        inputs_(whole.inputs_),
        rows_(whole.rows_.subset(rows)),
        penalty_{options.ridge, 0},
        whole_(&whole),
        on_model_(std::move(on_model)) {
    target_.values = values_of(whole.target_.values, rows);
    start_model();
  }

  CrossValidatedFit run_cross_validation(const CrossValidationOptions& options,
                                         const ProgressCallback& progress) {
    validation_ = &options;
    FitResult result = run(progress);
    return {std::move(result), std::move(cross_validation_)};
  }

  FitResult run(const ProgressCallback& progress) {
    progress_ = progress;
    if (options_.method == "mfga") {
      learn_greedily();
    } else if (options_.method == "gk" || options_.method == "glk") {
      learn_with_kernel();
    } else {
      learn_random_features();
    }
    return std::move(result_);
  }

 private:
  Model& model() { return result_.model; }
  FitReport& report() { return result_.report; }
  [[nodiscard]] Problem problem() {
    return {rows_, target_.values, *target_.loss, settings_.intercept, workers_};
  }
  [[nodiscard]] Precision precision() const {
    return options_.precision == "double" ? Precision::kDouble : Precision::kMixed;
  }
  [[nodiscard]] std::unique_ptr<Refit> make_refit() { return mfga::make_refit(problem(), penalty_); }

  void start_model() {
    model().task = target_.task;
    model().target_name = data_.target_name;
    model().target_shift = target_.shift;
    model().target_scale = target_.scale;
    model().labels = target_.labels;
    model().n_columns = data_.x.cols;
    model().unnamed_columns = data_.unnamed_columns;
    model().text_columns = data_.text_columns;
    for (const InputColumn& input : inputs_) {
      model().inputs.push_back(
          {column_name(data_, input.column), input.column, input.mean, input.deviation, input.warp});
    }
  }

  // The automatic kernel width; the preparation ends with it.
  void find_width() {
    if (whole_ != nullptr) {
      report().auto_sigma = whole_->result_.report.auto_sigma;
      return;
    }
    const NeighbourWidth width = neighbour_width(rows_, options_.seed, workers_);
    report().auto_sigma = width.sigma;
    report().auto_sigma_error = width.standard_error;
    report().auto_sigma_queries = width.queries;
  }

  // The width of the methods with one kernel.
  double width_of_kernel() {
    const SigmaChoice choice = parse_sigma(options_.sigma);
    if (choice.automatic) find_width();
    return choice.resolve(report().auto_sigma);
  }

  void learn_greedily() {
    if (settings_.features.empty()) settings_.features = automatic_features(rows_);
    // The dictionary's size is known, and refused if need be, before any work is done.
    const Dictionary dictionary(settings_.features);
    report().features = settings_.features;
    const ProblemSize size{static_cast<double>(rows_.rows()), dictionary.candidates(rows_.inputs()),
                           static_cast<double>(options_.terms), static_cast<double>(options_.per_step),
                           precision()};
    report().engine = choose_engine(options_, size, engine_costs(size), target_.loss->is_quadratic());
    if (options_.metric != "none" && whole_ == nullptr) learn_metric_of_inputs(dictionary);
    if (dictionary.needs_sigma()) find_width();
    report().prepare_seconds = seconds_since(start_);

    candidates_ = whole_ != nullptr ? whole_->candidates_ : make_candidates(dictionary);
    const Candidates& candidates = *candidates_;
    report().candidates = candidates.size();
    report().sigmas = candidates.sigmas();
    report().select = settings_.select;
    report().kernel_weights.assign(candidates.weights().begin(), candidates.weights().end());
    std::vector<std::shared_ptr<const GramSums>> sums_of_folds;
    if (validation_ != nullptr) {
      const Index terms = std::min(options_.terms, candidates.size());
      choose_ridge(grows_step_by_step() ? path_terms(terms, options_.per_step) : std::vector<Index>{terms},
                   [&](const Folds& folds) {
                     return report().engine == "gram" && grows_step_by_step()
                                ? losses_by_gram(folds, candidates, sums_of_folds)
                                : losses_by_fits(folds);
                   });
    }

    if (options_.tune != "no" && whole_ == nullptr && learn_tuned()) return;

    // Algorithm 1.
    const auto fit_start = Clock::now();
    const auto engine = report().engine != "gram" ? make_lazy_engine(problem(), candidates, precision())
                        : sums_of_folds.empty()   ? make_gram_engine(problem(), candidates)
                                                  : make_gram_engine(std::move(sums_of_folds));
    const Index terms_wanted = std::min(options_.terms, candidates.size());
    const GreedyOptions greedy_options = search_options();
    const StepCallback on_step = [&](const GreedyStep& step, const ActiveSet& active) {
      if (on_model_) on_model_(active.score());
      return !progress_ || progress_({active.size(), terms_wanted, step.risk, step.seconds});
    };
    const RefitFactory new_refit = [&] { return make_refit(); };
    const std::unique_ptr<Refit> refit = make_refit();
    GreedyResult greedy =
        options_.search == "htp"
            ? run_hard_thresholding(problem(), candidates, *engine, new_refit, greedy_options, on_step)
            : run_greedy(problem(), candidates, *engine, *refit, greedy_options, on_step);
    if (options_.refine == "yes") {
      const auto refine_start = Clock::now();
      refine(problem(), candidates, *engine, new_refit, greedy_options, on_step, greedy);
      report().refine_seconds = seconds_since(refine_start);
    }
    report().fit_seconds = seconds_since(fit_start);
    report().gradient_seconds = greedy.seconds.gradient;
    report().products_seconds = greedy.seconds.products;
    report().refit_seconds = greedy.seconds.refit;
    report().gradient_passes = greedy.gradient_passes;
    report().initial_risk = greedy.initial_risk;
    add_terms(greedy.active);
    record_path(greedy, candidates);
    const double ridge = greedy.path.empty() ? penalty_.ridge : greedy.path.back().ridge;
    warn_of_leverage(greedy.active, greedy.refit ? *greedy.refit : *refit, ridge);
    if (whole_ == nullptr) check_stability();
    finish(ridge, greedy.path.empty() ? greedy.initial_risk : greedy.path.back().risk, greedy.converged);
  }

  // Selection and tuning in turns. Says whether the result is the model; if not, nothing has changed.
  [[nodiscard]] bool learn_tuned() {
    if (!(penalty_.ridge > 0)) {
      throw Error(
          ErrorKind::kInvalidArgument,
          "--tune needs a --ridge above 0: terms that come to lie on one another have no other bound");
    }
    const auto tune_start = Clock::now();
    const TunedSearchCallback on_step = tuning_progress();
    std::optional<TunedModel> found;
    if (options_.tune == "auto") {
      found = tuned_with_held_out_rows(on_step);
      if (!found) return false;
      const Dictionary dictionary(report().features);
      found = with_all_rows(problem(), *found, tuned_search_options(dictionary, 0), on_step);
    } else {
      const Dictionary dictionary(settings_.features);
      found = tune_in_rounds(problem(), tuned_search_options(dictionary, std::stoi(options_.tune)), on_step);
    }
    stretch_inputs(found->stretch);
    penalty_.ridge = found->ridge;
    const FittedCoefficients fitted = fit_coefficients(problem(), found->ridge, found->active);
    report().tuning.is_used = true;
    report().engine = "lazy";
    report().candidates = found->candidates;
    report().sigmas = found->sigmas;
    report().kernel_weights = found->kernel_weights;
    report().fit_seconds = seconds_since(tune_start);
    report().initial_risk = risk_of_constant();
    add_terms(found->active);
    const double risk = loss_sum(problem(), found->active.score()) / static_cast<double>(rows_.rows());
    for (const TuningRound& round : found->rounds) {
      PathStep& step = report().path.emplace_back();
      step.terms = round.terms;
      step.risk = round.risk;
      step.ridge = round.ridge;
      step.seconds = round.seconds;
      step.tuning_steps = round.steps;
    }
    report().path.back().risk = risk;
    warn_of_leverage(found->active, *fitted.refit, found->ridge);
    finish(found->ridge, risk, fitted.converged);
    return true;
  }

  // Tunes with four fifths of the rows, and asks the other fifth how far to go, which ridge to take, and,
  // where the dictionary was not given, whether a part of it does better alone. Nothing, if no tuning does
  // better still.
  [[nodiscard]] std::optional<TunedModel> tuned_with_held_out_rows(const TunedSearchCallback& on_step) {
    constexpr int kMostSteps = 100;
    const std::optional<TuningSplit> split = tuning_split();
    if (!split) {
      report().tuning.reason = "there are too few rows to hold some out";
      return std::nullopt;
    }
    std::vector<std::string> dictionaries = {settings_.features};
    if (options_.features.empty()) {
      for (std::string& part : automatic_parts(rows_)) dictionaries.push_back(std::move(part));
    }
    std::optional<TunedModel> best;
    for (const std::string& features : dictionaries) {
      const Dictionary dictionary(features);
      TunedModel model = find_tuned(split->training(*this), split->held_out(), tuning_ridges(),
                                    tuned_search_options(dictionary, kMostSteps), on_step);
      if (!best || model.held_out() < best->held_out()) {
        best = std::move(model);
        report().features = features;
      }
      if (is_late()) break;
    }
    FitOptions untuned = options_;
    untuned.tune = "no";
    untuned.engine = "lazy";
    untuned.ridge = penalty_.ridge;
    const Model without = Fitter(*this, untuned, split->training_rows, {}).run({}).model;
    const BlockedRows stretched = split->held_out_rows.stretched(best->stretch);
    const auto problem_of = [&](const BlockedRows& rows) {
      return Problem{rows, split->held_out_targets, *target_.loss, settings_.intercept, workers_};
    };
    const PairedLosses losses = paired_losses(problem_of(split->held_out_rows), score_of(without),
                                              problem_of(stretched), best->active.score());
    const double unit = target_.scale * target_.scale;
    report().tuning.held_out_without = unit * losses.first;
    report().tuning.held_out_with = unit * losses.second;
    // Standard errors that the gain must be above. Few rows that were asked many times say yes by chance.
    constexpr Index kFewRows = 200;
    const double beyond_chance = split->held_out_rows.rows() < kFewRows ? 2 : 1;
    if (losses.first - losses.second > beyond_chance * losses.standard_error) return best;
    report().tuning.reason = "held-out rows do not gain by it beyond chance";
    report().features = settings_.features;
    return std::nullopt;
  }

  // Rows that are tuned with, and rows that are asked how far.
  struct TuningSplit {
    std::vector<Index> training_rows;
    BlockedRows rows;
    std::vector<double> targets;
    BlockedRows held_out_rows;
    std::vector<double> held_out_targets;

    [[nodiscard]] Problem training(Fitter& fitter) const {
      return {rows, targets, *fitter.target_.loss, fitter.settings_.intercept, fitter.workers_};
    }
    [[nodiscard]] HeldOutRows held_out() const { return {held_out_rows, held_out_targets}; }
  };

  // Nothing, if there are too few rows.
  [[nodiscard]] std::optional<TuningSplit> tuning_split() const {
    const Folds folds(rows_.rows(), quick_validation(), options_.seed);
    if (!can_validate_quickly(data_) || fold_of_one_class(folds)) return std::nullopt;
    const std::vector<Index> training = folds.training(0);
    const std::vector<Index>& held_out = folds.held_out(0);
    return TuningSplit{training, rows_.subset(training), values_of(target_.values, training),
                       rows_.subset(held_out), values_of(target_.values, held_out)};
  }

  [[nodiscard]] std::vector<double> tuning_ridges() const {
    return validation_ != nullptr ? validation_->ridges : std::vector<double>{penalty_.ridge};
  }

  [[nodiscard]] TunedSearchCallback tuning_progress() const {
    return [this](Index terms, int step, double risk) {
      Progress state{terms, options_.terms, risk, seconds_since(start_)};
      state.tuning_steps = step;
      return !progress_ || progress_(state);
    };
  }

  static constexpr double kPull = 1;
  [[nodiscard]] TunedSearchOptions tuned_search_options(const Dictionary& dictionary, int steps) const {
    constexpr Index kRounds = 4;
    constexpr Index kMostTerms = 40;
    return {dictionary,
            search_options(),
            precision(),
            options_.seed,
            settings_.select == "normalised",
            options_.tune_every > 0 ? options_.tune_every
                                    : std::min(kMostTerms, (options_.terms + kRounds - 1) / kRounds),
            steps,
            kPull,
            deadline()};
  }

  [[nodiscard]] Clock::time_point deadline() const {
    if (options_.time_limit == 0) return Clock::time_point::max();
    return start_ +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.time_limit));
  }
  [[nodiscard]] bool is_late() const { return Clock::now() >= deadline(); }

  void learn_metric_of_inputs(const Dictionary& dictionary) {
    const bool is_full = options_.metric == "full";
    if (is_full && settings_.features.find("additive") != std::string::npos) {
      throw Error(ErrorKind::kInvalidArgument,
                  "--metric full mixes inputs, and additive features are for inputs that are not negative; "
                  "use --metric diagonal");
    }
    const std::optional<TuningSplit> split = tuning_split();
    if (!split) return;
    const LearnedMetric metric = learn_metric(
        split->training(*this), split->held_out(), is_full ? MetricKind::kFull : MetricKind::kDiagonal,
        tuning_ridges(), tuned_search_options(dictionary, 0), tuning_progress());
    report().metric_rounds = metric.rounds;
    if (metric.rounds == 0) return;
    if (is_full) {
      rows_ = rows_.mixed(metric.mixing);
      return;
    }
    std::vector<double> factors;
    for (Index j = 0; j < metric.mixing.rows; ++j) factors.push_back(metric.mixing(j, j));
    stretch_inputs(factors);
  }

  void stretch_inputs(const std::vector<double>& factors) {
    rows_ = rows_.stretched(factors);
    if (rows_.mixing() != nullptr) return;  // they are in the combinations
    for (std::size_t j = 0; j < inputs_.size(); ++j) {
      inputs_[j].stretch *= factors[j];
      model().inputs[j].stretch = inputs_[j].stretch;
    }
  }

  // Learns from each half of the rows, and asks how much of the one is found again in the other.
  void check_stability() {
    constexpr Index kMostTerms = 10;
    constexpr Index kFewestRowsOfAHalf = 50;
    const Folds halves(rows_.rows(), 2, options_.seed);
    if (rows_.rows() < 2 * kFewestRowsOfAHalf || options_.search != "greedy") return;
    FitOptions options = options_;
    options.terms = std::min(kMostTerms, options_.terms);
    options.per_step = std::min(options_.per_step, options.terms);
    options.refine = "no";
    options.engine = "lazy";
    options.ridge = penalty_.ridge;
    std::vector<std::vector<Atom>> atoms;
    for (Index half = 0; half < 2; ++half) {
      const std::vector<Index>& rows = halves.held_out(half);
      const std::vector<double> targets = values_of(target_.values, rows);
      if (std::ranges::count(targets, targets.front()) == std::ssize(targets)) return;
      atoms.emplace_back();
      for (const Term& term : Fitter(*this, options, rows, {}).run({}).model.terms)
        atoms.back().push_back(term.atom);
    }
    if (atoms[0].empty() || atoms[1].empty()) return;
    report().stability = share_found_again(problem(), atoms[0], atoms[1]);
    constexpr double kUnstable = 0.5;
    if (report().stability >= kUnstable) return;
    report().warnings.push_back(fmt::format(
        "the choice of terms is not stable: of the first {} terms learned from one half of the rows, and "
        "from the other, {:.0f} % are found again in the other half's. Read the formula with care; more "
        "rows, fewer terms or a larger --ridge help",
        options.terms, 100 * report().stability));
  }

  [[nodiscard]] GreedyOptions search_options() const {
    return {options_.terms, options_.per_step, options_.tolerance, penalty_, settings_.selection};
  }

  // Whether each step of the search has a model of its own number of terms.
  [[nodiscard]] bool grows_step_by_step() const { return options_.search == "greedy"; }

  // The candidates with their weights, at unit norm if the selection wants them so.
  std::shared_ptr<const Candidates> make_candidates(const Dictionary& dictionary) {
    const CandidateContext context{rows_.inputs(), report().auto_sigma, options_.seed, &rows_};
    auto candidates = std::make_shared<Candidates>(dictionary, context);
    if (settings_.select == "normalised" || options_.search == "htp") {
      candidates->normalise(rows_, settings_.intercept == Intercept::kUnpenalised, workers_);
      return candidates;
    }
    const auto weighted = [&](std::vector<double> weights) {
      // A kernel without any weight would not be a part of the dictionary at all.
      constexpr double kSmallest = 1e-6;
      const double largest = *std::max_element(weights.begin(), weights.end());
      for (double& weight : weights) weight = largest > 0 ? std::max(weight, kSmallest * largest) : 1;
      return std::make_shared<const Candidates>(dictionary, context, weights);
    };
    const auto by_norm = [&] { return weighted(norm_weights(problem(), *candidates)); };
    const auto by_alignment = [&] {
      return weighted(alignment_weights_of_kernels(problem(), *candidates, options_.seed));
    };
    if (options_.nu == "norm") return by_norm();
    if (options_.nu == "alignment") return by_alignment();
    if (options_.nu == "cv") return best_of_candidates({candidates, by_norm(), by_alignment()});
    return candidates;
  }

  // Those with the smallest loss on held-out rows, with the ridge that was given.
  std::shared_ptr<const Candidates> best_of_candidates(
      const std::vector<std::shared_ptr<const Candidates>>& all) {
    const CrossValidationOptions defaults;
    const Folds folds(rows_.rows(), defaults.folds, options_.seed);
    refuse_folds_of_one_class(folds);
    std::shared_ptr<const Candidates> best;
    double best_loss = std::numeric_limits<double>::infinity();
    for (const auto& candidates : all) {
      candidates_ = candidates;
      double loss = 0;
      for (Index fold = 0; fold < folds.count(); ++fold) {
        const Model model = Fitter(*this, options_, folds.training(fold), {}).run({}).model;
        loss += held_out_loss(folds.held_out(fold), score_of(model)) / static_cast<double>(folds.count());
      }
      if (!best || loss < best_loss) {
        best = candidates;
        best_loss = loss;
      }
    }
    return best;
  }

  // The mean loss of a score on some rows.
  [[nodiscard]] double held_out_loss(const std::vector<Index>& rows, const ScoreFunction& score) {
    const BlockedRows held_out = rows_.subset(rows);
    const std::vector<double> targets = values_of(target_.values, rows);
    return loss_sum({held_out, targets, *target_.loss, settings_.intercept, workers_}, score) /
           static_cast<double>(held_out.rows());
  }

  void learn_random_features() {
    const bool draws_only = options_.method == "rks";
    const Index n_candidates = draws_only                ? options_.terms
                               : options_.candidates > 0 ? options_.candidates
                                                         : 10 * options_.terms;
    refuse_if_too_large(n_candidates);
    const double sigma = width_of_kernel();
    report().prepare_seconds = seconds_since(start_);
    if (validation_ != nullptr) {
      choose_ridge({options_.terms}, [&](const Folds& folds) { return losses_by_fits(folds); });
    }
    const auto score_start = Clock::now();
    const std::vector<Atom> atoms = choose_random_features(
        problem(), {options_.method, options_.terms, n_candidates, sigma, options_.seed});
    if (!draws_only) report().score_seconds = seconds_since(score_start);
    report().candidates = n_candidates;
    report().features = fmt::format("fourier(count={})", n_candidates);
    report().engine = "lazy";
    report().sigmas = {sigma};

    const auto fit_start = Clock::now();
    const auto refit = make_refit();
    IndependentAtoms independent(problem(), *refit);
    const std::vector<bool> accepted = independent.add(
        atom_products(rows_, target_.values, atoms, static_cast<Index>(atoms.size()), workers_));
    ActiveSet active;
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      const auto text = [&] { return describe(atoms[i], model().formula_names()).text; };
      if (accepted[i]) {
        active.candidates.push_back(static_cast<Index>(i));
        active.atoms.push_back(atoms[i]);
      } else {
        report().dependent_atoms.push_back(text());
      }
    }
    const RefitReport refit_report = refit->solve(active);
    const double loss = refit_report.loss_sum ? *refit_report.loss_sum : loss_sum(problem(), active.score());
    const double risk = loss / static_cast<double>(rows_.rows());
    report().fit_seconds = seconds_since(fit_start);
    add_terms(active);
    record_one_step(risk, refit_report.ridge, refit_report.newton_steps);
    warn_of_leverage(active, *refit, refit_report.ridge);
    finish(refit_report.ridge, risk, refit_report.converged);
  }

  void refuse_if_too_large(Index n_candidates) const {
    // Frequencies of the candidates, sums over rows for each shard, and the Gram matrix of the terms.
    const double inputs = static_cast<double>(rows_.inputs());
    const double terms = static_cast<double>(options_.terms);
    const double bytes =
        sizeof(double) * (static_cast<double>(n_candidates) * (inputs + 32) + terms * (inputs + 10 * terms));
    if (bytes <= memory_limit_bytes(options_)) return;
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format(
            "{} random features and {} terms need {:.1f} MiB; the limit is {:.1f} MiB. Use fewer, or raise "
            "--memory-limit",
            n_candidates, options_.terms, bytes * 0x1p-20, memory_limit_bytes(options_) * 0x1p-20));
  }

  void learn_with_kernel() {
    if (options_.norm_bound > 0) {
      throw Error(ErrorKind::kInvalidArgument, "--norm-bound is not possible with gk and glk; use --ridge");
    }
    for (const double ridge :
         validation_ != nullptr ? validation_->ridges : std::vector<double>{options_.ridge}) {
      if (ridge > 0) continue;
      throw Error(ErrorKind::kInvalidArgument, "--ridge must be positive for gk and glk");
    }
    const auto n_rows = static_cast<Index>(options_.subsample * static_cast<double>(rows_.rows()));
    if (n_rows < kFewestRows) {
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("--subsample {} leaves {} rows; at least {} are needed", options_.subsample,
                              n_rows, kFewestRows));
    }
    const double bytes =
        KernelMachine::bytes(static_cast<double>(n_rows), static_cast<double>(rows_.inputs()));
    if (bytes > memory_limit_bytes(options_)) {
      throw Error(
          ErrorKind::kInvalidArgument,
          fmt::format(
              "the kernel matrix of {} rows needs {:.1f} MiB; the limit is {:.1f} MiB. Use fewer rows with "
              "--subsample, or raise --memory-limit",
              n_rows, bytes * 0x1p-20, memory_limit_bytes(options_) * 0x1p-20));
    }
    const double sigma = width_of_kernel();
    report().prepare_seconds = seconds_since(start_);
    if (validation_ != nullptr) {
      choose_ridge({options_.method == "gk" ? n_rows : n_rows + rows_.inputs()},
                   [&](const Folds& folds) { return losses_by_fits(folds); });
    }
    report().features = options_.method == "gk" ? "gaussian kernel" : "linear kernel + gaussian kernel";
    report().engine = "exact";
    report().candidates = n_rows;
    report().sigmas = {sigma};

    const auto fit_start = Clock::now();
    const std::vector<Index> chosen =
        random_rows(rows_.rows(), n_rows, options_.seed, RandomStream::kSubsample);
    std::vector<double> targets;
    for (const Index row : chosen) targets.push_back(target_.values[static_cast<std::size_t>(row)]);
    KernelMachine machine(rows_, chosen, sigma, workers_);
    if (options_.method == "glk") machine.add_linear_kernel();
    const KernelSolution solution =
        machine.solve(targets, *target_.loss, penalty_.ridge, settings_.intercept);
    report().fit_seconds = seconds_since(fit_start);
    model().terms = machine.terms(solution);
    model().intercept = solution.intercept + target_.offset;
    const double risk = solution.loss_sum / static_cast<double>(n_rows);
    record_one_step(risk, penalty_.ridge, solution.newton_steps);
    finish(penalty_.ridge, risk, solution.converged);
  }

  void add_terms(const ActiveSet& active) {
    for (std::size_t i = 0; i < active.atoms.size(); ++i)
      model().terms.push_back({active.atoms[i], active.theta[i]});
    model().intercept = active.intercept + target_.offset;
  }

  void record_path(const GreedyResult& greedy, const Candidates& candidates) {
    const std::vector<std::string> names = model().formula_names();
    const auto text = [&](Index candidate) { return describe(candidates.atom(candidate), names).text; };
    Index terms = 0;
    for (const GreedyStep& step : greedy.path) {
      terms += static_cast<Index>(step.added.size()) - static_cast<Index>(step.removed.size());
      PathStep& out = report().path.emplace_back(PathStep{
          {}, {}, terms, step.risk, step.largest_gradient, step.ridge, step.seconds, step.newton_steps});
      for (const Index candidate : step.added) out.added.push_back(text(candidate));
      for (const Index candidate : step.removed) out.removed.push_back(text(candidate));
    }
    for (const Index candidate : greedy.dependent) report().dependent_atoms.push_back(text(candidate));
  }

  // Methods that choose all their terms at once have a path of one step.
  void record_one_step(double risk, double ridge, int newton_steps) {
    report().initial_risk = risk_of_constant();
    PathStep step{
        {}, {}, static_cast<Index>(model().terms.size()), risk, 0, ridge, report().fit_seconds, newton_steps};
    report().path.push_back(std::move(step));
  }

  // The mean loss of the best constant, or of zero without an intercept.
  [[nodiscard]] double risk_of_constant() {
    const auto n_rows = static_cast<double>(rows_.rows());
    double constant = 0;
    if (settings_.intercept == Intercept::kUnpenalised) {
      constant = target_.loss->best_constant(
          std::accumulate(target_.values.begin(), target_.values.end(), 0.0) / n_rows);
    }
    return loss_sum(problem(), ScoreFunction({}, {}, constant)) / n_rows;
  }

  [[nodiscard]] EngineCosts engine_costs(const ProblemSize& size) const {
    if (validation_ == nullptr) return {lazy_engine_cost(size), gram_engine_cost(size)};
    const double threads = workers_.pool.threads();
    return {lazy_validation_cost(size, *validation_), gram_validation_cost(size, *validation_, threads),
            true};
  }

  // Cross-validation: sets the ridge to the best one at the number of terms that was asked for.
  void choose_ridge(std::vector<Index> terms, const std::function<FoldLosses(const Folds&)>& losses_of) {
    const auto start = Clock::now();
    const Folds folds(rows_.rows(), *validation_, options_.seed);
    refuse_folds_of_one_class(folds);
    cross_validation_.ridges = validation_->ridges;
    cross_validation_.terms = std::move(terms);
    cross_validation_.measure = target_.loss->is_quadratic() ? "mse" : "log_loss";
    summarise(losses_of(folds), target_.scale * target_.scale, cross_validation_);
    cross_validation_.seconds = seconds_since(start);
    penalty_.ridge = cross_validation_.chosen.ridge;
  }

  void refuse_folds_of_one_class(const Folds& folds) const {
    if (const std::optional<Index> fold = fold_of_one_class(folds)) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("all rows outside of fold {} have one label, so there is nothing to learn "
                              "from them; use fewer --folds, or another --seed",
                              *fold + 1));
    }
  }

  // A fold outside of which there is one class only.
  [[nodiscard]] std::optional<Index> fold_of_one_class(const Folds& folds) const {
    if (target_.task != Task::kClassification) return std::nullopt;
    for (Index fold = 0; fold < folds.count(); ++fold) {
      const std::vector<double> targets = values_of(target_.values, folds.training(fold));
      if (std::ranges::count(targets, targets.front()) == std::ssize(targets)) return fold;
    }
    return std::nullopt;
  }

  FoldLosses losses_by_gram(const Folds& folds, const Candidates& candidates,
                            std::vector<std::shared_ptr<const GramSums>>& sums) {
    constexpr double kPartOfSums = 0.8;  // of the time, roughly
    sums = gram_sums_of_folds(problem(), candidates, folds,
                              [&](double part) { show_validation(kPartOfSums * part); });
    const auto whole_sums = sums;
    if (!folds.have_all_rows()) sums.clear();  // they are not those of the last fit
    return gram_path_losses(problem(), candidates, folds, whole_sums, validation_->ridges, search_options(),
                            [&](double part) { show_validation(kPartOfSums + (1 - kPartOfSums) * part); });
  }

  FoldLosses losses_by_fits(const Folds& folds) {
    const auto n_ridges = static_cast<Index>(validation_->ridges.size());
    const auto n_steps = static_cast<Index>(cross_validation_.terms.size());
    FoldLosses losses;
    for (Index fold = 0; fold < folds.count(); ++fold) {
      losses.emplace_back(n_ridges, n_steps);
      const auto loss_of = [&](const ScoreFunction& score) {
        return held_out_loss(folds.held_out(fold), score);
      };
      const std::vector<Index> training = folds.training(fold);
      for (Index ridge = 0; ridge < n_ridges; ++ridge) {
        FitOptions options = options_;
        options.engine = "lazy";
        options.refine = "no";
        options.tune = "no";
        options.ridge = validation_->ridges[static_cast<std::size_t>(ridge)];
        PathLosses path(losses.back().row(ridge), n_steps);
        std::function<void(const ScoreFunction&)> on_model;
        if (grows_step_by_step()) on_model = [&](const ScoreFunction& score) { path.add(loss_of(score)); };
        const Model model = Fitter(*this, options, training, on_model).run({}).model;
        path.finish([&] { return loss_of(score_of(model)); });
        show_validation(
            (static_cast<double>(fold) + static_cast<double>(ridge + 1) / static_cast<double>(n_ridges)) /
            static_cast<double>(folds.count()));
      }
    }
    return losses;
  }

  // In the units of the prepared target.
  [[nodiscard]] ScoreFunction score_of(const Model& model) const {
    std::vector<Atom> atoms;
    std::vector<double> coefficients;
    for (const Term& term : model.terms) {
      atoms.push_back(term.atom);
      coefficients.push_back(term.coefficient);
    }
    return {atoms, coefficients, model.intercept - target_.offset};
  }

  void show_validation(double part) const {
    if (!progress_ || part >= 1) return;
    Progress state;
    state.validated = part;
    state.seconds = seconds_since(start_);
    if (!progress_(state)) throw Error(ErrorKind::kInterrupted, "training was interrupted");
  }

  void warn_of_leverage(const ActiveSet& active, const Refit& refit, double ridge) {
    if (whole_ != nullptr || active.size() == 0) return;
    add_warnings(leverage_warnings(high_leverages(problem(), active, refit.hessian(ridge), options_.seed),
                                   data_, standard_.inputs));
  }

  void add_warnings(const std::vector<std::string>& warnings) {
    report().warnings.insert(report().warnings.end(), warnings.begin(), warnings.end());
  }

  void finish(double ridge, double risk, bool converged) {
    if (rows_.mixing() != nullptr) model().mixing = *rows_.mixing();
    if (whole_ == nullptr && target_.task == Task::kClassification)
      add_warnings(separation_warnings(problem(), score_of(model()), risk, converged));
    int tuning_steps = 0;
    for (const PathStep& step : report().path) tuning_steps += step.tuning_steps;
    model().training = {rows_.rows(), report().features, ridge, options_.norm_bound, risk, tuning_steps};
  }

  const TrainingData& data_;
  const FitOptions& options_;
  SingleThreadedBlas blas_;
  Workers workers_;
  Clock::time_point start_;
  Settings settings_;
  PreparedTarget target_;
  Standardisation standard_;
  std::vector<InputColumn> inputs_;  // the standardised ones under the scale that was asked for
  BlockedRows rows_;
  Penalty penalty_;
  std::shared_ptr<const Candidates> candidates_;
  const Fitter* whole_ = nullptr;  // the fit whose rows these are some of
  std::function<void(const ScoreFunction&)> on_model_;
  const CrossValidationOptions* validation_ = nullptr;
  CrossValidation cross_validation_;
  ProgressCallback progress_;
  FitResult result_;
};

}  // namespace

FitResult fit(const TrainingData& data, const FitOptions& options, const ProgressCallback& progress) {
  options.validate();
  check_shapes(data);
  return Fitter(data, options).run(progress);
}

CrossValidationOptions quick_validation() { return {5, {1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100}, 1, 25000}; }

bool can_validate_quickly(const TrainingData& data) {
  constexpr Index kFewestRows = 50;
  constexpr Index kFewestOfAClass = 10;
  if (std::ssize(data.y) < kFewestRows) return false;
  const auto lowest = std::ranges::count(data.y, std::ranges::min(data.y));
  const auto highest = std::ranges::count(data.y, std::ranges::max(data.y));
  const bool two_values = lowest + highest == std::ssize(data.y);
  return !two_values || std::min(lowest, highest) >= kFewestOfAClass;
}

CrossValidatedFit cross_validate(const TrainingData& data, const FitOptions& options,
                                 const CrossValidationOptions& validation, const ProgressCallback& progress) {
  options.validate();
  validation.validate();
  if (options.norm_bound > 0) {
    throw Error(ErrorKind::kInvalidArgument,
                "--norm-bound takes the place of a ridge, so there is none to cross-validate; leave one of "
                "them out");
  }
  check_shapes(data);
  check_folds(data.x.rows, validation.folds);
  return Fitter(data, options).run_cross_validation(validation, progress);
}

}  // namespace mfga
