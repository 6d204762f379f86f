// Scratch memory that is allocated once and used again for every block of rows.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <vector>

#include "mfga/views.hpp"

namespace mfga {

class Arena {
 public:
  // What is taken while a Scope lives is free again when it ends. Scopes nest.
  class Scope {
   public:
    explicit Scope(Arena& arena) : arena_(arena), mark_(arena.used_) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { arena_.used_ = mark_; }

   private:
    Arena& arena_;
    std::size_t mark_;
  };

  // `count` uninitialised doubles, aligned for vector instructions.
  double* take(Index count) {
    if (used_ == slots_.size()) slots_.emplace_back();
    Slot& slot = slots_[used_++];
    if (slot.capacity < count) {
      if (slot.capacity > 0) count += count / 2;  // it grew once and will again
      slot.memory.reset();                        // free before allocating
      slot.capacity = 0;                          // if there is no memory
      slot.memory.reset(static_cast<double*>(
          ::operator new (static_cast<std::size_t>(count) * sizeof(double), std::align_val_t{kAlignment})));
      slot.capacity = count;
    }
    return slot.memory.get();
  }

  // The same for other things, which are default-initialised.
  template <class T>
  T* take_array(Index count) {
    static_assert(alignof(T) <= kAlignment && std::is_trivially_destructible_v<T>);
    const auto size = static_cast<std::size_t>(std::max<Index>(count, 1));
    return new (take(static_cast<Index>((size * sizeof(T) + sizeof(double) - 1) / sizeof(double)))) T[size];
  }
  float* take_single(Index count) { return take_array<float>(count); }
  const double** take_addresses(Index count) { return take_array<const double*>(count); }

 private:
  static constexpr std::size_t kAlignment = 64;
  struct Free {
    void operator()(double* p) const { ::operator delete (p, std::align_val_t{kAlignment}); }
  };
  struct Slot {
    std::unique_ptr<double, Free> memory;
    Index capacity = 0;
  };
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

// Arenas lent to the tasks of a parallel loop and kept between loops.
class ArenaPool {
 public:
  class Lease {
   public:
    Lease(ArenaPool& pool, std::unique_ptr<Arena> arena) : pool_(pool), arena_(std::move(arena)) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      const std::lock_guard lock(pool_.mutex_);
      pool_.idle_.push_back(std::move(arena_));
    }
    Arena& operator*() const { return *arena_; }

   private:
    ArenaPool& pool_;
    std::unique_ptr<Arena> arena_;
  };

  Lease lend() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) {
      // All must find room when they come back, for then it is too late to find no memory.
      idle_.reserve(made_ + 1);
      idle_.push_back(std::make_unique<Arena>());
      ++made_;
    }
    std::unique_ptr<Arena> arena = std::move(idle_.back());
    idle_.pop_back();
    return {*this, std::move(arena)};
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Arena>> idle_;
  std::size_t made_ = 0;
};

}  // namespace mfga
