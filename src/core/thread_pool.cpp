#include "mfga/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "mfga/error.hpp"

namespace mfga {
namespace {

constexpr Index kNone = std::numeric_limits<Index>::max();

// One call of run.
struct Job {
  const std::function<void(Index)>& task;
  Index count;
  std::atomic<Index> next{0};
  std::atomic<Index> error_task{kNone};  // the lowest task that failed
  std::exception_ptr error = nullptr;    // of that; under the pool's mutex, as the next
  int helpers = 0;                       // threads of the pool that work on it

  [[nodiscard]] bool has_tasks() const { return next.load() < count && error_task.load() == kNone; }

  void work(std::mutex& mutex) {
    for (;;) {
      const Index i = next.fetch_add(1);
      // Tasks are begun in order, so every task below the one that failed still runs.
      if (i >= count || i > error_task.load()) return;
      try {
        task(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < error_task.load()) {
          error_task = i;
          error = std::current_exception();
        }
      }
    }
  }
};

}  // namespace

struct ThreadPool::Impl {
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable finished;
  std::vector<std::thread> workers;
  std::vector<Job*> jobs;  // that helpers may join; the innermost last
  bool closing = false;

  [[nodiscard]] Job* job_with_tasks() const {
    // The latest first: those before may be waiting for it.
    const auto found =
        std::find_if(jobs.rbegin(), jobs.rend(), [](const Job* job) { return job->has_tasks(); });
    return found == jobs.rend() ? nullptr : *found;
  }

  void close() {
    {
      const std::lock_guard lock(mutex);
      closing = true;
    }
    wake.notify_all();
    for (std::thread& worker : workers) worker.join();
  }

  void worker_loop() {
    std::unique_lock lock(mutex);
    for (;;) {
      Job* job = nullptr;
      wake.wait(lock, [&] { return closing || (job = job_with_tasks()) != nullptr; });
      if (closing) return;
      ++job->helpers;
      lock.unlock();
      job->work(mutex);
      lock.lock();
      if (--job->helpers == 0) finished.notify_all();
    }
  }
};

ThreadPool::ThreadPool(int threads) : impl_(std::make_unique<Impl>()) {
  if (threads <= 0) threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  try {
    impl_->workers.reserve(static_cast<std::size_t>(threads));
    for (int i = 1; i < threads; ++i) {
      impl_->workers.emplace_back([impl = impl_.get()] { impl->worker_loop(); });
    }
  } catch (const std::system_error& error) {
    impl_->close();
    throw Error(ErrorKind::kSystem, "this system cannot start " + std::to_string(threads) + " threads (" +
                                        error.what() + "); use fewer");
  } catch (...) {
    impl_->close();
    throw;
  }
}

ThreadPool::~ThreadPool() { impl_->close(); }

int ThreadPool::threads() const { return static_cast<int>(impl_->workers.size()) + 1; }

void ThreadPool::run(Index count, const std::function<void(Index)>& task,
                     const std::function<void()>& while_waiting) {
  constexpr auto kInterval = std::chrono::milliseconds(50);
  if (count <= 0) return;
  if (count == 1 || impl_->workers.empty()) {
    for (Index i = 0; i < count; ++i) task(i);
    return;
  }
  Job job{task, count};
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->jobs.push_back(&job);
  }
  if (count == 2) {
    impl_->wake.notify_one();
  } else {
    impl_->wake.notify_all();
  }
  job.work(impl_->mutex);
  std::exception_ptr ended;  // by while_waiting; helpers still have to leave the job
  std::unique_lock lock(impl_->mutex);
  std::erase(impl_->jobs, &job);
  while (!impl_->finished.wait_for(lock, kInterval, [&] { return job.helpers == 0; })) {
    if (!while_waiting || ended) continue;
    lock.unlock();
    try {
      while_waiting();
    } catch (...) {
      ended = std::current_exception();
    }
    lock.lock();
  }
  lock.unlock();
  if (job.error) std::rethrow_exception(std::exchange(job.error, nullptr));
  if (ended) std::rethrow_exception(ended);
}

}  // namespace mfga
