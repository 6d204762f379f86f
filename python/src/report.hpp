// What a fit found out, as a Python dictionary.
#pragma once

#include <nanobind/nanobind.h>

#include "mfga/fit.hpp"

namespace mfga::python {

[[nodiscard]] nanobind::dict report_of(const FitResult& result);
// The terms of a model: formula, coefficients before it, family, inputs, places.
[[nodiscard]] nanobind::list terms_of(const Model& model);

}  // namespace mfga::python
