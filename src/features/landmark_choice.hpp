// Which training rows become landmarks.
#pragma once

#include "features/family.hpp"
#include "features/kernel.hpp"

namespace mfga {

enum class LandmarkChoice { kRandom, kSpread, kGreedy };

inline constexpr FamilyOption kLandmarkChoiceOption = {
    "choose", "random|kmeans++|greedy", "random",
    "how landmarks are chosen; kmeans++: far from each other, by D^2 sampling out of 20000 random rows; "
    "greedy: each where the others leave most of the kernel unexplained (pivoted Cholesky), out of 10 random "
    "rows per landmark, 20000 at most"};
[[nodiscard]] LandmarkChoice parse_landmark_choice(std::string_view text);

// The chosen rows, [landmarks x inputs]: `count`, or fewer if there are not as many (different) rows.
// `family` is for the message if there are no training rows.
[[nodiscard]] Matrix choose_landmarks(LandmarkChoice choice, Index count, const Kernel& kernel,
                                      const CandidateContext& context, std::string_view family);

}  // namespace mfga
