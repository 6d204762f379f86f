// What the bound needs from the rows, in one pass over them.
#pragma once

#include <span>
#include <vector>

#include "core/row_blocks.hpp"
#include "features/candidates.hpp"
#include "losses/loss.hpp"
#include "solve/problem.hpp"

namespace mfga {

struct RowMeasurements {
  double risk = 0;  // mean loss
  // Extreme eigenvalues of the Hessian of mean loss + (ridge / N) |theta|^2 with respect to theta.
  double smallest_curvature = 0;
  double largest_curvature = 0;
};

struct Combination {
  std::vector<Atom> atoms;
  std::vector<double> theta;
  double intercept = 0;
};

// An intercept that was fitted is minimised over for each theta, as the learner does: it takes curvature
// away.
[[nodiscard]] RowMeasurements measure_rows(const BlockedRows& rows, std::span<const double> targets,
                                           const Loss& loss, const Combination& model, Intercept intercept,
                                           double ridge, Workers& workers);

}  // namespace mfga
