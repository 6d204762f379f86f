// What a tuned search has found: as it was before, and as bytes.
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
