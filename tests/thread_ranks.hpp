// Ranks that are threads of one process.
#pragma once

#include <functional>
#include <string>

#include "mfga/communicator.hpp"
#include "mfga/views.hpp"

namespace mfga {

// Calls body on so many threads at once, each with a communicator of its own, and returns when all have
// returned. Where one throws, those that wait for it get an Error, and the first exception is thrown again.
void run_on_ranks(int count, const std::function<void(Communicator&)>& body);

// The rows of a rank, where all are divided evenly.
struct RowsOfRank {
  Index first = 0;
  Index count = 0;
};
[[nodiscard]] RowsOfRank rows_of_rank(Index rows, const Communicator& communicator);

}  // namespace mfga
