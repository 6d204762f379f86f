#include "model/one_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "mfga/error.hpp"
#include "mfga/paper.hpp"
#include "model/fit_archive.hpp"
#include "model/fit_checks.hpp"
#include "model/fit_record.hpp"
#include "model/learners.hpp"
#include "model/option_table.hpp"
#include "model/scoring.hpp"
#include "model/start.hpp"
#include "solve/leverage.hpp"

namespace mfga {
namespace {

// One fit, from the prepared data to the model and its report.
class Fit {
 public:
  Fit(const TrainingData& data, const CountedRows& counted, const Plan& plan, Workers& workers,
      Control& control, Journal* journal)
      : data_(data), counted_(counted), plan_(plan), workers_(workers), control_(control), work_{plan,
                                                                                                 workers,
                                                                                                 control,
                                                                                                 report_,
                                                                                                 best_,
                                                                                                 {},
                                                                                                 {}} {
    work_.journal = journal;
  }

  FitResult run() {
    std::optional<PreparedData> prepared;
    {
      const Control::NoStop until_there_is_something(control_);
      Standardisation standard;
      prepared = prepare(data_, counted_, plan_, workers_, standard);
      standardised_ = standard.inputs;
      report_.rows = data_.x.rows;
      for (const Index column : standard.constant_columns)
        report_.dropped_columns.push_back(column_name(data_, column));
      start_model(*prepared, standard.missing);
    }
    work_.names = model_.formula_names();
    std::optional<Learned> learned;
    try {
      learned = learn(*prepared);
    } catch (const OutOfTime&) {
      // A stop before there was a model: what_there_is() finds one.
    }
    const Control::NoStop until_done(control_);
    report_.stopped = control_.is_stopped();
    if (!learned || (report_.stopped && learned->active.size() == 0)) learned = what_there_is(*prepared);
    finish(std::move(*learned), *prepared);
    FitResult result{std::move(model_), std::move(report_)};
    if (!validation_.ridges.empty()) result.cross_validation = std::move(validation_);
    result.model.training.fit = record_of(result, plan_.times.seconds());
    return result;
  }

 private:
  void start_model(const PreparedData& prepared, const std::vector<Index>& missing) {
    model_.task = prepared.target.task;
    const bool is_usual = prepared.target.loss == resolve_loss("", plan_.task, data_);
    if (!is_usual) model_.loss = prepared.target.loss->name();
    model_.labels = prepared.target.labels;
    model_.outputs = prepared.target.outputs;
    describe_table(data_, prepared.inputs, missing, model_);
  }

  // May change the inputs by a learned metric.
  Learned learn(PreparedData& data) {
    const paper::Method method = plan_.paper.method;
    if (method == paper::Method::kMfga) return learn_by_selection(data);
    const bool exact = method == paper::Method::kGk || method == paper::Method::kGlk;
    Index terms = plan_.terms;
    if (exact) {
      terms = check_kernel(plan_, data) + (method == paper::Method::kGlk ? data.rows.inputs() : 0);
    } else {
      check_random_features(plan_, data);
    }
    const SigmaChoice width = parse_sigma(plan_.paper.sigma);
    if (width.automatic) find_width(work_, data);
    const double sigma = width.resolve(report_.auto_sigma);
    report_.prepare_seconds = work_.lap();
    const auto learner = exact ? learn_with_kernel : learn_random_features;
    double ridge = plan_.penalty.ridge;
    if (plan_.validation) {
      const Folds folds = data.folds(plan_, *plan_.validation);
      RidgeChoice choice =
          choose_ridge(work_, data, folds, nullptr, EngineKind::kLazy, {terms},
                       [&](FoldData& fold, double tried, const std::function<void(const ScoreFunction&)>&) {
                         return learner(work_, fold.training, tried, sigma);
                       });
      ridge = choice.ridge;
      validation_ = std::move(choice.validation);
    }
    static_cast<void>(work_.lap());
    Learned learned = learner(work_, data, ridge, sigma);
    report_.fit_seconds = work_.lap() - report_.score_seconds;
    return learned;
  }

