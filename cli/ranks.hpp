// Ranks that mpirun has started.
#pragma once

#include <string>
#include <string_view>

#include "mfga/communicator.hpp"

namespace mfga::cli {

// Whether the tool was built with MPI.
[[nodiscard]] bool has_mpi();

// Joins the other ranks, if there are any, and leaves them when the work is done.
class LaunchedRanks {
 public:
  // Throws Error where mpirun has started several ranks, and the tool was built without MPI, or with another.
  LaunchedRanks();
  LaunchedRanks(const LaunchedRanks&) = delete;
  LaunchedRanks& operator=(const LaunchedRanks&) = delete;
  ~LaunchedRanks();

  // After an error: returns whether this rank is the one to tell of it. Where the others go on, for the error
  // is this rank's alone, prints the message and ends all of them with this exit code.
  [[nodiscard]] bool tells_of_error(std::string_view message, int exit_code);
};

// Those of this process; null: it is alone.
[[nodiscard]] Communicator* launched_ranks();

}  // namespace mfga::cli
