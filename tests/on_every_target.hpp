// For tests of what Highway compiles once per instruction set.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstdint>
#include <functional>

#include "reference.hpp"

namespace mfga {

// Whole numbers, so that sums are exact in any order.
inline Matrix whole_numbers(Index rows, Index cols, unsigned seed) {
  Matrix matrix = reference::random_matrix(rows, cols, seed);
  for (double& value : matrix.values) value = std::round(4 * value);
  return matrix;
}

// Runs with every instruction set that this machine and the library have, the plainest included.
class OnEveryTarget : public testing::Test {
 protected:
  ~OnEveryTarget() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  static void run(const std::function<void()>& body) {
    int runs = 0;
    for (std::int64_t targets = hwy::SupportedTargets(); targets != 0; targets &= targets - 1, ++runs) {
      const std::int64_t target = targets & -targets;
      hwy::SetSupportedTargetsForTest(target);
      hwy::GetChosenTarget().Update(target);
      const testing::ScopedTrace trace(__FILE__, __LINE__, hwy::TargetName(target));
      body();
      hwy::SetSupportedTargetsForTest(0);
    }
    EXPECT_GT(runs, 0);
  }
};

}  // namespace mfga
