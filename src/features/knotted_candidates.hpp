// Steps and hinges of single inputs, all knots of an input together. Between two neighbouring knots each of
// these functions is linear, so that sums over rows follow from a few sums over the rows of each bin, the
// values between two knots: a row costs the same for any number of knots.
#pragma once

#include <memory>
#include <vector>

#include "features/family.hpp"

namespace mfga {

// What stands at each knot.
enum class KnotShape {
  kStep,    // one atom, 1 where x >= knot
  kHinges,  // two, max(0, x - knot) and max(0, knot - x)
};

// The atoms as candidates. They are listed input by input; those of an input have ascending knots, their
// first parameters, and one nu.
[[nodiscard]] std::unique_ptr<CandidateFamily> knotted_candidates(const FeatureFamily& family,
                                                                  const std::vector<Atom>& atoms,
                                                                  KnotShape shape);

}  // namespace mfga
