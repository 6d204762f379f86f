// Memory of an arena for code that is written once for both precisions.
#pragma once

#include "core/arena.hpp"

namespace mfga {

// Room for `count` numbers of the type that `like` points to.
[[nodiscard]] inline double* take(Arena& arena, Index count, const double* /*like*/) {
  return arena.take(count);
}
[[nodiscard]] inline float* take(Arena& arena, Index count, const float* /*like*/) {
  return arena.take_single(count);
}

}  // namespace mfga
