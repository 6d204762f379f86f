// Pieces of readable formulas that several families share.
#pragma once

#include <span>
#include <string>

#include "mfga/dictionary.hpp"

namespace mfga {

// `a * b^2` for the inputs of an atom; empty if it has none.
[[nodiscard]] std::string monomial_text(const Atom& atom, std::span<const std::string> input_names);

}  // namespace mfga
