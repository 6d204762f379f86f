#include "core/blas.hpp"

#include <cblas.h>
#include <gtest/gtest.h>

#include <optional>

namespace mfga {
namespace {

TEST(SingleThreadedBlas, TheLastOneSetsBackWhatTheFirstOneFound) {
  const int before = openblas_get_num_threads();
  openblas_set_num_threads(2);
  std::optional<SingleThreadedBlas> first(std::in_place);
  EXPECT_EQ(openblas_get_num_threads(), 1);
  std::optional<SingleThreadedBlas> second(std::in_place);
  first.reset();  // not in the order of a stack, as with two fits at once
  EXPECT_EQ(openblas_get_num_threads(), 1);
  second.reset();
  EXPECT_EQ(openblas_get_num_threads(), 2);
  openblas_set_num_threads(before);
}

}  // namespace
}  // namespace mfga
