// Eigenvalues and eigenvectors. In a file of its own, since the solver takes long to compile.
#pragma once

#include <vector>

#include "mfga/views.hpp"

namespace mfga {

struct SymmetricEigen {
  std::vector<double> values;  // ascending
  Matrix vectors;              // row i belongs to values[i]
};

// Of a symmetric matrix, of which the lower triangle counts.
[[nodiscard]] SymmetricEigen symmetric_eigen(const Matrix& matrix);
[[nodiscard]] std::vector<double> symmetric_eigenvalues(const Matrix& matrix);

}  // namespace mfga
