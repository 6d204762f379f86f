// Chooses how the numbers of a table are read: with a decimal point or a decimal comma, thousands separators
// and percent signs. Where the columns do not tell, that is an error: a wrong guess would be a wrong table.
#pragma once

#include <string>
#include <vector>

#include "data/column_look.hpp"
#include "data/table_reader.hpp"

namespace mfga {

// The decimal sign of a table whose `columns` are wanted as numbers if they are such. `asked`: auto, "." or
// ",".
[[nodiscard]] char choose_decimal(const std::string& path, const TableReader& reader,
                                  const std::vector<Index>& columns, const std::string& asked);

// Whether a column is one of numbers: by its looks, or where it has texts, too, by its first value that is
// not missing.
[[nodiscard]] bool is_number_column(const TableReader& reader, const FirstRow& first_row, Index column,
                                    char decimal);

// Fills in the styles of the plan's numbers and target; says what is special about them. `asked`: as above;
// a point that is asked for allows thousands separators in every column.
void choose_styles(const TableReader& reader, char decimal, const std::string& asked, ColumnPlan& plan,
                   std::vector<std::string>& remarks);

}  // namespace mfga
