// Mean and standard deviation of each column, by the weights of the rows, in one pass over row blocks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/row_blocks.hpp"
#include "mfga/views.hpp"

namespace mfga {

struct Standardisation {
  std::vector<InputColumn> inputs;      // the columns that vary
  std::vector<Index> constant_columns;  // those that do not
};

// Throws Error(kBadData) at the first value that is not finite, and for a column whose values differ by more
// than a double can hold. `names` of the columns, for messages;
// no weights: 1.
[[nodiscard]] Standardisation fit_standardisation(const TableView& x, Workers& workers,
                                                  std::span<const std::string> names = {},
                                                  std::span<const double> weights = {});

}  // namespace mfga
