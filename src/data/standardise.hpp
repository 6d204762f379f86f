// Mean and standard deviation of each column, by the weights of the rows, in one pass over row blocks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/row_blocks.hpp"
#include "mfga/views.hpp"

namespace mfga {

struct Standardisation {
  // The columns that vary, each followed by an input that tells where it is missing, if that is often enough.
  std::vector<InputColumn> inputs;
  std::vector<Index> constant_columns;  // those that do not vary
  std::vector<Index> missing;           // of each column: in so many rows that count its value is missing
};

// Missing values, which are NaN, are left out of the moments. A column gets an input that tells of them where
// at least 10 rows and 1 % of all lack its value, and at least 10 have it. Throws Error(kBadData) at the
// first infinite value, and for a column whose values differ by more than a double can hold. `names` of the
// columns, for messages; no weights: 1.
[[nodiscard]] Standardisation fit_standardisation(const TableView& x, Workers& workers,
                                                  std::span<const std::string> names = {},
                                                  std::span<const double> weights = {});

}  // namespace mfga
