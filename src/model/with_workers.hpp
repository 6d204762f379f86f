// The frame of every long call: threads, BLAS, and the caller's word on whether to go on.
#pragma once

#include <exception>
#include <optional>

#include "core/blas.hpp"
#include "core/control.hpp"
#include "core/workers.hpp"
#include "mfga/progress.hpp"

namespace mfga {

// Returns body(workers, control). `pool`: null: so many threads of its own. What the callback throws ends the
// work on all threads, and is what the caller gets.
template <class Body>
auto with_workers(int threads, const ProgressCallback& progress, ThreadPool* pool, Body body) {
  const SingleThreadedBlas blas;
  std::optional<ThreadPool> own_pool;
  if (pool == nullptr) pool = &own_pool.emplace(threads);
  std::exception_ptr thrown;
  ProgressCallback guarded;
  if (progress) {
    guarded = [&](const Progress& state) {
      try {
        return progress(state);
      } catch (...) {
        thrown = std::current_exception();
        return ProgressAction::kAbort;
      }
    };
  }
  Control control(std::move(guarded));
  Workers workers(*pool, &control);
  try {
    return body(workers, control);
  } catch (...) {
    if (thrown) std::rethrow_exception(thrown);
    throw;
  }
}

}  // namespace mfga
