#pragma once

#include "model/learners.hpp"

namespace mfga {

// What the report says of the choices by held-out rows.
void archive_choices(Archive& bytes, FitReport& report);
// Whether what a file says of them can be so: of these dictionaries, for a problem and so many candidates and
// terms.
[[nodiscard]] bool are_possible_choices(const FitReport& report, std::span<const std::string> dictionaries);
[[nodiscard]] bool is_possible(const TuningChoice& choice, std::span<const std::string> dictionaries,
                               const Problem& problem, Index terms);
[[nodiscard]] bool is_possible(const BestOfSomeRows& best, std::span<const std::string> dictionaries,
                               const Problem& problem, Index candidates, Index terms);
void archive(Archive& bytes, TriedSize& size);
void archive(Archive& bytes, TriedDictionary& tried);
void archive(Archive& bytes, TuningReport& tuning);
void archive(Archive& bytes, TriedScales& scales);

}  // namespace mfga
