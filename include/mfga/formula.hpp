// Models as text. Names of columns and labels are written as the model has them; whoever shows the text on a
// terminal sees to it that they hold nothing that must not get there.
#pragma once

#include <limits>
#include <string>

#include "mfga/model.hpp"

namespace mfga {

// The model as a sum of terms, one per line and the first ones if there are more than `most_terms`, and what
// the symbols mean. Numbers are rounded; to compute with, use full_formula_text.
[[nodiscard]] std::string formula_text(const Model& model,
                                       std::size_t most_terms = std::numeric_limits<std::size_t>::max());

// The same in the units of the table, with numbers of nine digits: scales are multiplied out where a term
// allows it. Throws Error(kInvalidArgument) for a model that mixes its inputs.
[[nodiscard]] std::string table_formula_text(const Model& model);

// Every step from the values of a row to its prediction, with all digits.
[[nodiscard]] std::string full_formula_text(const Model& model);

}  // namespace mfga
