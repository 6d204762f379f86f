// What a tuned search has found: as it was before, by held-out rows, and as bytes.
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

HeldOutLosses held_out_losses(std::span<const TuningFold> folds, std::span<const TunedModel> models) {
  HeldOutLosses result;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    const BlockedRows rows = models[f].seen(folds[f].held_out->rows);
    const std::vector<double> more = row_losses(folds[f].held_out_problem(rows), models[f].active.score());
    result.losses.insert(result.losses.end(), more.begin(), more.end());
    result.weights.insert(result.weights.end(), rows.weights().begin(), rows.weights().end());
  }
  return result;
}

PairedLosses paired_losses(const HeldOutLosses& first, const HeldOutLosses& second) {
  return paired_losses(first.losses, second.losses, first.weights);
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
        model.kernel_weights, model.rounds, model.states);
}

}  // namespace mfga
