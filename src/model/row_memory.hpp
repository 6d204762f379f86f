// What the rows of a table may take of the memory, and what is kept of each wherever they are.
#pragma once

#include <string>

#include "mfga/options.hpp"
#include "mfga/views.hpp"

namespace mfga {

// A table whose numbers take more than this is kept on disk.
[[nodiscard]] Index most_bytes_of_table(const FitOptions& options);

// Throws Error(kInvalidArgument) if there is no room for what a fit keeps of each row of a table on disk.
// `outputs`: scores per row.
void check_rows_have_room(const std::string& source, Index rows, Index outputs, const FitOptions& options);

}  // namespace mfga
