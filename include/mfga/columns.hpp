// Which columns of a table are the inputs of a model.
//
//   const std::vector<mfga::Index> columns = mfga::match_columns(model, table.columns);
//   predictor.predictions(table.values.view(), columns);
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfga/model.hpp"
#include "mfga/table.hpp"

namespace mfga {

// Input i is column columns[i] of a table of numbers whose columns have these names, in any order and among
// others; a level of text is the column "NAME=LEVEL". Inputs without a column are an Error(kBadData), in
// which `source` names the table.
[[nodiscard]] std::vector<Index> match_columns(const Model& model, std::span<const std::string> names,
                                               std::string_view source = "the table");

// The same for a file that is still to be read, by TableFile::read: levels of text are found in the column of
// that text, and columns without names by their positions. Column i of the table that is read is input i. The
// model must live until then.
[[nodiscard]] std::vector<ColumnSource> match_columns(const Model& model, const TableFile& file);

}  // namespace mfga
