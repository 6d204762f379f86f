#include "solve/tuned_search.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "solve/held_out_rows.hpp"
#include "solve/searchable.hpp"
#include "solve/tuned_unit.hpp"
#include "solve/tuning_stops.hpp"

namespace mfga {
namespace {

void adopt(const Tuned& tuned, TunedModel& model) {
  model.active = tuned.active;
  model.stretch = stretch_of(model, tuned);
}

class TunedSearch {
 public:
  TunedSearch(std::span<const TuningFold> folds, const TunedSearchOptions& options,
              const TunedSearchCallback& on_step)
      : folds_(folds), options_(options), on_step_(on_step), searchable_(folds.size()) {}

  // Those of the folds, with the same rounds and ridges.
  using Models = std::vector<TunedModel>;

  [[nodiscard]] Models first_round(std::span<const double> select_ridges, std::span<const double> ridges) {
    if (options_.is_race) return with_best_selection(select_ridges, ridges);
    Models best;
    for (const double ridge : select_ridges) {
      Models tried = nothing_tuned(folds_, ridge, true);
      add_round(tried, ridges);
      if (best.empty() || is_better(tried, best)) best = std::move(tried);
      if (options_.is_late()) break;
    }
    return best;
  }

  [[nodiscard]] Models with_rounds(Models models, std::size_t rounds, std::span<const double> ridges) {
    while (models.front().rounds.size() < rounds && !is_complete(models) && !has_ceased(models)) {
      Models next = with_a_round(models, ridges);
      const bool is_first = models.front().rounds.empty();
      if (!is_first && is_worse(next, models)) {
        for (TunedModel& model : models) model.is_enough = true;
        return models;
      }
      models = std::move(next);
    }
    return models;
  }

  [[nodiscard]] Models untuned(std::span<const double> select_ridges, std::span<const double> ridges) {
    Models best;
    for (const double ridge : select_ridges) {
      Models models = untuned(nothing_tuned(folds_, ridge, false), ridges);
      if (best.empty() || is_better(models, best)) best = std::move(models);
      if (options_.is_late()) break;
    }
    return best;
  }

  [[nodiscard]] Models untuned(Models models, std::span<const double> ridges) {
    if (options_.chooses_size) {
      while (!is_complete(models) && !has_ceased(models)) add_round(models, ridges);
      return models;
    }
    TuningRound round;
    round.wanted = options_.greedy.terms;
    round.select_ridge = models.front().ridge;
    select(round.wanted, models);
    round.held_out = choose_held_out_ridge(folds_, ridges, options_, models);
    round.ridge = models.front().ridge;
    finish(round, models);
    return models;
  }

  [[nodiscard]] Models complete(Models models, std::span<const double> ridges) {
    add_rounds(models, ridges);
    if (options_.is_late()) return models;
    Models unstretched = begun_again(models, false);
    add_rounds(unstretched, ridges);
    return is_better(unstretched, models) ? unstretched : models;
  }

  // Held-out rows ended the tunings of fewer rows: more rows bear more steps.
  [[nodiscard]] TunedModel repeat(const TunedModel& found) {
    constexpr int kTimesAsManySteps = 2;
    Models models = nothing_tuned(folds_, 0, found.stretches_inputs);
    for (TuningRound round : found.rounds) {
      unit(
          "round",
          [&] {
            models.front().ridge = round.select_ridge;
            select(round.wanted, models);
            models.front().ridge = round.ridge;
            if (round.steps > 0) round.steps = tune_all(kTimesAsManySteps * round.steps, models);
            finish(round, models);
          },
          models);
    }
    models.front().ridge = found.ridge;
    return models.front();
  }

  [[nodiscard]] TunedModel selected() {
    Models models = nothing_tuned(folds_, options_.greedy.penalty.ridge, false);
    TuningRound round;
    round.wanted = options_.greedy.terms;
    round.select_ridge = round.ridge = models.front().ridge;
    select(round.wanted, models);
    finish(round, models);
    return models.front();
  }

  // Ends with the rounds that are complete, if there are any.
  [[nodiscard]] TunedModel run() {
    Models models = nothing_tuned(folds_, options_.greedy.penalty.ridge, true);
    try {
      while (!is_complete(models)) {
        Models next = models;
        add_round(next, {});
        models = std::move(next);
      }
    } catch (const OutOfTime&) {
      if (models.front().rounds.empty()) throw;
    }
    return models.front();
  }

