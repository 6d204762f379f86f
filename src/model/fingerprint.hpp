// What must be the same for a fit to go on from a checkpoint: the data, to the last bit, and all options but
// those for how long it may take and with what.
#pragma once

#include "core/journal.hpp"
#include "core/workers.hpp"
#include "mfga/fit.hpp"
#include "mfga/paper.hpp"

namespace mfga {

[[nodiscard]] Fingerprint fingerprint_of(const TrainingData& data, const FitOptions& options,
                                         const paper::Options& paper, Workers& workers);

}  // namespace mfga
