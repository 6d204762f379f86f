// The target column of a text file: its fields are kept as text until all rows are read, for only then is it
// known whether they are numbers or labels.
#pragma once

#include <string_view>
#include <vector>

#include "data/missing_marks.hpp"
#include "data/number_text.hpp"
#include "mfga/table.hpp"
#include "mfga/thread_pool.hpp"

namespace mfga {

// Fills in target and labels of the table, whose source, target_name and lines are known. `column` is the
// target's position in the file, from 0, `style` how its numbers are written, and `fields` its text in each
// row, with quotes. A target that is missing is an error.
void convert_target(const std::vector<std::string_view>& fields, Index column, const NumberStyle& style,
                    const MissingMarks& marks, ThreadPool& pool, Table& table);

}  // namespace mfga
