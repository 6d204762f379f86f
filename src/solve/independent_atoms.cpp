#include "solve/independent_atoms.hpp"

#include "mfga/error.hpp"

namespace mfga {

IndependentAtoms::IndependentAtoms(const Problem& problem, Refit& refit)
    : refit_(refit),
      has_intercept_(problem.intercept == Intercept::kUnpenalised),
      first_atom_(1 + problem.target_columns()) {
  const double rows = problem.count();
  if (has_intercept_ && !factor_.append({&rows, 1}, 0)) {
    throw Error(ErrorKind::kBadData, "there are no rows to learn from");
  }
}

std::vector<bool> IndependentAtoms::add(const Matrix& products) {
  const Index n_before = products.cols - products.rows;
  std::vector<bool> result;
  std::vector<Index> accepted;  // positions in the batch
  for (Index i = 0; i < products.rows; ++i) {
    // The atom's products with 1, the targets, the atoms before the batch, those accepted from it, and
    // itself.
    std::vector<double> row(products.row(i), products.row(i) + n_before);
    for (const Index j : accepted) row.push_back(products(i, n_before + j));
    row.push_back(products(i, n_before + i));
    result.push_back(factor_.append(gram_row(row), kDependenceTolerance));
    if (!result.back()) continue;
    accepted.push_back(i);
    refit_.append(row);
  }
  return result;
}

bool IndependentAtoms::can_add(const Matrix& products, Index position) const {
  const Index n_before = products.cols - products.rows;
  std::vector<double> row(products.row(position), products.row(position) + n_before);
  row.push_back(products(position, n_before + position));
  return factor_.can_append(gram_row(row), kDependenceTolerance);
}

std::vector<double> IndependentAtoms::gram_row(std::span<const double> products) const {
  std::vector<double> row(products.begin() + first_atom_, products.end());
  if (has_intercept_) row.insert(row.begin(), products[0]);
  return row;
}

}  // namespace mfga
