// Keeps dependent atoms out of a refit: atoms are tested one by one against those accepted before, with a
// growing factor of their Gram matrix without a ridge.
#pragma once

#include <span>
#include <vector>

#include "solve/growing_cholesky.hpp"
#include "solve/problem.hpp"
#include "solve/refit.hpp"

namespace mfga {

// An atom whose values are explained by the others up to this fraction of their square norm is dependent.
inline constexpr double kDependenceTolerance = 1e-9;

class IndependentAtoms {
 public:
  IndependentAtoms(const Problem& problem, Refit& refit);

  // `products` of a batch as Engine::products gives them: with 1, the targets, the atoms accepted so far,
  // and the batch. Says which of the batch were accepted; the refit has been told of those.
  [[nodiscard]] std::vector<bool> add(const Matrix& products);
  // Whether this one of a batch would be accepted if it were the first.
  [[nodiscard]] bool can_add(const Matrix& products, Index position) const;
  // Whether these are so many.
  [[nodiscard]] bool is_of(Index atoms) const { return factor_.size() == (has_intercept_ ? 1 : 0) + atoms; }
  // The refit has an archive of its own.
  friend void archive(Archive& bytes, IndependentAtoms& independent) { archive(bytes, independent.factor_); }

 private:
  // What the factor is to be appended, of products with 1, the targets and atoms.
  [[nodiscard]] std::vector<double> gram_row(std::span<const double> products) const;

  Refit& refit_;
  bool has_intercept_;
  Index first_atom_;  // among products: after those with 1 and the targets
  GrowingCholesky factor_;
};

}  // namespace mfga
