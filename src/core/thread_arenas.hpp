// Scratch memory for what takes a thread no time to speak of, such as the score of one row.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "core/arena.hpp"

namespace mfga {

// Not `thread_local`: where glibc finds no memory for such a thing, it ends the program.
class ThreadArenas {
  // No two in one line of the cache.
  struct alignas(64) Place {
    std::atomic_flag is_taken;
    Arena arena;
  };

 public:
  // One of them, while this lives.
  class Lease {
   public:
    explicit Lease(ThreadArenas& arenas) : place_(arenas.take()) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { place_.is_taken.clear(std::memory_order_release); }
    Arena& operator*() const { return place_.arena; }

   private:
    Place& place_;
  };

 private:
  // Each thread begins at a place that its number says, mostly its own, and goes on from there while others
  // are at work.
  Place& take() {
    std::size_t place = std::hash<std::thread::id>()(std::this_thread::get_id());
    for (std::size_t tries = 1;; ++tries, ++place) {
      Place& found = places_[place % places_.size()];
      if (!found.is_taken.test_and_set(std::memory_order_acquire)) return found;
      if (tries % places_.size() == 0) std::this_thread::yield();
    }
  }

  std::array<Place, 32> places_;
};

}  // namespace mfga