  Learned learn_by_selection(PreparedData& data) {
    const FitOptions& options = plan_.options;
    const AutomaticDictionaries dictionaries = planned_dictionaries(data);
    report_.features = dictionaries.list[dictionaries.whole];
    // The dictionary's size is known, and refused if need be, before any work is done.
    const Dictionary dictionary(report_.features);
    const ProblemSize size{static_cast<double>(data.rows.rows()),
                           dictionary.candidates(data.rows.inputs()),
                           static_cast<double>(plan_.terms),
                           static_cast<double>(path_steps(plan_.terms, plan_.per_step)),
                           options.precision,
                           static_cast<double>(data.target.outputs.size())};
    // What one thread would choose, where ranks with other numbers of threads must choose the same.
    EngineKind engine = choose_engine(plan_, size, workers_.ranks() != nullptr ? 1 : workers_.threads());
    const double limit = memory_limit_bytes(options);
    const double needed = engine_cost(plan_, engine, size, workers_.threads()).bytes;
    work_.most_kept_bytes = std::min(kept_bytes(limit), limit - needed);
    // Folds learn metrics of their own, from rows as they are.
    const PreparedData plain = data;
    if (options.metric != Metric::kNone) {
      try {
        report_.metric_rounds = learn_metric_of(work_, data, dictionary);
      } catch (const OutOfTime&) {
        report_.cut_short.emplace_back("the learned metric");
      }
      show_metric(data);
    }
    if (dictionary.needs_sigma()) find_width(work_, data);
    std::shared_ptr<const Candidates> candidates = make_candidates(work_, data, dictionary);
    report_.prepare_seconds += work_.lap();
    report_.select = option_text(FitOptions{.select = plan_.select}, fit_option_table(), "select");

    const std::optional<JudgedRows> judged = judged_rows(work_, plain, *candidates, engine);
    if (judged && take_standard_scales(data, *judged, dictionaries)) return learn_by_selection(data);
    double ridge = plan_.penalty.ridge;
    GreedyTask task = whole_task(work_, plan_.penalty);
    if (plan_.chooses_terms) task.terms = kUsualTerms;  // until held-out rows have chosen
    // A race chooses the ridge as well.
    const bool is_race = judged && plan_.chooses_ridge_quickly() && !plan_.tries_all();
    if (plan_.validation && !is_race) {
      RidgeChoice choice = validated_ridge(plain, candidates, engine, judged);
      ridge = choice.ridge;
      // Without sums from the validation, the gram engine would have a long first pass that nothing ends
      // early.
      if (choice.validation.ridges.empty() && choice.sums.empty()) engine = EngineKind::kLazy;
      task.sums = std::move(choice.sums);
      validation_ = std::move(choice.validation);
      if (plan_.chooses_terms && !validation_.ridges.empty()) {
        task.terms = validation_.chosen.terms;
        report_.sizes = tried_sizes(validation_);
      }
    } else if (is_race) {
      engine = EngineKind::kLazy;
    }
    report_.tuning.is_tried = plan_.may_tune || options.tune.steps() > 0;
    if (plan_.may_tune) {
      std::optional<TuningChoice> choice =
          tuning_choice(plain, judged, dictionaries, candidates->size(), ridge);
      if (is_race && !choice) {
        if (best_.model()) {
          Learned learned = learn_from_all(work_, data, *best_.model());
          report_.tuning.is_used = true;
          report_.fit_seconds = work_.lap();
          return learned;
        }
        report_.cut_short.push_back(fmt::format("the choice of the ridge (it is {:g})", ridge));
      }
      if (choice && choice->tuned) {
        static_cast<void>(work_.lap());
        Learned learned = learn_tuned(work_, data, *choice);
        report_.tuning.is_used = true;
        report_.fit_seconds = work_.lap();
        return learned;
      }
      if (choice) {
        // Where it was not given or cross-validated, the ridge is that of the best model without tuning.
        if (plan_.chooses_ridge_quickly()) ridge = choice->ridge;
        if (plan_.chooses_terms) task.terms = choice->terms;
        if (choice->features != report_.features) {  // a part of it does as well
          report_.features = choice->features;
          candidates = make_candidates(work_, data, Dictionary(choice->features));
          task.sums.clear();
        }
      }
    } else if (options.tune.steps() > 0) {
      std::optional<Learned> learned = learn_tuned_by_steps(work_, data, report_.features, ridge);
      if (learned) {
        report_.tuning.is_used = true;
        report_.fit_seconds = work_.lap();
        return std::move(*learned);
      }
    }
    static_cast<void>(work_.lap());
    task.penalty.ridge = ridge;
    task.engine = engine;
    if (options.start != nullptr) {
      task.start = terms_of_start(*options.start, data.target);
      task.engine = EngineKind::kLazy;  // whose atoms need not be candidates
    }
    task.refines = options.refine;
    task.deadline = plan_.times.deadline();
    task.keeps_what_there_is = true;
    task.on_step = [&](const GreedyStep& step, const ActiveSet& active) {
      work_.show_search(active.size(), step.risk);
    };
    work_.phase = "";
    task.journal = work_.journal;
    Learned learned = learn_greedily(work_, data, *candidates, task);
    learned.features = report_.features;
    report_.fit_seconds = work_.lap();
    try {
      check_stability(data, *candidates, task);
    } catch (const OutOfTime&) {
      report_.cut_short.emplace_back("the check of stability");
    }
    report_.stability_seconds = work_.lap();
    return learned;
  }

