// What a parallel loop needs besides its data: threads, scratch memory, and a word on whether to go on.
#pragma once

#include <atomic>
#include <functional>

#include "core/arena.hpp"
#include "core/control.hpp"
#include "mfga/thread_pool.hpp"

namespace mfga {

class Device;  // device/device.hpp
class Ranks;   // core/ranks.hpp

class Workers {
 public:
  // With threads of its own; 0: as many as there are cores.
  explicit Workers(int threads) : own_pool_(std::make_unique<ThreadPool>(threads)), pool_(*own_pool_) {}
  // With threads that others may use as well.
  explicit Workers(ThreadPool& shared, Control* control = nullptr) : pool_(shared), control_(control) {}

  [[nodiscard]] int threads() const { return pool_.threads(); }
  // Calls task(0) ... task(count - 1) as ThreadPool::run does, and asks in between whether to go on.
  void run(Index count, const std::function<void(Index)>& task) const {
    if (control_ == nullptr) {
      pool_.run(count, task);
      return;
    }
    pool_.run(
        count,
        [&](Index i) {
          check();
          task(i);
        },
        [&] { check(); });
  }
  // Throws if the work is to end. To be called now and then from within long tasks.
  void check() const {
    if (control_ != nullptr) control_->check();
  }
  void show(const Progress& state) const {
    if (control_ != nullptr) control_->show(state);
  }

  // The processes that work on the same rows; null: there are no others.
  [[nodiscard]] Ranks* ranks() const { return ranks_; }
  void set_ranks(Ranks* ranks) { ranks_ = ranks; }

  // An accelerator for work that is worth it; null: there is none.
  [[nodiscard]] Device* device() const { return device_; }
  void set_device(Device* device) {
    device_ = device;
    device_is_used_ = false;
  }
  [[nodiscard]] bool device_is_used() const { return device_is_used_; }
  void note_use_of_device() { device_is_used_ = true; }

  ArenaPool arenas;

 private:
  std::unique_ptr<ThreadPool> own_pool_;
  ThreadPool& pool_;
  Control* control_ = nullptr;
  Ranks* ranks_ = nullptr;
  Device* device_ = nullptr;
  std::atomic<bool> device_is_used_ = false;
};

}  // namespace mfga
