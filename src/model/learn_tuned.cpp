// Selection and tuning in turns: what held-out rows decide, and who judges it.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "mfga/error.hpp"
#include "model/learners.hpp"
#include "solve/learned_metric.hpp"

namespace mfga {
namespace {

constexpr int kMostJudgedSteps = 128;  // of one tuning, where held-out rows say when to stop

using Models = std::vector<TunedModel>;

// Of models with dictionaries from the simplest on, the first whose held-out loss is within a standard error
// of the smallest one: held-out rows cannot tell the two.
std::size_t simplest_of_the_best(std::span<const TuningFold> folds, const std::vector<Models>& models) {
  const auto loss = [](const Models& tried) { return tried.front().held_out(); };
  const auto best = std::ranges::min_element(models, {}, loss);
  const HeldOutLosses smallest = held_out_losses(folds, *best);
  const auto is_as_good = [&](const Models& tried) {
    const PairedLosses losses = paired_losses(held_out_losses(folds, tried), smallest);
    return losses.first - losses.second <= losses.standard_error;
  };
  return static_cast<std::size_t>(std::find_if(models.begin(), best, is_as_good) - models.begin());
}

TunedSearchCallback progress_of(const Work& work) {
  return [&work](Index terms, int step, double risk) { work.show_search(terms, risk, step); };
}

void offer_to_keep(Work& work, const TunedModel& model, const std::string& features) {
  if (work.plan.options.metric != Metric::kNone)
    return;  // the metric of the fold would have to be kept as well
  work.best.offer(model.active, model.stretch, model.ridge, features, model.held_out());
}

// When tuning with held-out rows is given up, so that there is time for a fit of all rows.
Deadline end_of_tuning(const Work& work) {
  return std::min(work.plan.times.deadline(Timetable::kPartOfComparing),
                  work.plan.times.deadline(1, work.seconds_of_a_fit));
}

TunedSearchOptions search_options(const Work& work, const PreparedData& data, const Dictionary& dictionary,
                                  const Penalty& penalty, int steps) {
  constexpr Index kRounds = 4;
  constexpr Index kMostTerms = 40;
  constexpr double kPull = 1;
  const FitOptions& options = work.plan.options;
  return {dictionary,
          work.plan.search_options(penalty),
          options.precision,
          options.seed,
          work.plan.select == Selection::kNormalised,
          options.tune_every > 0 ? options.tune_every
                                 : std::min(kMostTerms, (options.terms + kRounds - 1) / kRounds),
          steps,
          kPull,
          data.text_columns,
          work.plan.times.deadline(Timetable::kPartOfTuning),
          end_of_tuning(work),
          work.plan.width_rule,
          work.most_kept_bytes};
}

// The folds of the rows to choose with; each has its own metric where one is learned.
class ChoosingFolds {
 public:
  ChoosingFolds(Work& work, const PreparedData& data, const Folds& folds) {
    for (Index fold = 0; fold < folds.count(); ++fold)
      data_.push_back(fold_data(work, data, nullptr, folds.training(fold), folds.held_out(fold)));
    for (const FoldData& fold : data_) {
      folds_.push_back({fold.training.problem(work.workers),
                        HeldOutRows{fold.held_out.rows, fold.held_out.target.values}});
    }
  }
  [[nodiscard]] std::span<const TuningFold> folds() const { return folds_; }