 private:
  template <class Compute>
  void unit(std::string_view label, const Compute& compute, Models& models) const {
    journaled_if(
        options_.greedy.journal, label, compute,
        [&] { return are_possible(models, folds_, options_.greedy.terms); }, models);
  }
  // The first round of the ridge with the best terms as they were selected. Larger ones are not tried once
  // held-out rows tell that they are too large.
  [[nodiscard]] Models with_best_selection(std::span<const double> select_ridges,
                                           std::span<const double> ridges) {
    Models best;
    TuningRound best_round;
    for (const double ridge : select_ridges) {
      Models tried = nothing_tuned(folds_, ridge, true);
      const TuningRound round = begin_round(tried, ridges);
      if (best.empty() || round.held_out < best_round.held_out) {
        best = std::move(tried);
        best_round = round;
      } else if (are_clearly_worse(folds_, tried, best)) {
        break;
      }
      if (options_.is_late()) break;
    }
    end_round(best_round, best, ridges);
    return best;
  }

  // Whether a round made it worse; or, where the number of terms is to be found, the last ones brought
  // nothing.
  [[nodiscard]] bool has_ceased(const Models& models) const {
    constexpr std::ptrdiff_t kVain = 2;
    const std::vector<TuningRound>& rounds = models.front().rounds;
    if (rounds.empty()) return false;
    if (models.front().is_enough) return true;
    if (!options_.chooses_size) return false;
    return rounds.end() - std::ranges::min_element(rounds, {}, &TuningRound::held_out) > kVain;
  }
  [[nodiscard]] bool is_complete(const Models& models) const {
    const std::vector<TuningRound>& rounds = models.front().rounds;
    return !rounds.empty() && rounds.back().wanted >= options_.greedy.terms;
  }
  [[nodiscard]] static bool is_better(const Models& models, const Models& others) {
    return models.front().held_out() < others.front().held_out();
  }
  // By more than a standard error, in a race.
  [[nodiscard]] bool is_worse(const Models& models, const Models& others) const {
    if (!options_.is_race) return false;
    const PairedLosses losses =
        paired_losses(held_out_losses(folds_, models), held_out_losses(folds_, others));
    return losses.first - losses.second > losses.standard_error;
  }
  // With one round more. In a race, if held-out rows lose by it, selected for a larger ridge.
  [[nodiscard]] Models with_a_round(const Models& models, std::span<const double> ridges) {
    constexpr double kLarger = 100;
    Models next = models;
    const std::vector<TuningRound>& earlier = models.front().rounds;
    if (!options_.is_race || earlier.empty()) {
      add_round(next, ridges);
      return next;
    }
    const double ridge = earlier.back().select_ridge;
    select_for(ridge, next);
    add_round(next, ridges);
    if (!ridges.empty() && kLarger * ridge <= ridges.back() && is_worse(next, models)) {
      Models other = models;
      select_for(kLarger * ridge, other);
      add_round(other, ridges);
      if (is_better(other, next)) return other;
    }
    return next;
  }
  static void select_for(double ridge, Models& models) {
    for (TunedModel& model : models) model.ridge = ridge;
  }
  [[nodiscard]] bool asks_held_out_rows() const { return folds_.front().held_out.has_value(); }

  void add_rounds(Models& models, std::span<const double> ridges) {
    while (!is_complete(models)) add_round(models, ridges);
  }

  void add_round(Models& models, std::span<const double> ridges) {
    unit(
        "round", [&] { end_round(begin_round(models, ridges), models, ridges); }, models);
  }

  // Terms are selected, but not tuned yet.
  [[nodiscard]] TuningRound begin_round(Models& models, std::span<const double> ridges) {
    const std::vector<TuningRound>& earlier = models.front().rounds;
    TuningRound round;
    const Index before = earlier.empty() ? 0 : earlier.back().wanted;
    round.wanted = *std::ranges::upper_bound(options_.round_ends, before);
    round.select_ridge = models.front().ridge;
    select(round.wanted, models);
    if (earlier.empty()) {
      for (TunedModel& model : models) model.begun = std::make_shared<TunedModel>(model);
    }
    if (asks_held_out_rows()) round.held_out = choose_held_out_ridge(folds_, ridges, options_, models);
    return round;
  }

  void end_round(TuningRound round, Models& models, std::span<const double> ridges) {
    round.ridge = models.front().ridge;
    round.steps = tune_all(options_.most_steps, models);
    if (asks_held_out_rows()) round.held_out = choose_held_out_ridge(folds_, ridges, options_, models);
    finish(round, models);
  }

