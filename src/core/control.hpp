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

  // With several ranks (core/ranks.hpp): what the callback of one asks for counts when all know of it.
  void share() { is_shared_ = true; }
  [[nodiscard]] ProgressAction asked() const { return asked_.load(); }
  // Throws as check() does.
  void agree(ProgressAction action);

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
  std::atomic<ProgressAction> asked_{ProgressAction::kContinue};
  std::atomic<ProgressAction> action_{ProgressAction::kContinue};
  bool is_shared_ = false;
  std::atomic<int> holds_{0};
  std::chrono::steady_clock::time_point last_asked_;  // the owner's alone
  std::mutex mutex_;
  Progress state_;
};

}  // namespace mfga
