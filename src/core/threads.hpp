// A small pool of threads that runs numbered tasks. Which thread runs a task must not matter to the result:
// callers give each task its own output and combine outputs in task order.
#pragma once

#include <functional>
#include <memory>

#include "mfga/views.hpp"

namespace mfga {

class ThreadPool {
 public:
  // 0 threads: as many as the machine has cores.
  explicit ThreadPool(int threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  [[nodiscard]] int threads() const;

  // Calls task(0) ... task(count - 1), each once, and returns when all have ended. An exception in a task
  // is kept and thrown here (the one of the lowest task); tasks not begun by then are skipped.
  void run(Index count, const std::function<void(Index)>& task);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mfga
