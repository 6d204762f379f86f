// What a tuned search begins with and has found: as it was before, and as bytes.
#include "solve/tuned_search.hpp"

#include <algorithm>
#include <cmath>

namespace mfga {

TunedModel TunedModel::after(std::size_t count) const {
  TunedModel model = *this;
  model.rounds.resize(count);
  model.states.resize(count);
  const TunedState& state = *states[count - 1];
  model.active = state.active;
  model.stretch = state.stretch;
  model.ridge = state.ridge;
  return model;
}

std::vector<TunedModel> nothing_tuned(std::span<const TuningFold> folds, double ridge,
                                      bool stretches_inputs) {
  TunedModel model;
  model.stretch.assign(static_cast<std::size_t>(folds.front().problem.rows.inputs()), 1.0);
  model.ridge = ridge;
  model.stretches_inputs = stretches_inputs;
  return std::vector<TunedModel>(folds.size(), model);
}

std::vector<TunedModel> begun_again(std::span<const TunedModel> models, bool stretches_inputs) {
  std::vector<TunedModel> result;
  for (const TunedModel& model : models) {
    Archive::require(model.begun != nullptr);  // only a file may have left it out
    result.push_back(*model.begun);
    result.back().stretches_inputs = stretches_inputs;
  }
  return result;
}

void archive(Archive& bytes, Tuned& tuned) {
  bytes(tuned.active, tuned.stretch, tuned.objective, tuned.step);
}

void archive(Archive& bytes, TuningRound& round) {
  bytes(round.wanted, round.terms, round.select_ridge, round.ridge, round.steps, round.risk, round.held_out,
        round.seconds);
}

void archive(Archive& bytes, TunedState& state) { bytes(state.active, state.stretch, state.ridge); }

namespace {

void archive_without_begin(Archive& bytes, TunedModel& model) {
  bytes(model.active, model.stretch, model.ridge, model.stretches_inputs, model.candidates, model.sigmas,
        model.kernel_weights, model.rounds, model.states, model.is_enough);
}

// Candidates are those of other searches: no atom has a number among them any more.
bool is_possible_state(const ActiveSet& active, std::span<const double> stretch, double ridge,
                       const Problem& problem, Index terms) {
  return is_possible(active, problem, 0, terms) && are_stretches(stretch, problem) && std::isfinite(ridge) &&
         ridge >= 0;
}

}  // namespace

void archive(Archive& bytes, TunedModel& model) {
  archive_without_begin(bytes, model);
  // What it began with has no such model itself.
  bool has_begun = model.begun != nullptr;
  bytes(has_begun);
  TunedModel begun;
  if (has_begun && !bytes.is_loading()) begun = *model.begun;
  if (has_begun) archive_without_begin(bytes, begun);
  if (bytes.is_loading()) model.begun = has_begun ? std::make_shared<TunedModel>(std::move(begun)) : nullptr;
}

bool are_stretches(std::span<const double> stretch, const Problem& problem) {
  return std::ssize(stretch) == problem.rows.inputs() &&
         std::ranges::all_of(stretch, [](double factor) { return std::isfinite(factor) && factor > 0; });
}

bool is_possible(const Tuned& tuned, const Problem& problem, Index terms) {
  return is_possible_state(tuned.active, tuned.stretch, 0, problem, terms) && tuned.step >= 0;
}

bool is_possible(const TunedModel& model, const Problem& problem, Index terms) {
  constexpr int kMostSteps = 100'000;  // of all tunings after a round
  return is_possible_state(model.active, model.stretch, model.ridge, problem, terms) &&
         model.states.size() == model.rounds.size() &&
         (!model.begun || is_possible(*model.begun, problem, terms)) &&
         std::ranges::all_of(model.states,
                             [&](const auto& state) {
                               return is_possible_state(state->active, state->stretch, state->ridge, problem,
                                                        terms);
                             }) &&
         std::ranges::all_of(model.rounds, [&](const TuningRound& round) {
           return round.wanted >= 0 && round.wanted <= terms && round.steps >= 0 &&
                  round.steps <= kMostSteps && std::isfinite(round.ridge) && round.ridge >= 0 &&
                  std::isfinite(round.select_ridge) && round.select_ridge >= 0;
         });
}

bool are_possible(std::span<const TunedModel> models, std::span<const TuningFold> folds, Index terms) {
  if (models.size() != folds.size()) return false;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    if (!is_possible(models[f], folds[f].problem, terms) ||
        models[f].rounds.size() != models.front().rounds.size())
      return false;
  }
  return true;
}

}  // namespace mfga
