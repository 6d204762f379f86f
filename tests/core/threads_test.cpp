#include "core/threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace mfga {
namespace {

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const Index count : {0, 1, 3, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
      pool.run(count, [&](Index i) { ++calls[static_cast<std::size_t>(i)]; });
      for (const auto& n : calls) EXPECT_EQ(n.load(), 1);
    }
  }
}

TEST(ThreadPool, AnErrorInATaskReachesTheCallerAndThePoolGoesOn) {
  ThreadPool pool(3);
  const auto fail_at_7 = [](Index i) {
    if (i == 7) throw std::runtime_error("task " + std::to_string(i));
  };
  EXPECT_THROW(pool.run(100, fail_at_7), std::runtime_error);
  for (int repeat = 0; repeat < 50; ++repeat) {
    try {
      pool.run(100, [](Index i) {
        if (i >= 5) throw std::runtime_error("task " + std::to_string(i));
      });
      FAIL() << "no error";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "task 5");  // the lowest one, whichever thread was first
    }
  }
  std::atomic<int> calls{0};
  pool.run(10, [&](Index) { ++calls; });
  EXPECT_EQ(calls.load(), 10);
}

}  // namespace
}  // namespace mfga
