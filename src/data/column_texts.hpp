// Columns of a table as text, to be copied elsewhere as they stand.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mfga/table.hpp"

namespace mfga {

// The fields of some columns, by position in the file, a list for each. Opens the file again.
[[nodiscard]] std::vector<std::vector<std::string>> read_column_texts(const std::string& path,
                                                                      const ReadOptions& options,
                                                                      std::span<const Index> columns);

}  // namespace mfga
