// One fit, from the data to the model and its report.
#pragma once

#include "model/learners.hpp"

namespace mfga {

// `journal`: where what is found on the way is kept, or null.
[[nodiscard]] FitResult one_fit(const TrainingData& data, const CountedRows& counted, const Plan& plan,
                                Workers& workers, Control& control, Journal* journal);

}  // namespace mfga