  void finish(TuningRound round, Models& models) {
    double loss = 0;
    double rows = 0;
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      const BlockedRows stretched = folds_[f].problem.rows.stretched(models[f].stretch);
      loss += loss_sum(folds_[f].problem.with_rows(stretched), models[f].active.score());
      rows += stretched.total_weight();
    }
    round.risk = loss / rows;
    round.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    for (TunedModel& model : models) {
      round.terms = model.active.size();
      model.rounds.push_back(round);
      model.states.push_back(
          std::make_shared<TunedState>(TunedState{model.active, model.stretch, model.ridge}));
    }
  }

  // Adds atoms until there are so many.
  void select(Index terms, Models& models) {
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      if (models[f].active.size() >= terms) continue;
      journaled_if(
          options_.greedy.journal, "terms",
          [&] { select(terms, searchable(f, models[f].stretch), models[f]); },
          [&] { return is_possible(models[f], folds_[f].problem, options_.greedy.terms); }, models[f]);
    }
  }
  void select(Index terms, const Searchable& fold, TunedModel& model) {
    model.candidates = fold.candidates.size();
    model.sigmas = fold.candidates.sigmas();
    model.kernel_weights.assign(fold.candidates.weights().begin(), fold.candidates.weights().end());
    GreedyOptions greedy = options_.greedy;
    greedy.terms = terms;
    greedy.penalty = {model.ridge, 0};
    const auto refit = make_refit(fold.problem, greedy.penalty);
    // They are fitted again when the ridge is chosen, or with all rows at last.
    if (refit->can_be_rough()) greedy.last = Accuracy::kGood;
    const StepCallback on_step = [&](const GreedyStep& step, const ActiveSet& active) {
      stop_if_over(options_.end);
      if (on_step_) on_step_(active.size(), 0, step.risk);
    };
    model.active =
        run_greedy(fold.problem, fold.candidates, *fold.engine, *refit, greedy, on_step, model.active).active;
    std::ranges::fill(model.active.candidates, Index{-1});  // the next candidates are others
  }

  // That of the last search of the fold, if inputs are stretched as they were then: the ridges of a first
  // round, and rounds without stretches.
  [[nodiscard]] const Searchable& searchable(std::size_t fold, const std::vector<double>& stretch) {
    std::unique_ptr<Searchable>& last = searchable_[fold];
    if (last == nullptr || last->stretch != stretch) {
      last.reset();
      last = std::make_unique<Searchable>(folds_[fold].problem, stretch, options_,
                                          options_.most_kept_bytes / static_cast<double>(folds_.size()));
    }
    return *last;
  }

  // Returns the number of steps.
  int tune_all(int most_steps, Models& models) {
    if (most_steps == 0 || options_.is_late()) return 0;
    std::vector<std::vector<TuningStop>> stops;
    std::size_t most_stops = 0;
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      std::vector<TuningStop>& own = stops.emplace_back();
      const auto are_stops = [&] {
        return !own.empty() && std::ranges::all_of(own, [&](const TuningStop& stop) {
          return is_possible(stop.state, folds_[f].problem, options_.greedy.terms) &&
                 stop.state.step <= most_steps_while_falling(most_steps);
        });
      };
      journaled_if(
          options_.greedy.journal, "tuning",
          [&] { own = tuned(folds_[f], models[f], most_steps, options_, on_step_); }, are_stops, own);
      most_stops = std::max(most_stops, stops.back().size());
    }
    // A tuning that has ended stays where it is.
    const auto at = [&](std::size_t f, std::size_t i) -> TuningStop& {
      return stops[f][std::min(i, stops[f].size() - 1)];
    };
    std::size_t best = 0;
    double best_loss = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < most_stops; ++i) {
      double loss = 0;
      for (std::size_t f = 0; f < folds_.size(); ++f) loss += at(f, i).held_out_loss;
      if (!(loss < best_loss)) continue;
      best = i;
      best_loss = loss;
    }
    int steps = 0;
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      adopt(at(f, best).state, models[f]);
      steps = std::max(steps, at(f, best).state.step);
    }
    return steps;
  }

  std::span<const TuningFold> folds_;
  const TunedSearchOptions& options_;
  const TunedSearchCallback& on_step_;
  std::vector<std::unique_ptr<Searchable>> searchable_;  // of each fold, at the last stretch
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

std::vector<TunedModel> begin_tuned(std::span<const TuningFold> folds, std::span<const double> ridges,
                                    const TunedSearchOptions& options, const TunedSearchCallback& on_step) {
  std::vector<double> every_other;
  for (std::size_t i = 0; i < ridges.size(); i += 2) every_other.push_back(ridges[i]);
  TunedSearch search(folds, options, on_step);
  constexpr std::size_t kRounds = 2;
  return models_of("two rounds", folds, {}, options, [&] {
    return search.with_rounds(search.first_round(every_other, ridges), kRounds, ridges);
  });
}

