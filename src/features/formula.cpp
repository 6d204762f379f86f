#include "features/formula.hpp"

#include <fmt/format.h>

#include "features/family.hpp"

namespace mfga {

std::string monomial_text(const Atom& atom, std::span<const std::string> input_names) {
  std::string text;
  for (std::size_t i = 0; i < atom.inputs.size(); ++i) {
    if (i > 0) text += " * ";
    text += input_names[static_cast<std::size_t>(atom.inputs[i])];
    if (atom.exponents[i] > 1) text += fmt::format("^{}", atom.exponents[i]);
  }
  return text;
}

AtomFormula describe(const Atom& atom, std::span<const std::string> input_names) {
  return find_feature_family(atom.family)->describe(atom, input_names);
}

}  // namespace mfga
