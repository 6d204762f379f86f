// What the choice of a tuned model and the fit of all rows have in common.
#pragma once

#include <array>
#include <string>

#include "model/learners.hpp"

namespace mfga {

// Numbers of terms, below those after the rounds of a tuned search, that held-out rows may choose. Each has a
// search of its own: what was tuned for 10 terms is not a good start for 200.
inline constexpr std::array<Index, 2> kSmallSizes = {10, 20};

[[nodiscard]] TunedSearchCallback progress_of(const Work& work);
// As what there is, if the caller wants an end.
void offer_to_keep(Work& work, const TunedModel& model, const std::string& features);
// When tuning with held-out rows is given up, so that there is time for a fit of all rows.
[[nodiscard]] Deadline end_of_tuning(const Work& work);
[[nodiscard]] TunedSearchOptions search_options(const Work& work, const PreparedData& data,
                                                const Dictionary& dictionary, const Penalty& penalty,
                                                int steps);
// The tuned model of some rows, learned from all that are given.
[[nodiscard]] TunedModel repeated(Work& work, const PreparedData& data, const TunedModel& found,
                                  const std::string& features, Deadline end);

}  // namespace mfga
