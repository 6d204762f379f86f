// All targets, one file for each.
#pragma once

#include "fuzz/target.hpp"

namespace mfga::fuzz {

extern const Target kDelimited, kLibsvm, kNpy, kGzip, kNumbers, kModel, kExports, kDictionary, kOptions,
    kStatistics, kCheckpoint, kResume, kRows, kKernels;

}  // namespace mfga::fuzz