  // If held-out rows clearly prefer them to automatic ones, and scales were not given. They are asked once.
  bool take_standard_scales(PreparedData& data, const JudgedRows& judged,
                            const AutomaticDictionaries& dictionaries) {
    const FitOptions& options = plan_.options;
    const bool are_given = options.scale || !plan_.paper.is_own() || options.start != nullptr;
    if (report_.scales || are_given || options.metric != Metric::kNone || !have_quantiles(data)) return false;
    Plan with_standard = plan_;
    with_standard.options.scale = ScaleKind::kStandard;
    Standardisation standard;
    PreparedData other = prepare(data_, counted_, with_standard, workers_, standard);
    try {
      report_.scales = compare_scales(work_, data, other, judged, dictionaries);
    } catch (const OutOfTime&) {
      if (control_.is_stopped()) throw;
      report_.cut_short.emplace_back("the choice of scales");
    }
    report_.tune_seconds += work_.lap();
    if (!report_.scales || !report_.scales->is_standard) return false;
    data = std::move(other);
    describe_table(data_, data.inputs, standard.missing, model_);
    work_.names = model_.formula_names();
    return true;
  }

  [[nodiscard]] AutomaticDictionaries planned_dictionaries(const PreparedData& data) const {
    if (!plan_.options.features.empty()) return {{plan_.options.features}, 0};
    if (!plan_.paper.preset) return automatic_dictionaries(data.rows, workers_);
    return {{plan_.task == Task::kRegression ? "linear + gaussian(order=2, squares=no)"
                                             : "linear + gaussian(order=1)"},
            0};
  }

  RidgeChoice validated_ridge(const PreparedData& data, const std::shared_ptr<const Candidates>& candidates,
                              EngineKind engine, const std::optional<JudgedRows>& judged) {
    const Index most = std::min(plan_.terms, candidates->size());
    const Folds folds =
        judged && plan_.chooses_ridge_quickly()
            ? judged->choosing.with_used(plan_.validation->used_folds)
            : data.folds(plan_, affordable(work_, *plan_.validation, candidates.get(), engine));
    return choose_ridge(
        work_, data, folds, candidates, engine,
        plan_.grows_step_by_step() ? path_terms(most, plan_.per_step) : std::vector<Index>{most},
        [&](FoldData& fold, double ridge, const std::function<void(const ScoreFunction&)>& on_model) {
          GreedyTask task = whole_task(work_, {ridge, 0});
          if (fold.engine == nullptr) {
            Problem problem = fold.training.problem(workers_);
            fold.device = DeviceProblem::if_worthwhile(problem, fold.candidates->size());
            problem.device = fold.device.get();
            fold.engine =
                make_lazy_engine(problem, *fold.candidates, plan_.options.precision, work_.most_kept_bytes);
          }
          task.known_engine = fold.engine.get();
          task.known_device = fold.device.get();
          task.on_step = [&](const GreedyStep&, const ActiveSet& active) {
            if (on_model) on_model(active.score());
            stop_if_over(plan_.times.deadline(Timetable::kPartOfValidation));
            workers_.check();
          };
          return learn_greedily(work_, fold.training, *fold.candidates, task);
        });
  }

