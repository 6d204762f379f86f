// Selection and tuning in turns, from all rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "core/short_number.hpp"
#include "features/tunable_atoms.hpp"
#include "mfga/error.hpp"
#include "model/tuning_work.hpp"
#include "solve/learned_metric.hpp"

namespace mfga {
namespace {

// What tuning has moved, in numbers of few digits: held-out rows do not tell them from the exact ones, and
// files and formulas are shorter. The coefficients are fitted afterwards.
TunedModel with_short_numbers(TunedModel model) {
  constexpr double kError = 1e-4;  // of what changes an atom a lot
  if (std::ranges::all_of(model.rounds, [](const TuningRound& round) { return round.steps == 0; }))
    return model;
  const TunableAtoms atoms(model.active.atoms);
  std::vector<double> places;
  for (const Coordinate& coordinate : atoms.coordinates())
    places.push_back(short_number(coordinate.value, kError * coordinate.unit));
  model.active.atoms = atoms.at(places);
  for (double& factor : model.stretch) factor = short_number(factor, kError * factor);
  return model;
}

Learned as_learned(Work& work, const PreparedData& data, const TunedModel& tuned,
                   const std::string& features) {
  const Control::NoStop until_done(work.control);
  const TunedModel found = with_short_numbers(tuned);
  PreparedData seen = data;
  seen.stretch(found.stretch);
  const Problem problem = seen.problem(work.workers);
  Learned learned;
  learned.active = found.active;
  const FittedCoefficients fitted = fit_coefficients(problem, found.ridge, learned.active);
  if (problem.outputs() == 1) learned.hessian = fitted.refit->hessian(found.ridge);
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

// Rows that say which terms there should be as well as all do, where there are many: every so many. Empty:
// all of them.
std::vector<Index> enough_rows(Index rows) {
  constexpr Index kEnough = 50000;
  if (rows < 2 * kEnough) return {};
  const Index apart = rows / kEnough;
  std::vector<Index> some;
  for (Index i = 0; i < rows; i += apart) some.push_back(i);
  return some;
}

// Numbers of terms after which all are tuned. With several outputs a look at the rows takes longer, and later
// rounds have more terms.
std::vector<Index> round_ends(const Plan& plan, bool tunes, Index outputs) {
  constexpr Index kRounds = 4;
  constexpr Index kMostTerms = 40;
  const Index every = plan.options.tune_every > 0
                          ? plan.options.tune_every
                          : std::min(kMostTerms, (plan.terms + kRounds - 1) / kRounds);
  std::vector<Index> ends;
  // Without tuning, small sizes are on the way to the larger ones.
  if (plan.chooses_terms && !tunes) ends.assign(kSmallSizes.begin(), kSmallSizes.end());
  const bool grows = outputs > 1 && plan.options.tune_every == 0;
  for (Index end = every; end < plan.terms; end += grows ? std::max(every, end / 2) : every) {
    if (grows && plan.terms - end < every) break;
    if (ends.empty() || end > ends.back()) ends.push_back(end);
  }
  ends.push_back(plan.terms);
  return ends;
}

// Whether a model from a file can be one of these rows.
bool is_learned(const Work& work, const PreparedData& data, const TunedModel& model) {
  return is_possible(model, data.problem(work.workers), work.plan.terms) && !model.rounds.empty();
}

}  // namespace

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
  constexpr double kPull = 1;
  const FitOptions& options = work.plan.options;
  GreedyOptions greedy = work.plan.search_options(penalty);
  greedy.journal = work.journal;
  return {dictionary,
          greedy,
          options.precision,
          options.seed,
          work.plan.select == Selection::kNormalised,
          round_ends(work.plan, steps > 0, data.problem(work.workers).outputs()),
          steps,
          kPull,
          data.text_columns,
          work.plan.times.deadline(Timetable::kPartOfTuning),
          end_of_tuning(work),
          work.plan.width_rule,
          work.most_kept_bytes,
          false,
          work.plan.chooses_terms};
}

// The tuned model of some rows, learned from all that are given.
TunedModel repeated(Work& work, const PreparedData& data, const TunedModel& found,
                    const std::string& features, Deadline end) {
  const Dictionary dictionary(features);
  TunedSearchOptions options = search_options(work, data, dictionary, {found.ridge, 0}, 0);
  options.deadline = options.end = end;
  const TunedSearchCallback on_step = progress_of(work);
  const std::vector<Index> some =
      work.plan.tries_all() ? std::vector<Index>() : enough_rows(data.rows.rows());
  if (some.empty()) {
    std::vector<Index> all(static_cast<std::size_t>(data.rows.rows()));
    std::iota(all.begin(), all.end(), Index{0});
    const PreparedData kept = data.subset(all, &work.workers);  // which keeps its warped inputs
    return with_all_rows(kept.problem(work.workers), found, options, on_step);
  }
  constexpr int kStepsWithAll = 8;
  const PreparedData part = data.subset(some, &work.workers);
  const TunedModel selected = with_all_rows(part.problem(work.workers), found, options, on_step);
  return tuned_further(data.problem(work.workers), selected, kStepsWithAll, options, on_step);
}

Learned learn_tuned(Work& work, const PreparedData& data, const TuningChoice& choice) {
  constexpr double kBefore = 0.75;  // of the time, roughly
  work.phase = "all rows";
  work.done = kBefore;
  TunedModel model = *choice.tuned;
  try {
    const auto repeat = [&] {
      model = repeated(work, data, *choice.tuned, choice.features, work.plan.times.deadline());
    };
    const auto is_model = [&] { return is_learned(work, data, model); };
    journaled_if(work.journal, "all rows", repeat, is_model, model);
  } catch (const OutOfTime&) {
    work.report.cut_short.emplace_back("tuning again with all rows (the coefficients are fitted to all)");
  }
  return as_learned(work, data, model, choice.features);
}

Learned learn_from_all(Work& work, const PreparedData& data, const Learned& found) {
  TunedModel model;
  model.active = found.active;
  model.stretch = found.stretch;
  model.ridge = found.ridge;
  TuningRound& round = model.rounds.emplace_back();
  round.wanted = round.terms = found.active.size();
  round.ridge = round.select_ridge = found.ridge;
  return as_learned(work, data, model, found.features);
}

std::optional<Learned> learn_tuned_by_steps(Work& work, const PreparedData& data, const std::string& features,
                                            double ridge) {
  const Dictionary dictionary(features);
  try {
    TunedModel found;
    const auto tune = [&] {
      found =
          tune_in_rounds(data.problem(work.workers),
                         search_options(work, data, dictionary, {ridge, 0}, work.plan.options.tune.steps()),
                         progress_of(work));
    };
    const auto is_model = [&] { return is_learned(work, data, found); };
    journaled_if(work.journal, "all rows", tune, is_model, found);
    // Later rounds only selected terms, or were not begun.
    if (found.active.size() < found.rounds.back().wanted || found.rounds.back().wanted < work.plan.terms ||
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
  if (data.rows.rows() < validation.folds * kFewestRows || !data.has_groups_for(validation.folds)) return 0;
  const Folds folds = data.folds(work.plan, validation);
  if (fold_of_one_class(data, folds)) return 0;
  const PreparedData training = data.subset(folds.training(0), &work.workers);
  const PreparedData held_out = data.subset(folds.held_out(0), &work.workers);
  LearnedMetric metric;
  const auto learn = [&] {
    metric = learn_metric(training.problem(work.workers), {held_out.rows, held_out.target.values}, kind,
                          work.plan.ridges(), search_options(work, data, dictionary, work.plan.penalty, 0),
                          progress_of(work));
  };
  const auto is_metric = [&] {
    const Index inputs = data.rows.inputs();
    return metric.rounds >= 0 && metric.mixing.rows == inputs && metric.mixing.cols == inputs &&
           std::ranges::all_of(metric.mixing.values, [](double value) { return std::isfinite(value); });
  };
  journaled_if(work.journal, "metric", learn, is_metric, metric.mixing, metric.rounds);
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
