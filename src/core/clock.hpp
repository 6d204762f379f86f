#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace mfga {

using Clock = std::chrono::steady_clock;

[[nodiscard]] inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Whether a number from a file can be the seconds of some work: of at most thirty years.
[[nodiscard]] inline bool are_seconds(double seconds) { return seconds >= 0 && seconds < 1e9; }

// Seconds of a piece of work, which may have begun in another process: then those count, too.
class WorkClock {
 public:
  [[nodiscard]] double seconds() const { return is_shared_ ? agreed_.load() : own_seconds(); }
  // Of them, those of other processes.
  [[nodiscard]] double earlier() const { return earlier_.load(); }
  // What took so long, counted from the beginning, need not be done again. Never goes back.
  void advance_to(double seconds) {
    const double ahead = seconds - this->seconds();
    if (!(ahead > 0)) return;
    earlier_ = earlier_.load() + ahead;
    agreed_ = agreed_.load() + ahead;
  }

  // With several ranks (core/ranks.hpp) the time is that of the first of them, when they talked last:
  // decisions by the clock are the same on all of them.
  void share() { is_shared_ = true; }
  void agree(double seconds) { agreed_ = std::max(seconds, agreed_.load()); }
  [[nodiscard]] double own_seconds() const { return seconds_since(start_) + earlier_.load(); }

 private:
  Clock::time_point start_ = Clock::now();
  std::atomic<double> earlier_{0};
  bool is_shared_ = false;
  std::atomic<double> agreed_{0};
};

}  // namespace mfga
