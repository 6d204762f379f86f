// One tuning of the terms of a fold, and the places where held-out rows may end it.
#pragma once

#include <vector>

#include "solve/tuned_search.hpp"

namespace mfga {

// Where a tuning may end.
struct TuningStop {
  Tuned state;
  double held_out_loss = 0;  // the sum
  friend void archive(Archive& bytes, TuningStop& stop) { bytes(stop.state, stop.held_out_loss); }
};

// All stops, or the end alone if no rows are held out.
[[nodiscard]] std::vector<TuningStop> tuned(const TuningFold& fold, const TunedModel& model, int most_steps,
                                            const TunedSearchOptions& options,
                                            const TunedSearchCallback& on_step);
// How many steps there may be where the loss of held-out rows keeps falling.
[[nodiscard]] int most_steps_while_falling(int most_steps);

// The stretch of the inputs after a tuning that began with the model.
[[nodiscard]] std::vector<double> stretch_of(const TunedModel& model, const Tuned& tuned);

}  // namespace mfga