  std::optional<TuningChoice> tuning_choice(const PreparedData& data, const std::optional<JudgedRows>& judged,
                                            const AutomaticDictionaries& dictionaries, Index candidates,
                                            double ridge) {
    static_cast<void>(work_.lap());
    std::optional<TuningChoice> choice;
    if (!judged) {
      report_.tuning.reason = "there are too few rows to hold some out";
      return choice;
    }
    try {
      // Tuning takes many times as long as the choice of the ridge.
      if (plan_.validation && plan_.tries_all() && validation_.ridges.empty()) throw OutOfTime();
      stop_if_over(plan_.times.deadline(Timetable::kPartOfTuning));
      const auto choose = [&] { choice = choose_tuning(work_, data, *judged, dictionaries, ridge); };
      journaled_as(work_.journal, "tuning", choose, [&](Archive& bytes) {
        bytes(choice, best_, work_.seconds_of_a_fit);
        archive_choices(bytes, report_);
        if (!bytes.is_loading()) return;
        const Problem problem = data.problem(workers_);
        Archive::require((!choice || is_possible(*choice, dictionaries.list, problem, plan_.terms)) &&
                         is_possible(best_, dictionaries.list, problem, candidates, plan_.terms) &&
                         are_possible_choices(report_, dictionaries.list) &&
                         are_seconds(work_.seconds_of_a_fit));
      });
    } catch (const OutOfTime&) {
      report_.tuning.reason = control_.is_stopped() ? "it was stopped before it was done"
                                                    : "the time limit came before it was done";
      report_.cut_short.emplace_back("tuning");
    }
    work_.phase = "";
    work_.done = -1;
    report_.tune_seconds += work_.lap();
    return choice;
  }

  // Learns from each half of the rows, and asks how much of the one is found again in the other.
  void check_stability(const PreparedData& data, const Candidates& candidates, GreedyTask task) {
    constexpr Index kMostTerms = 10;
    constexpr Index kFewestRowsOfAHalf = 50;
    if (data.rows.rows() < 2 * kFewestRowsOfAHalf || !plan_.grows_step_by_step()) return;
    task.terms = std::min(kMostTerms, plan_.terms);
    task.engine = EngineKind::kLazy;
    task.sums.clear();
    task.refines = false;
    task.deadline = kNever;
    task.keeps_what_there_is = false;
    task.start = {};
    // It takes about as long as so many terms of the fit did.
    const double part = static_cast<double>(task.terms) / static_cast<double>(plan_.terms);
    stop_if_over(plan_.times.deadline(1, part * report_.fit_seconds));
    work_.phase = "checking stability";
    task.on_step = [&](const GreedyStep& step, const ActiveSet& active) {
      stop_if_over(plan_.times.deadline());
      work_.show_search(active.size(), step.risk);
    };
    const Folds halves(data.rows.rows(), 2, plan_.options.seed);
    std::vector<std::vector<Atom>> atoms;
    for (Index half = 0; half < 2; ++half) {
      const PreparedData some = data.subset(halves.held_out(half), &workers_);
      if (some.has_one_target()) return;
      atoms.push_back(learn_greedily(work_, some, candidates, task).active.atoms);
    }
    if (atoms[0].empty() || atoms[1].empty()) return;
    report_.stability = share_found_again(data.problem(workers_), atoms[0], atoms[1]);
    add_warnings(stability_warnings(report_.stability, task.terms));
  }

