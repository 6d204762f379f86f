// Terms in words, for explanations and the columns of tables.
#pragma once

#include <string>
#include <vector>

#include "mfga/model.hpp"

namespace mfga {

// Each in the units of the table where it allows that, such as `age >= 40.5` or `education = Masters`, and
// else its short formula; no two are the same.
[[nodiscard]] std::vector<std::string> names_of_terms(const Model& model);

// The short formulas of the first terms without their constants, with the places of their knots and centres,
// in as many digits as it takes to tell them apart.
[[nodiscard]] std::vector<std::string> short_formulas(const Model& model, std::size_t count);

}  // namespace mfga
