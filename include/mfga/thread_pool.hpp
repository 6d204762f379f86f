// A pool of threads that several calls may share, one after the other or at the same time.
#pragma once

#include <functional>
#include <memory>

#include "mfga/views.hpp"

namespace mfga {

class ThreadPool {
 public:
  // So many threads, the calling one included; 0: as many as the machine has cores.
  explicit ThreadPool(int threads = 0);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  [[nodiscard]] int threads() const;

  // Calls task(0) ... task(count - 1), each once, and returns when all have ended. An exception in a task
  // is kept and thrown here (the one of the lowest task); tasks not begun by then are skipped. Which thread
  // runs a task must not matter to the result. Any thread may call this at any time, from within a task, too:
  // the caller works on its own tasks, and threads that have nothing to do help.
  // `while_waiting` is called on the calling thread now and then while others finish the last tasks.
  void run(Index count, const std::function<void(Index)>& task,
           const std::function<void()>& while_waiting = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mfga
