// A model's terms one by one, in the units of the table where a term allows it, with numbers of four digits.
#pragma once

#include <string>
#include <vector>

#include "mfga/model.hpp"

namespace mfga {

// What a term is, apart from its coefficient: constant + factor * text.
struct ReadableTerm {
  double factor = 0;
  std::string text;
  double constant = 0;
};

struct ReadableFormula {
  std::vector<std::string> titles;  // of each output: what the score is
  std::vector<ReadableTerm> terms;  // of the model, in its order; z(c), r(c), q(c): a column's scaled value
};
[[nodiscard]] ReadableFormula readable_formula(const Model& model);

}  // namespace mfga