 private:
  std::vector<FoldData> data_;
  std::vector<TuningFold> folds_;
};

// A dictionary and the models that the folds learned with it.
struct Choice {
  std::size_t dictionary = 0;
  Models models;
};

Choice choose_with_tuning(Work& work, const PreparedData& data, std::span<const TuningFold> folds,
                          const std::vector<std::string>& dictionaries, const Penalty& penalty) {
  const std::vector<double> ridges = work.plan.ridges();
  const TunedSearchCallback on_step = progress_of(work);
  std::vector<Models> begun;
  for (const std::string& features : dictionaries) {
    work.phase = fmt::format("tuning with dictionary {} of {}", &features - dictionaries.data() + 1,
                             dictionaries.size());
    const Dictionary dictionary(features);
    begun.push_back(begin_tuned(folds, ridges,
                                search_options(work, data, dictionary, penalty, kMostJudgedSteps), on_step));
    offer_to_keep(work, begun.back().front(), features);
    if (is_over(work.plan.times.deadline(Timetable::kPartOfTuning))) break;
  }
  work.phase = "tuning with the best dictionary";
  Choice choice;
  choice.dictionary = simplest_of_the_best(folds, begun);
  const Dictionary dictionary(dictionaries[choice.dictionary]);
  choice.models = complete_tuned(folds, std::move(begun[choice.dictionary]), ridges,
                                 search_options(work, data, dictionary, penalty, kMostJudgedSteps), on_step);
  offer_to_keep(work, choice.models.front(), dictionaries[choice.dictionary]);
  return choice;
}

Choice choose_without_tuning(Work& work, const PreparedData& data, std::span<const TuningFold> folds,
                             const std::vector<std::string>& dictionaries, const Penalty& penalty) {
  work.phase = "choosing without tuning";
  const std::vector<double> ridges = work.plan.ridges();
  std::vector<Models> all;
  for (const std::string& features : dictionaries) {
    const Dictionary dictionary(features);
    all.push_back(select_untuned(folds, {&penalty.ridge, 1}, ridges,
                                 search_options(work, data, dictionary, penalty, 0), progress_of(work)));
  }
  const std::size_t chosen = simplest_of_the_best(folds, all);
  return {chosen, std::move(all[chosen])};
}

// The tuned model of some rows, learned from all that are given.
TunedModel repeated(Work& work, const PreparedData& data, const TunedModel& found,
                    const std::string& features, Deadline end) {
  const Dictionary dictionary(features);
  TunedSearchOptions options = search_options(work, data, dictionary, {found.ridge, 0}, 0);
  options.deadline = options.end = end;
  return with_all_rows(data.problem(work.workers), found, options, progress_of(work));
}

Learned as_learned(Work& work, const PreparedData& data, const TunedModel& found,
                   const std::string& features) {
  const Control::NoStop until_done(work.control);
  PreparedData seen = data;
  seen.stretch(found.stretch);
  const Problem problem = seen.problem(work.workers);
  Learned learned;
  learned.active = found.active;
  FittedCoefficients fitted = fit_coefficients(problem, found.ridge, learned.active);
  learned.refit = std::move(fitted.refit);
  learned.converged = fitted.converged;
  learned.stretch = found.stretch;
  learned.ridge = found.ridge;
  learned.engine = "lazy";
  learned.features = features;
  learned.candidates = found.candidates;
  learned.sigmas = found.sigmas;
  learned.kernel_weights = found.kernel_weights;
  learned.initial_risk = loss_sum(problem, ScoreFunction({}, {}, problem.best_constants())) / problem.count();
  learned.risk = loss_sum(problem, learned.score()) / problem.count();
  for (const TuningRound& round : found.rounds) {
    PathStep& step = learned.path.emplace_back();
    step.terms = round.terms;
    step.risk = round.risk;
    step.ridge = round.ridge;
    step.seconds = round.seconds;
    step.tuning_steps = round.steps;
  }
  learned.path.back().risk = learned.risk;
  return learned;
}

}  // namespace

std::optional<JudgedRows> judged_rows(Work& work, const PreparedData& data, const Candidates& candidates,
                                      EngineKind engine) {
  constexpr Index kFolds = 3;  // that are held out, of the four to choose with
  if (!work.plan.judges_tuning) return std::nullopt;
  const CrossValidationOptions validation = affordable(work, quick_validation(), &candidates, engine);
  const Folds folds(data.rows.rows(), validation, work.plan.options.seed);
  JudgedRows rows{folds.without_last(kFolds), folds.held_out(folds.groups() - 1)};
  if (fold_of_one_class(data, rows.choosing)) return std::nullopt;
  return rows;
}

TuningChoice choose_tuning(Work& work, const PreparedData& data, const JudgedRows& rows,
                           const AutomaticDictionaries& dictionaries, double ridge) {
  const Penalty penalty{ridge, 0};
  const ChoosingFolds choosing(work, data, rows.choosing);
  const Choice with = choose_with_tuning(work, data, choosing.folds(), dictionaries.list, penalty);
  const bool is_cut = is_over(work.plan.times.deadline(Timetable::kPartOfTuning));
  const Choice without = choose_without_tuning(work, data, choosing.folds(), dictionaries.list, penalty);

  // Both are learned from all rows that were chosen with, and compared on rows that nobody has seen.
  work.phase = "comparing with no tuning";
  const FoldData judge = fold_data(work, data, nullptr, rows.choosing.all(), rows.judge);
  const Problem judged = judge.held_out.problem(work.workers);
  const auto losses_of = [&](const TunedModel& model) {
    const BlockedRows seen = model.seen(judge.held_out.rows);
    return row_losses(judged.with_rows(seen), model.active.score());
  };
  TuningChoice choice;
  const std::string& tuned_features = dictionaries.list[with.dictionary];
  const TunedModel tuned =
      repeated(work, judge.training, with.models.front(), tuned_features, end_of_tuning(work));
  const Dictionary dictionary(dictionaries.list[without.dictionary]);
  const double untuned_ridge = without.models.front().ridge;
  const TunedModel untuned =
      select_all(judge.training.problem(work.workers),
                 search_options(work, data, dictionary, {untuned_ridge, 0}, 0), progress_of(work));
  const PairedLosses losses =
      paired_losses(losses_of(untuned), losses_of(tuned), judge.held_out.rows.weights());
  const double unit = data.target.loss_unit();
  work.report.tuning.held_out_without = unit * losses.first;
  work.report.tuning.held_out_with = unit * losses.second;
  // Tuning is the better bet: it is left out where it is worse beyond chance. Of few rows it can make more
  // than there is: there it must be better beyond chance.
  constexpr Index kFewRows = 1000;
  const double least_gain = (data.rows.rows() < kFewRows ? 1 : -1) * losses.standard_error;
  const bool gains = losses.first - losses.second > least_gain;
  if (is_cut) work.report.cut_short.emplace_back("tuning");
  choice.ridge = untuned_ridge;
  choice.features = gains ? tuned_features : dictionaries.list[without.dictionary];
  if (gains) {
    choice.tuned = with.models.front();
  } else {
    work.report.tuning.reason = is_cut ? "held-out rows do not gain by what the time limit left of it"
                                       : "held-out rows do not gain by it";
  }
  return choice;
}

Learned learn_tuned(Work& work, const PreparedData& data, const TuningChoice& choice) {
  work.phase = "";
  TunedModel model = *choice.tuned;
  try {
    model = repeated(work, data, *choice.tuned, choice.features, work.plan.times.deadline());
  } catch (const OutOfTime&) {
    work.report.cut_short.emplace_back("tuning again with all rows (the coefficients are fitted to all)");
  }
  return as_learned(work, data, model, choice.features);
}

std::optional<Learned> learn_tuned_by_steps(Work& work, const PreparedData& data, const std::string& features,
                                            double ridge) {
  const Dictionary dictionary(features);
  try {
    const TunedModel found =
        tune_in_rounds(data.problem(work.workers),
                       search_options(work, data, dictionary, {ridge, 0}, work.plan.options.tune.steps()),
                       progress_of(work));
    // Later rounds only selected terms, or were not begun.
    if (found.active.size() < found.rounds.back().wanted ||
        found.rounds.back().wanted < work.plan.options.terms ||
        is_over(work.plan.times.deadline(Timetable::kPartOfTuning)))
      work.report.cut_short.emplace_back("tuning");
    return as_learned(work, data, found, features);
  } catch (const OutOfTime&) {
    work.report.tune_seconds = work.lap();
    work.report.tuning.reason = work.control.is_stopped() ? "it was stopped before it was done"
                                                          : "the time limit came before it was done";
    work.report.cut_short.emplace_back("tuning");
    return std::nullopt;
  }
}

int learn_metric_of(Work& work, PreparedData& data, const Dictionary& dictionary) {
  const Metric kind = work.plan.options.metric;
  const bool is_full = kind == Metric::kFull;
  if (is_full && work.report.features.find("additive") != std::string::npos) {
    throw Error(ErrorKind::kInvalidArgument,
                "`metric=full` mixes inputs, and additive features are for inputs that are not negative; "
                "use `metric=diagonal`");
  }
  CrossValidationOptions validation = quick_validation();
  validation.used_folds = 1;
  if (data.rows.rows() < validation.folds * kFewestRows) return 0;
  const Folds folds(data.rows.rows(), validation, work.plan.options.seed);
  if (fold_of_one_class(data, folds)) return 0;
  const PreparedData training = data.subset(folds.training(0));
  const PreparedData held_out = data.subset(folds.held_out(0));
  const LearnedMetric metric = learn_metric(
      training.problem(work.workers), {held_out.rows, held_out.target.values}, kind, work.plan.ridges(),
      search_options(work, data, dictionary, work.plan.penalty, 0), progress_of(work));
  if (metric.rounds == 0) return 0;
  if (is_full) {
    data.mix(metric.mixing);
    return metric.rounds;
  }
  std::vector<double> factors;
  for (Index j = 0; j < metric.mixing.rows; ++j) factors.push_back(metric.mixing(j, j));
  data.stretch(factors);
  return metric.rounds;
}

}  // namespace mfga
