// Reads bytes as a table in two ways, which must come to the same.
#pragma once

#include <string_view>

#include "mfga/table.hpp"

namespace mfga::fuzz {

// Once in one piece and once in chunks of so many bytes: equal tables, or equal errors. Then column by column
// and the last row by itself.
void read_in_two_ways(std::string_view bytes, const ReadOptions& options, Index chunk_bytes);

}  // namespace mfga::fuzz
