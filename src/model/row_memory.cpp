#include "model/row_memory.hpp"

#include <fmt/format.h>

#include "mfga/error.hpp"
#include "model/plan.hpp"

namespace mfga {

Index most_bytes_of_table(const FitOptions& options) {
  constexpr double kPartOfMemory = 0.5;  // what the search keeps needs room as well
  return static_cast<Index>(kPartOfMemory * memory_limit_bytes(options));
}

void check_rows_have_room(const std::string& source, Index rows, Index outputs, const FitOptions& options) {
  // Targets, scores and derivatives, and which rows are held out.
  constexpr double kNumbersOfRow = 6;
  constexpr double kNumbersOfOutput = 3;
  const double needed = static_cast<double>(rows) *
                        (kNumbersOfRow + kNumbersOfOutput * static_cast<double>(outputs)) * sizeof(double);
  const double limit = memory_limit_bytes(options);
  if (needed <= limit) return;
  throw Error(
      ErrorKind::kInvalidArgument,
      fmt::format("{}: what is kept in memory of each of {} rows, such as its score, takes {:.0f} MiB; the "
                  "limit is {:.0f} MiB. Raise `memory_limit`, or use fewer rows",
                  source, rows, needed * 0x1p-20, limit * 0x1p-20));
}

}  // namespace mfga
