#include "solve/independent_atoms.hpp"

#include "mfga/error.hpp"

namespace mfga {

IndependentAtoms::IndependentAtoms(const Problem& problem, Refit& refit)
    : refit_(refit), has_intercept_(problem.intercept == Intercept::kUnpenalised) {
  const double rows = static_cast<double>(problem.rows.rows());
  if (has_intercept_ && !factor_.append({&rows, 1}, 0)) {
    throw Error(ErrorKind::kBadData, "there are no rows to learn from");
  }
}

std::vector<bool> IndependentAtoms::add(const Matrix& products) {
  const Index n_before = products.cols - 2 - products.rows;
  std::vector<bool> result;
  std::vector<Index> accepted;  // positions in the batch
  for (Index i = 0; i < products.rows; ++i) {
    // The atom's products with 1, y, the atoms before the batch, those accepted from it, and itself.
    std::vector<double> row(products.row(i), products.row(i) + 2 + n_before);
    for (const Index j : accepted) row.push_back(products(i, 2 + n_before + j));
    row.push_back(products(i, 2 + n_before + i));
    std::vector<double> gram_row(row.begin() + 2, row.end());
    if (has_intercept_) gram_row.insert(gram_row.begin(), row[0]);
    result.push_back(factor_.append(gram_row, kDependenceTolerance));
    if (!result.back()) continue;
    accepted.push_back(i);
    refit_.append(row);
  }
  return result;
}

}  // namespace mfga
