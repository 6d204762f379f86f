// Work that has to end at some time.
#pragma once

#include "core/clock.hpp"

namespace mfga {

// So many seconds after the beginning of the work that the clock is of; without a clock: never.
struct Deadline {
  const WorkClock* clock = nullptr;
  double seconds = 0;

  friend bool operator<(const Deadline& a, const Deadline& b) {
    if (a.clock == nullptr || b.clock == nullptr) return a.clock != nullptr;
    return a.seconds < b.seconds;
  }
};
inline constexpr Deadline kNever = {};

[[nodiscard]] inline bool is_over(const Deadline& deadline) {
  return deadline.clock != nullptr && deadline.clock->seconds() >= deadline.seconds;
}

// Thrown where work is given up because its time is over; never leaves the library.
struct OutOfTime {};

inline void stop_if_over(const Deadline& deadline) {
  if (is_over(deadline)) throw OutOfTime();
}

}  // namespace mfga
