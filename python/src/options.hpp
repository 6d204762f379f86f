// Options by name, as texts: what Python hands over, and what it is told about them.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <string>

#include "mfga/mfga.hpp"
#include "mfga/paper.hpp"

namespace mfga::python {

struct AllOptions {
  FitOptions fit;
  paper::Options paper;
  CrossValidationOptions validation;
};

// Throws Error(kInvalidArgument) for a name that no table has, and for a text that is no value of its option.
[[nodiscard]] AllOptions options_of(const std::map<std::string, std::string>& texts);

// The rows of the tables `fit`, `cross_validation` and `paper`: name, default, value, help.
[[nodiscard]] nanobind::dict option_tables();

}  // namespace mfga::python
