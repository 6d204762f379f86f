// Features that are products of inputs, with a factor and, if their kernel has one, an envelope
// exp(-rate |x|^2) in front: what the linear, polynomial and Gaussian families share.
//
// Correlations are never computed from materialised features: those of order 2 with weights w are the
// entries of X^T diag(w e) X with e_n the envelope; order k > 2 is order 2 with the weights multiplied by
// k - 2 further inputs. They are computed in double or, when a search only needs to know which are large, in
// single precision.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "features/family.hpp"

namespace mfga {

inline constexpr int kHighestOrder = 12;

// The features x^a of some orders |a|, times order_factors[|a| - lowest_order] / sqrt(a!).
struct MonomialKernel {
  std::string family;
  double nu = 1;
  std::vector<double> parameters;  // of every atom
  double rate = 0;                 // of the envelope; 0: none
  bool squares = true;             // no: only products of different inputs
  int lowest_order = 0;
  std::vector<double> order_factors;  // with sqrt(nu)
};

// How many such features of one order there are; as a double, since it may be huge.
[[nodiscard]] double monomial_count(Index n_inputs, int order, bool squares);

[[nodiscard]] std::unique_ptr<CandidateFamily> monomial_candidates(Index n_inputs, MonomialKernel kernel);

[[nodiscard]] int order_of(const Atom& atom);
[[nodiscard]] std::vector<Index> inputs_with_repetitions(const Atom& atom);

// A family all of whose atoms are monomials.
class MonomialFamily : public FeatureFamily {
 public:
  [[nodiscard]] std::unique_ptr<AtomEvaluator> evaluator(std::span<const Atom> atoms) const override;
  [[nodiscard]] std::unique_ptr<AtomCombination> combination(
      std::span<const Atom> atoms, std::span<const double> coefficients) const override;
  // If atoms have a coordinate, it is the logarithm of the width whose square is 1 / (2 rate).
  [[nodiscard]] std::unique_ptr<AtomDerivatives> derivatives(std::span<const Atom> atoms) const override;
  [[nodiscard]] Expression expression(const Atom& atom, std::span<const Expression> inputs,
                                      ExpressionGraph& graph) const override;

 protected:
  [[nodiscard]] std::vector<Monomial> monomials(std::span<const Atom> atoms) const;
};

}  // namespace mfga
