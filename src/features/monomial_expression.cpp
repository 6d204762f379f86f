// Products of inputs as an expression, for export.
#include <vector>

#include "features/monomials.hpp"

namespace mfga {

Expression MonomialFamily::expression(const Atom& atom, std::span<const Expression> inputs,
                                      ExpressionGraph& graph) const {
  const Monomial own = *monomial(atom);
  std::vector<Expression> factors;
  for (std::size_t i = 0; i < atom.inputs.size(); ++i)
    factors.push_back(graph.power(inputs[static_cast<std::size_t>(atom.inputs[i])], atom.exponents[i]));
  if (own.rate != 0) {
    const std::vector<double> origin(inputs.size());
    factors.push_back(graph.exp(graph.times(graph.square_distance(inputs, origin), -own.rate)));
  }
  return graph.times(graph.product(factors), own.factor);
}

}  // namespace mfga
