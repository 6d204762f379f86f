// Selection and tuning in turns, and the learned metric: what held-out rows decide about moved atoms.
#include "mfga/error.hpp"
#include "model/automatic.hpp"
#include "model/fitter.hpp"
#include "solve/learned_metric.hpp"

namespace mfga {

bool Fitter::learn_tuned() {
  if (!(penalty_.ridge > 0)) {
    throw Error(ErrorKind::kInvalidArgument,
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
  std::vector<std::string> dictionaries = {settings_.features};
  if (options_.features.empty()) {
    for (std::string& part : automatic_parts(rows_)) dictionaries.push_back(std::move(part));
  }
  const std::vector<double> ridges = tuning_ridges();
  std::vector<TunedModel> best;
  for (const std::string& features : dictionaries) {
    const Dictionary dictionary(features);
    std::vector<TunedModel> models =
        begin_tuned(folds, ridges, tuned_search_options(dictionary, kMostSteps), on_step);
    if (best.empty() || models.front().held_out() < best.front().held_out()) {
      best = std::move(models);
      report().features = features;
    }
    if (is_late()) break;
  }
  const Dictionary chosen(report().features);
  best = complete_tuned(folds, std::move(best), ridges, tuned_search_options(chosen, kMostSteps), on_step);
  // The same without tuning.
  const Dictionary whole(settings_.features);
  TunedSearchOptions untuned = tuned_search_options(whole, 0);
  untuned.terms_per_round = options_.terms;
  const std::vector<TunedModel> without = begin_tuned(folds, {&penalty_.ridge, 1}, untuned, on_step);
  const PairedLosses losses = paired_losses(held_out_losses(folds, without), held_out_losses(folds, best));
  const double unit = target_.scale * target_.scale;
  report().tuning.held_out_without = unit * losses.first;
  report().tuning.held_out_with = unit * losses.second;
  // Standard errors that the gain must be above. Few rows that were asked many times say yes by chance.
  constexpr Index kFewRows = 1000;
  const double beyond_chance = rows_.rows() < kFewRows ? 2 : 1;
  if (losses.first - losses.second > beyond_chance * losses.standard_error) return std::move(best.front());
  report().tuning.reason = "held-out rows do not gain by it beyond chance";
  report().features = settings_.features;
  return std::nullopt;
}

std::vector<Fitter::TuningSplit> Fitter::tuning_splits(Index count) const {
  CrossValidationOptions validation = quick_validation();
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
          deadline()};
}

Fitter::Clock::time_point Fitter::deadline() const {
  if (options_.time_limit == 0) return Clock::time_point::max();
  return start_ +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.time_limit));
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
