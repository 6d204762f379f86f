// Keeps dependent atoms out of a refit: atoms are tested one by one against those accepted before, with a
// growing factor of their Gram matrix without a ridge.
#pragma once

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

  // `products` of a batch as Engine::products gives them: with 1, y, the atoms accepted so far, and the
  // batch. Says which of the batch were accepted; the refit has been told of those.
  [[nodiscard]] std::vector<bool> add(const Matrix& products);

 private:
  Refit& refit_;
  bool has_intercept_;
  GrowingCholesky factor_;
};

}  // namespace mfga
