// The paper's rule for the width of a Gaussian kernel (section 4): sigma is the mean distance of a training
// row to its 50th nearest neighbour. The mean is estimated from random query rows, each against all rows.
#pragma once

#include <cstdint>

#include "core/row_blocks.hpp"

namespace mfga {

struct NeighbourWidth {
  double sigma = 0;
  double standard_error = 0;  // of sigma, from the sampling of query rows; 0 if every row was one
  Index queries = 0;
};

// Query rows are added in batches until the standard error is at most kWidthAccuracy of the mean: a few per
// cent of the width do not show in the error of a model, while the search is a large part of a short fit.
[[nodiscard]] NeighbourWidth neighbour_width(const BlockedRows& rows, std::uint64_t seed, Workers& workers);

inline constexpr double kWidthAccuracy = 0.03;

}  // namespace mfga
