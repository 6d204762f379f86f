// Rows that decide their own fit: the leverage of row n is h_n = w_n a_n^T H^-1 a_n, with a_n the values of
// the intercept and the atoms there, H the Hessian of the sum of the losses with the ridge, and w_n the
// second derivative of the row's loss. It is between 0 and 1 and adds up to at most the number of
// coefficients.
#pragma once

#include <cstdint>
#include <vector>

#include "solve/problem.hpp"

namespace mfga {

struct RowLeverage {
  Index row = 0;
  double leverage = 0;
};

// The rows whose leverage is above one half and far above the average, the largest first; of more than 64
// only as many. `hessian`: the lower triangle, row by row, of the coefficients (intercept, theta) of the
// active set.
//
// One pass over the rows with a few random combinations of the atoms, whose squares estimate each leverage;
// only rows where the estimate is high are computed exactly. With few coefficients it is exact at once.
[[nodiscard]] std::vector<RowLeverage> high_leverages(const Problem& problem, const ActiveSet& active,
                                                      const std::vector<double>& hessian, std::uint64_t seed);

}  // namespace mfga
