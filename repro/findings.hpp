// What the results say in short, computed from them.
#pragma once

#include <string>
#include <vector>

#include "repro/results.hpp"

namespace mfga::repro {

struct Finding {
  std::string figure;  // "3 of 4"
  std::string text;    // what that counts, and the exceptions; plain text
};

// Only what the data allow; data sets without a published error (variants of another one) do not count.
std::vector<Finding> find_findings(const Results& results);

// The error that a row stands for: oracle, as the paper reports, or honest where there is nothing else.
const ErrorEstimate* main_error(const MethodRow& row);
const MethodRow* find_row(const DatasetResult& dataset, std::string_view part, std::string_view method);
// The constant predictor's error.
const ErrorEstimate* constant_error(const DatasetResult& dataset);

}  // namespace mfga::repro
