// Work that has to end at some time.
#pragma once

#include <chrono>

namespace mfga {

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNever = Deadline::max();

[[nodiscard]] inline bool is_over(Deadline deadline) { return std::chrono::steady_clock::now() >= deadline; }

// Thrown where work is given up because its time is over; never leaves the library.
struct OutOfTime {};

inline void stop_if_over(Deadline deadline) {
  if (is_over(deadline)) throw OutOfTime();
}

}  // namespace mfga
