// The Cholesky factor of a large matrix, in tiles on all threads. Each tile is worked on by one task at a
// time in a fixed order, so the result does not depend on the number of threads.
#pragma once

#include <span>

#include "core/workers.hpp"
#include "mfga/views.hpp"

namespace mfga {

// Replaces the lower triangle of the square matrix by its factor L, A = L L^T; the part above the diagonal is
// not looked at. Returns false if the matrix is not positive definite.
[[nodiscard]] bool factorise_in_place(Matrix& matrix, Workers& workers);
// Solves L L^T x = b in place for each of the right-hand sides, [size x columns] row-major.
void solve_factorised(const Matrix& factor, double* right, Index columns);

}  // namespace mfga
