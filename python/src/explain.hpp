// Explanations as arrays.
#pragma once

#include "mfga/model.hpp"
#include "src/arrays.hpp"

namespace mfga::python {

// Contributions, averages, rounding, totals, and the names of the parts.
nb::tuple explain_rows(const Model& model, const Array& x, bool by_column, int threads);

}  // namespace mfga::python
