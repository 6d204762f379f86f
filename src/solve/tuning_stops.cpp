#include "solve/tuning_stops.hpp"

#include <algorithm>
#include <array>

namespace mfga {
namespace {

// Tuning is stopped to ask the held-out rows after so many steps: what one step more does matters less the
// more there were.
constexpr std::array kStops = {0, 1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 90, 128};
// And it ends where their loss has not fallen at so many stops.
constexpr std::size_t kPatience = 3;
// Of few steps, as in the first heat of a race, there may be so many times as many, as long as their loss
// falls by such a part from stop to stop: some descents are slow to begin, and stopped there they say
// nothing.
constexpr int kMoreWhileFalling = 4;
constexpr double kFalling = 0.1;

// The sum over the held-out rows.
double held_out_loss(const TuningFold& fold, const ActiveSet& active, const std::vector<double>& stretch) {
  const BlockedRows rows = fold.held_out->rows.stretched(stretch);
  return loss_sum(fold.held_out_problem(rows), active.score());
}

// Whether there may be another step, at a stop or between two.
bool goes_on(const std::vector<TuningStop>& stops, std::size_t best, int step, int most_steps) {
  if (stops.size() - best > kPatience) return false;
  if (step < most_steps) return true;
  const double before = stops[stops.size() - 2].held_out_loss;
  return stops.back().held_out_loss <= (1 - kFalling) * before;
}

}  // namespace

int most_steps_while_falling(int most_steps) {
  return std::max(most_steps, std::min(kMoreWhileFalling * most_steps, kStops.back()));
}

std::vector<double> stretch_of(const TunedModel& model, const Tuned& tuned) {
  std::vector<double> stretch = model.stretch;
  for (std::size_t j = 0; j < stretch.size(); ++j) stretch[j] *= tuned.stretch[j];
  return stretch;
}

std::vector<TuningStop> tuned(const TuningFold& fold, const TunedModel& model, int most_steps,
                              const TunedSearchOptions& options, const TunedSearchCallback& on_step) {
  const Problem& problem = fold.problem;
  const BlockedRows rows = problem.rows.stretched(model.stretch);
  std::vector<TuningStop> stops;
  std::size_t best = 0;
  const auto stop_at = [&](const Tuned& state) {
    stops.push_back({state, held_out_loss(fold, state.active, stretch_of(model, state))});
    if (stops.back().held_out_loss < stops[best].held_out_loss) best = stops.size() - 1;
  };
  if (fold.held_out) stop_at({model.active, std::vector<double>(model.stretch.size(), 1.0), 0, 0});
  const int limit = fold.held_out ? most_steps_while_falling(most_steps) : most_steps;
  const Tuned last =
      tune(problem.with_rows(rows), model.active, {model.ridge, limit, options.pull, model.stretches_inputs},
           [&](const Tuned& state) {
             stop_if_over(options.end);
             if (on_step) on_step(state.active.size(), state.step, state.objective / rows.total_weight());
             if (fold.held_out && std::ranges::binary_search(kStops, state.step)) stop_at(state);
             return (stops.empty() || goes_on(stops, best, state.step, most_steps)) && !options.is_late();
           });
  if (!fold.held_out) return {{last, 0}};
  if (stops.back().state.step < last.step) stop_at(last);
  return stops;
}

}  // namespace mfga
