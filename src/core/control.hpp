// How the caller of a long computation hears of it, and ends it.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "mfga/progress.hpp"

namespace mfga {

// Made by the thread that called the library: the callback is called on that thread only, while any thread
// may show progress and check whether to go on.
class Control {
 public:
  explicit Control(ProgressCallback callback);

  void show(const Progress& state);
  // Throws OutOfTime after a stop, and Error(kInterrupted) after an abort. Asks the callback several times a
  // second.
  void check();
  [[nodiscard]] bool is_stopped() const { return action_.load() == ProgressAction::kStop; }

  // While one of these lives, a stop waits: there is nothing to keep yet, or it is being made ready.
  class NoStop {
   public:
    explicit NoStop(Control& control) : control_(control) { ++control_.holds_; }
    NoStop(const NoStop&) = delete;
    NoStop& operator=(const NoStop&) = delete;
    ~NoStop() { --control_.holds_; }

   private:
    Control& control_;
  };

 private:
  void ask();
  void throw_if_over() const;

  ProgressCallback callback_;
  std::thread::id owner_ = std::this_thread::get_id();
  std::atomic<ProgressAction> action_{ProgressAction::kContinue};
  std::atomic<int> holds_{0};
  std::chrono::steady_clock::time_point last_asked_;  // the owner's alone
  std::mutex mutex_;
  Progress state_;
};

}  // namespace mfga
