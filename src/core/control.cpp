#include "core/control.hpp"

#include <utility>

#include "core/deadline.hpp"
#include "mfga/error.hpp"

namespace mfga {

Control::Control(ProgressCallback callback)
    : callback_(std::move(callback)), last_asked_(std::chrono::steady_clock::now()) {
  state_.phase = "preparing";
}

void Control::show(const Progress& state) {
  {
    const std::lock_guard lock(mutex_);
    state_ = state;
  }
  throw_if_over();
  if (callback_ && std::this_thread::get_id() == owner_) ask();
}

void Control::check() {
  constexpr auto kInterval = std::chrono::milliseconds(50);
  throw_if_over();
  if (!callback_ || std::this_thread::get_id() != owner_) return;
  if (std::chrono::steady_clock::now() - last_asked_ >= kInterval) ask();
}

void Control::ask() {
  Progress state;
  {
    const std::lock_guard lock(mutex_);
    state = state_;
  }
  try {
    const ProgressAction action = callback_(state);
    // Who asked for an end does not take it back.
    if (action > asked_.load()) asked_ = action;
  } catch (...) {
    asked_ = action_ = ProgressAction::kAbort;  // for the other threads
    throw;
  }
  if (!is_shared_) action_ = asked_.load();
  last_asked_ = std::chrono::steady_clock::now();
  throw_if_over();
}

void Control::agree(ProgressAction action) {
  if (action > action_.load()) action_ = action;
  throw_if_over();
}

void Control::throw_if_over() const {
  const ProgressAction action = action_.load();
  if (action == ProgressAction::kAbort) throw Error(ErrorKind::kInterrupted, "training was interrupted");
  if (action == ProgressAction::kStop && holds_.load() == 0) throw OutOfTime();
}

}  // namespace mfga
