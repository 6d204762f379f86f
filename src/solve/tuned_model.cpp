// What a tuned search begins with and has found: as it was before, and as bytes.
#include "solve/tuned_search.hpp"

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

void archive(Archive& bytes, TunedModel& model) {
  bytes(model.active, model.stretch, model.ridge, model.stretches_inputs, model.candidates, model.sigmas,
        model.kernel_weights, model.rounds, model.states, model.is_enough);
  bool has_begun = model.begun != nullptr;
  bytes(has_begun);
  if (has_begun) {
    bytes(model.begun);
  } else {
    model.begun = nullptr;
  }
}

}  // namespace mfga
