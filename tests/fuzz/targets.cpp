#include "fuzz/targets.hpp"

#include <array>

namespace mfga::fuzz {

std::span<const Target* const> targets() {
  static constexpr std::array kTargets = {&kDelimited,  &kLibsvm,  &kNpy,        &kGzip,    &kNumbers,
                                          &kModel,      &kExports, &kDictionary, &kOptions, &kStatistics,
                                          &kCheckpoint, &kResume,  &kRows,       &kKernels};
  return kTargets;
}

}  // namespace mfga::fuzz
