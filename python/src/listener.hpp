// Python while the library works: progress, signals, and what is raised meanwhile.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "mfga/progress.hpp"

namespace mfga::python {
namespace nb = nanobind;

// Shows progress to Python, and looks for signals such as Ctrl-C. What Python raises is kept for the end of
// the fit, for it must not pass through threads that have no interpreter.
class Listener {
 public:
  explicit Listener(nb::object callback) : callback_(std::move(callback)) {}

  ProgressAction operator()(const Progress& progress) {
    using Clock = std::chrono::steady_clock;
    constexpr auto kInterval = std::chrono::milliseconds(50);
    // Another thread may hold the lock for some milliseconds: it is asked for seldom if nobody listens.
    if (callback_.is_none() && Clock::now() - last_asked_ < kInterval) return ProgressAction::kContinue;
    const nb::gil_scoped_acquire acquire;
    last_asked_ = Clock::now();
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (callback_.is_none()) return ProgressAction::kContinue;
      const nb::object answer = callback_(nb::cast(progress));
      const int is_true = PyObject_IsTrue(answer.ptr());
      if (is_true < 0) throw nb::python_error();
      return is_true != 0 ? ProgressAction::kStop : ProgressAction::kContinue;
    } catch (...) {
      raised_ = std::current_exception();
      return ProgressAction::kAbort;
    }
  }

  [[nodiscard]] const std::exception_ptr& raised() const { return raised_; }

 private:
  nb::object callback_;
  std::exception_ptr raised_;
  std::chrono::steady_clock::time_point last_asked_ = std::chrono::steady_clock::now();
};

// Runs work(progress callback) without the interpreter's lock; what Python raised meanwhile ends it.
template <class Work>
auto while_listening(nb::object callback, Work work) {
  Listener listener(std::move(callback));
  const ProgressCallback show = [&](const Progress& progress) { return listener(progress); };
  std::optional<decltype(work(show))> result;
  try {
    const nb::gil_scoped_release release;
    result = work(show);
  } catch (...) {
    if (listener.raised()) std::rethrow_exception(listener.raised());
    throw;
  }
  if (listener.raised()) std::rethrow_exception(listener.raised());
  return std::move(*result);
}

}  // namespace mfga::python
