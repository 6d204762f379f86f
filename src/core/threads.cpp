#include "core/threads.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace mfga {
namespace {

constexpr Index kNone = std::numeric_limits<Index>::max();

}  // namespace

struct ThreadPool::Impl {
  std::mutex mutex;
  std::condition_variable start;
  std::condition_variable finished;
  std::vector<std::thread> workers;
  bool closing = false;
  std::uint64_t generation = 0;  // counts calls of run, so that a worker joins each call once
  int busy = 0;
  std::atomic<bool> is_running{false};

  const std::function<void(Index)>* task = nullptr;
  Index count = 0;
  std::atomic<Index> next{0};
  std::atomic<Index> error_task{kNone};  // the lowest task that failed
  std::exception_ptr error;

  void work() {
    for (;;) {
      const Index i = next.fetch_add(1);
      // Tasks are begun in order, so every task below the one that failed still runs.
      if (i >= count || i > error_task.load()) return;
      try {
        (*task)(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < error_task.load()) {
          error_task = i;
          error = std::current_exception();
        }
      }
    }
  }

  void run_with_all(Index n_tasks, const std::function<void(Index)>& new_task) {
    {
      const std::lock_guard lock(mutex);
      task = &new_task;
      count = n_tasks;
      next = 0;
      error = nullptr;
      error_task = kNone;
      busy = static_cast<int>(workers.size());
      ++generation;
    }
    start.notify_all();
    work();
    std::unique_lock lock(mutex);
    finished.wait(lock, [&] { return busy == 0; });
    is_running = false;
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
  }

  void worker_loop() {
    std::uint64_t seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex);
        start.wait(lock, [&] { return closing || generation != seen; });
        if (closing) return;
        seen = generation;
      }
      work();
      const std::lock_guard lock(mutex);
      if (--busy == 0) finished.notify_one();
    }
  }
};

ThreadPool::ThreadPool(int threads) : impl_(std::make_unique<Impl>()) {
  if (threads <= 0) threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  for (int i = 1; i < threads; ++i) {
    impl_->workers.emplace_back([impl = impl_.get()] { impl->worker_loop(); });
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->closing = true;
  }
  impl_->start.notify_all();
  for (std::thread& worker : impl_->workers) worker.join();
}

int ThreadPool::threads() const { return static_cast<int>(impl_->workers.size()) + 1; }

void ThreadPool::run(Index count, const std::function<void(Index)>& task) {
  if (count <= 0) return;
  // The threads are at work already, for a task that calls this or for another thread: nobody is waited for.
  if (impl_->is_running.exchange(true)) {
    for (Index i = 0; i < count; ++i) task(i);
    return;
  }
  impl_->run_with_all(count, task);
}

}  // namespace mfga
