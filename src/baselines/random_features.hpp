// The paper's random-feature methods, which choose all their atoms cos(<w, x> + b) at once:
//
//   RKS   M random features (Rahimi and Recht 2009);
//   EERF  the M of M0 candidates with the largest |mean of y times the feature| (Shahrampour et al. 2018);
//   LKRF  M0 candidates weighted by kernel alignment (Sinha and Duchi 2016); the M largest weights q are kept
//   and
//         multiply the features by sqrt(q).
//
// Candidates are scored tile by tile; no matrix of all rows and candidates exists.
#pragma once

#include <cstdint>
#include <vector>

#include "mfga/paper.hpp"
#include "solve/problem.hpp"

namespace mfga {

struct RandomFeatureOptions {
  paper::Method method = paper::Method::kRks;  // or kEerf, kLkrf
  Index terms = 0;                             // M
  Index candidates = 0;                        // M0
  double sigma = 1;
  std::uint64_t seed = 0;
};

// The atoms, best first where they have an order.
[[nodiscard]] std::vector<Atom> choose_random_features(const Problem& problem,
                                                       const RandomFeatureOptions& options);

// The chi-square radius of LKRF as a fraction of the number of candidates.
inline constexpr double kAlignmentRadius = 0.005;

}  // namespace mfga