  // After a stop, without a model of all rows: the best one of some, or a constant.
  Learned what_there_is(const PreparedData& data) {
    Learned learned;
    if (best_.model()) {
      learned = *best_.model();
      report_.cut_short.emplace_back("learning from all rows (the model is one of some rows)");
    } else if (plan_.options.start != nullptr) {
      learned.active = terms_of_start(*plan_.options.start, data.target);
      learned.ridge = plan_.penalty.ridge;
      report_.cut_short.emplace_back("everything (the model is the one to start from)");
    } else {
      learned.active.intercepts = data.problem(workers_).best_constants();
      report_.cut_short.emplace_back("everything (the model is a constant)");
    }
    if (learned.features.empty()) learned.features = report_.features;
    learned.engine = "lazy";
    PreparedData seen = data;
    if (!learned.stretch.empty()) seen.stretch(learned.stretch);
    const Problem problem = seen.problem(workers_);
    learned.initial_risk =
        loss_sum(problem, ScoreFunction({}, {}, problem.best_constants())) / problem.count();
    learned.risk = loss_sum(problem, learned.score()) / problem.count();
    return learned;
  }

  // The inputs of the model as a metric has changed them.
  void show_metric(const PreparedData& data) {
    if (data.rows.mixing() != nullptr) model_.mixing = *data.rows.mixing();
    for (std::size_t j = 0; j < data.inputs.size(); ++j) model_.inputs[j].stretch = data.inputs[j].stretch;
    work_.names = model_.formula_names();
  }

  void finish(Learned learned, PreparedData& data) {
    if (!learned.stretch.empty()) data.stretch(learned.stretch);
    show_metric(data);
    learned.tell(data.target, model_, report_);
    const std::vector<double> means = atom_means(learned.active.atoms, data.rows, workers_);
    for (std::size_t i = 0; i < means.size(); ++i) model_.terms[i].mean = means[i];
    warn_of_leverage(learned, data);
    if (model_.task == Task::kClassification && model_.has_one_output() && model_.loss.empty() &&
        learned.active.size() > 0)
      add_warnings(
          separation_warnings(data.problem(workers_), learned.score(), learned.risk, learned.converged));
    int tuning_steps = 0;
    for (const PathStep& step : report_.path) tuning_steps += step.tuning_steps;
    if (workers_.device_is_used()) report_.device = workers_.device()->info().name;
    model_.training = {data.rows.rows(), report_.features, learned.ridge, plan_.paper.norm_bound,
                       learned.risk,     tuning_steps,     data.cost.bend};
    check_finite(model_);
  }

  void warn_of_leverage(const Learned& learned, const PreparedData& data) {
    if (learned.active.size() == 0) return;
    if (report_.stopped || is_over(plan_.times.deadline())) {
      report_.cut_short.emplace_back("the search for rows that decide their own fit");
      return;
    }
    if (learned.hessian.empty() || !model_.has_one_output()) return;
    static_cast<void>(work_.lap());
    std::vector<RowLeverage> rows =
        high_leverages(data.problem(workers_), learned.active, learned.hessian, plan_.options.seed);
    for (RowLeverage& row : rows) row.row = data.row_of_table(row.row);
    add_warnings(leverage_warnings(rows, data_, standardised_));
    report_.leverage_seconds = work_.lap();
  }

  void add_warnings(const std::vector<std::string>& warnings) {
    report_.warnings.insert(report_.warnings.end(), warnings.begin(), warnings.end());
  }

  const TrainingData& data_;
  const CountedRows& counted_;
  const Plan& plan_;
  Workers& workers_;
  Control& control_;
  std::vector<InputColumn> standardised_;
  Model model_;
  FitReport report_;
  CrossValidation validation_;
  BestOfSomeRows best_;
  Work work_;
};

}  // namespace

FitResult one_fit(const TrainingData& data, const CountedRows& counted, const Plan& plan, Workers& workers,
                  Control& control, Journal* journal) {
  return Fit(data, counted, plan, workers, control, journal).run();
}

}  // namespace mfga
