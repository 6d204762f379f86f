// Selection and tuning in turns, and the learned metric: what held-out rows decide about moved atoms.
#include <fmt/format.h>

#include <algorithm>

#include "mfga/error.hpp"
#include "model/fitter.hpp"
#include "solve/learned_metric.hpp"

namespace mfga {
namespace {

// Of models with dictionaries from the simplest on, the first whose held-out loss is within a standard error
// of the smallest one: held-out rows cannot tell the two.
std::size_t simplest_of_the_best(std::span<const TuningFold> folds,
                                 const std::vector<std::vector<TunedModel>>& models) {
  const auto loss = [](const std::vector<TunedModel>& tried) { return tried.front().held_out(); };
  const auto best = std::ranges::min_element(models, {}, loss);
  const std::vector<double> smallest = held_out_losses(folds, *best);
  const auto is_as_good = [&](const std::vector<TunedModel>& tried) {
    const PairedLosses losses = paired_losses(held_out_losses(folds, tried), smallest);
    return losses.first - losses.second <= losses.standard_error;
  };
  return static_cast<std::size_t>(std::find_if(models.begin(), best, is_as_good) - models.begin());
}

}  // namespace

bool Fitter::learn_tuned() {
  static_cast<void>(lap());
  const TunedSearchCallback on_step = tuning_progress();
  std::optional<TunedModel> found =
      options_.tune == "auto" ? tuned_automatically(on_step) : tuned_by_steps(on_step);
  if (!found) return false;
  stretch_inputs(found->stretch);
  penalty_.ridge = found->ridge;
  const FittedCoefficients fitted = fit_coefficients(problem(), found->ridge, found->active);
  report().tuning.is_used = true;
  report().engine = "lazy";
  report().candidates = found->candidates;
  report().sigmas = found->sigmas;
  report().kernel_weights = found->kernel_weights;
  report().fit_seconds = lap();
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

std::optional<TunedModel> Fitter::tuned_by_steps(const TunedSearchCallback& on_step) {
  const Dictionary dictionary(settings_.features);
  try {
    TunedModel found =
        tune_in_rounds(problem(), tuned_search_options(dictionary, std::stoi(options_.tune)), on_step);
    // Later rounds only selected terms.
    if (is_over(deadline(kPartOfTuning))) report().cut_short.emplace_back("tuning");
    return found;
  } catch (const OutOfTime&) {
    report().tune_seconds = lap();
    report().tuning.reason = "the time limit came before it was done";
    report().cut_short.emplace_back("tuning");
    return std::nullopt;
  }
}

std::optional<TunedModel> Fitter::tuned_automatically(const TunedSearchCallback& on_step) {
  std::optional<TunedModel> found;
  try {
    // Tuning takes many times as long as the choice of the ridge.
    if (validation_ != nullptr && cross_validation_.ridges.empty()) throw OutOfTime();
    stop_if_over(deadline(kPartOfTuning));
    found = tuned_with_held_out_rows(on_step);
  } catch (const OutOfTime&) {
    report().tuning.reason = "the time limit came before it was done";
    report().cut_short.emplace_back("tuning");
    report().features = settings_.features;
  }
  report().tune_seconds = lap();
  if (!found) return found;
  phase_ = "";
  const Dictionary dictionary(report().features);
  TunedSearchOptions options = tuned_search_options(dictionary, 0);
  options.deadline = options.end = deadline();
  try {
    return with_all_rows(problem(), *found, options, on_step);
  } catch (const OutOfTime&) {
    report().cut_short.emplace_back("tuning again with all rows (the coefficients are fitted to all)");
    return found;
  }
}

std::optional<TunedModel> Fitter::tuned_with_held_out_rows(const TunedSearchCallback& on_step) {
  constexpr int kMostSteps = 128;
  constexpr Index kFolds = 3;  // of five
  const std::vector<TuningSplit> splits = tuning_splits(kFolds);
  if (splits.empty()) {
    report().tuning.reason = "there are too few rows to hold some out";
    return std::nullopt;
  }
  std::vector<TuningFold> folds;
  for (const TuningSplit& split : splits) folds.push_back({split.training(*this), split.held_out()});
  const std::vector<std::string>& dictionaries = dictionaries_.list;
  const std::vector<double> ridges = tuning_ridges();
  std::vector<std::vector<TunedModel>> begun;
  for (const std::string& features : dictionaries) {
    phase_ = fmt::format("tuning with dictionary {} of {}", &features - dictionaries.data() + 1,
                         dictionaries.size());
    const Dictionary dictionary(features);
    begun.push_back(begin_tuned(folds, ridges, tuned_search_options(dictionary, kMostSteps), on_step));
    if (is_over(deadline(kPartOfTuning))) break;
  }
  phase_ = "tuning with the best dictionary";
  const std::size_t chosen = simplest_of_the_best(folds, begun);
  const Dictionary dictionary(dictionaries[chosen]);
  const std::vector<TunedModel> best = complete_tuned(folds, std::move(begun[chosen]), ridges,
                                                      tuned_search_options(dictionary, kMostSteps), on_step);
  const bool is_cut = is_over(deadline(kPartOfTuning));  // the comparison may take longer
  phase_ = "comparing with no tuning";
  // The same without tuning. Landmarks alone, which come after the whole dictionary, are for tuning.
  std::vector<std::vector<TunedModel>> untuned;
  for (std::size_t i = 0; i <= dictionaries_.whole; ++i) {
    const Dictionary tried(dictionaries[i]);
    TunedSearchOptions options = tuned_search_options(tried, 0);
    options.terms_per_round = options_.terms;
    untuned.push_back(begin_tuned(folds, {&penalty_.ridge, 1}, options, on_step));
  }
  const std::size_t chosen_untuned = simplest_of_the_best(folds, untuned);
  const std::vector<TunedModel>& without = untuned[chosen_untuned];
  const PairedLosses losses = paired_losses(held_out_losses(folds, without), held_out_losses(folds, best));
  const double unit = target_.scale * target_.scale;
  report().tuning.held_out_without = unit * losses.first;
  report().tuning.held_out_with = unit * losses.second;
  // Standard errors that the gain must be above. Few rows that were asked many times say yes by chance.
  constexpr Index kFewRows = 1000;
  const double beyond_chance = rows_.rows() < kFewRows ? 2 : 1;
  const bool gains = losses.first - losses.second > beyond_chance * losses.standard_error;
  report().features = dictionaries[gains ? chosen : chosen_untuned];
  if (is_cut) report().cut_short.emplace_back("tuning");
  if (gains) return best.front();
  report().tuning.reason = is_cut ? "held-out rows do not gain by what the time limit left of it"
                                  : "held-out rows do not gain by it beyond chance";
  return std::nullopt;
}

std::vector<Fitter::TuningSplit> Fitter::tuning_splits(Index count) const {
  CrossValidationOptions validation = affordable(quick_validation());
  validation.used_folds = count;
  const Folds folds(rows_.rows(), validation, options_.seed);
  std::vector<TuningSplit> splits;
  if (!can_validate_quickly(data_) || fold_of_one_class(folds)) return splits;
  for (Index fold = 0; fold < folds.count(); ++fold) {
    const std::vector<Index> training = folds.training(fold);
    const std::vector<Index>& held_out = folds.held_out(fold);
    splits.push_back({rows_.subset(training), values_of(target_.values, training), rows_.subset(held_out),
                      values_of(target_.values, held_out)});
  }
  return splits;
}

std::vector<double> Fitter::tuning_ridges() const {
  return validation_ != nullptr ? validation_->ridges : std::vector<double>{penalty_.ridge};
}

TunedSearchCallback Fitter::tuning_progress() const {
  return [this](Index terms, int step, double risk) {
    Progress state{terms, options_.terms, risk, seconds_since(start_)};
    state.tuning_steps = step;
    state.phase = phase_;
    return !progress_ || progress_(state);
  };
}

TunedSearchOptions Fitter::tuned_search_options(const Dictionary& dictionary, int steps) const {
  constexpr Index kRounds = 4;
  constexpr Index kMostTerms = 40;
  constexpr double kPull = 1;
  return {dictionary,
          search_options(),
          precision(),
          options_.seed,
          settings_.select == "normalised",
          options_.tune_every > 0 ? options_.tune_every
                                  : std::min(kMostTerms, (options_.terms + kRounds - 1) / kRounds),
          steps,
          kPull,
          text_columns_,
          deadline(kPartOfTuning),
          end_of_tuning(),
          width_rule()};
}

Deadline Fitter::end_of_tuning() const {
  if (options_.time_limit == 0) return kNever;
  const auto fit =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds_of_a_fit_));
  return std::min(deadline(kPartOfComparing), deadline() - fit);
}

void Fitter::learn_metric_of_inputs(const Dictionary& dictionary) {
  const bool is_full = options_.metric == "full";
  if (is_full && settings_.features.find("additive") != std::string::npos) {
    throw Error(ErrorKind::kInvalidArgument,
                "--metric full mixes inputs, and additive features are for inputs that are not negative; "
                "use --metric diagonal");
  }
  const std::vector<TuningSplit> splits = tuning_splits(1);
  if (splits.empty()) return;
  const LearnedMetric metric =
      learn_metric(splits.front().training(*this), splits.front().held_out(),
                   is_full ? MetricKind::kFull : MetricKind::kDiagonal, tuning_ridges(),
                   tuned_search_options(dictionary, 0), tuning_progress());
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

void Fitter::stretch_inputs(const std::vector<double>& factors) {
  rows_ = rows_.stretched(factors);
  if (rows_.mixing() != nullptr) return;  // they are in the combinations
  for (std::size_t j = 0; j < inputs_.size(); ++j) {
    inputs_[j].stretch *= factors[j];
    model().inputs[j].stretch = inputs_[j].stretch;
  }
}

}  // namespace mfga
