#include "mfga/thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
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

TEST(ThreadPool, ATaskMayRunTasksOfItsOwn) {
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    ThreadPool other(2);
    std::vector<std::atomic<int>> calls(20 * 30);
    pool.run(20, [&](Index outer) {
      other.run(2, [&](Index half) {
        pool.run(15, [&](Index inner) { ++calls[static_cast<std::size_t>(outer * 30 + half * 15 + inner)]; });
      });
    });
    for (const auto& n : calls) EXPECT_EQ(n.load(), 1);
    EXPECT_THROW(pool.run(3,
                          [&](Index) {
                            pool.run(3, [](Index i) {
                              if (i == 1) throw std::runtime_error("inner");
                            });
                          }),
                 std::runtime_error);
  }
}

TEST(ThreadPool, MayBeSharedByThreads) {
  ThreadPool pool(2);
  std::vector<std::atomic<int>> calls(2 * 1000);
  const auto use = [&](Index first) {
    for (Index round = 0; round < 100; ++round)
      pool.run(10, [&](Index i) { ++calls[static_cast<std::size_t>(first + 10 * round + i)]; });
  };
  std::thread second(use, 1000);
  use(0);
  second.join();
  for (const auto& n : calls) EXPECT_EQ(n.load(), 1);
}

}  // namespace
}  // namespace mfga