std::vector<TunedModel> first_tuned_round(std::span<const TuningFold> folds,
                                          std::span<const double> select_ridges,
                                          std::span<const double> ridges, const TunedSearchOptions& options,
                                          const TunedSearchCallback& on_step) {
  return models_of("first round", folds, {}, options,
                   [&] { return TunedSearch(folds, options, on_step).first_round(select_ridges, ridges); });
}

std::vector<TunedModel> with_rounds(std::span<const TuningFold> folds, std::vector<TunedModel> models,
                                    std::size_t rounds, std::span<const double> ridges,
                                    const TunedSearchOptions& options, const TunedSearchCallback& on_step) {
  return models_of("rounds", folds, models, options,
                   [&] { return TunedSearch(folds, options, on_step).with_rounds(models, rounds, ridges); });
}

std::vector<TunedModel> complete_tuned(std::span<const TuningFold> folds, std::vector<TunedModel> begun,
                                       std::span<const double> ridges, const TunedSearchOptions& options,
                                       const TunedSearchCallback& on_step) {
  return models_of("all rounds", folds, begun, options,
                   [&] { return TunedSearch(folds, options, on_step).complete(begun, ridges); });
}

std::vector<TunedModel> select_untuned(std::span<const TuningFold> folds,
                                       std::span<const double> select_ridges, std::span<const double> ridges,
                                       const TunedSearchOptions& options,
                                       const TunedSearchCallback& on_step) {
  return models_of("untuned", folds, {}, options,
                   [&] { return TunedSearch(folds, options, on_step).untuned(select_ridges, ridges); });
}

std::vector<TunedModel> select_untuned(std::span<const TuningFold> folds, std::vector<TunedModel> begun,
                                       std::span<const double> ridges, const TunedSearchOptions& options,
                                       const TunedSearchCallback& on_step) {
  return models_of("untuned", folds, begun, options,
                   [&] { return TunedSearch(folds, options, on_step).untuned(begun, ridges); });
}

TunedModel select_all(const Problem& problem, const TunedSearchOptions& options,
                      const TunedSearchCallback& on_step) {
  const TuningFold all{problem, std::nullopt};
  return TunedSearch({&all, 1}, options, on_step).selected();
}

TunedModel tune_in_rounds(const Problem& problem, const TunedSearchOptions& options,
                          const TunedSearchCallback& on_step) {
  const TuningFold all{problem, std::nullopt};
  return TunedSearch({&all, 1}, options, on_step).run();
}

TunedModel tuned_further(const Problem& problem, TunedModel model, int steps,
                         const TunedSearchOptions& options, const TunedSearchCallback& on_step) {
  const BlockedRows rows = problem.rows.stretched(model.stretch);
  Tuned further;
  const auto tune_further = [&] {
    further = tune(problem.with_rows(rows), model.active,
                   {model.ridge, steps, options.pull, model.stretches_inputs}, [&](const Tuned& state) {
                     if (on_step)
                       on_step(state.active.size(), state.step, state.objective / rows.total_weight());
                     return !options.is_late();
                   });
  };
  const auto is_tuned = [&] {
    return is_possible(further, problem, model.active.size()) && further.step <= steps;
  };
  journaled_if(options.greedy.journal, "tuning", tune_further, is_tuned, further);
  adopt(further, model);
  model.rounds.back().steps += further.step;
  return model;
}

TunedModel with_all_rows(const Problem& problem, const TunedModel& found, const TunedSearchOptions& options,
                         const TunedSearchCallback& on_step) {
  // How much of the loss may be chance, for there is no row left to ask.
  constexpr double kAsGood = 1.2;
  constexpr int kFewSteps = 5;
  const auto refitted_risk = [&](TunedModel& model) {
    const BlockedRows rows = problem.rows.stretched(model.stretch);
    const Problem seen = problem.with_rows(rows);
    static_cast<void>(fit_coefficients(seen, model.ridge, refit_products(seen, model.active.atoms),
                                       model.active, Accuracy::kGood));
    return loss_sum(seen, model.active.score());
  };
  if (options.is_late()) return found;
  const TuningFold all{problem, std::nullopt};
  TunedModel again = TunedSearch({&all, 1}, options, on_step).repeat(found);
  TunedModel continued = found;
  if (refitted_risk(again) <= kAsGood * refitted_risk(continued)) return again;
  return tuned_further(problem, std::move(continued), kFewSteps, options, on_step);
}

}  // namespace mfga
