// The table of one data set.
#pragma once

#include <string>
#include <string_view>

#include "repro/results.hpp"

namespace mfga::repro {

// A <table> with one group of rows per part.
std::string dataset_table(const DatasetResult& dataset);

}  // namespace mfga::repro
