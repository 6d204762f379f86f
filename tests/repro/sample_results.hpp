// Results as a reproduction might give them: the published figures, moved a little.
#pragma once

#include "repro/results.hpp"

namespace mfga::repro {

// Four data sets with a figure each. Texts contain what would break a page or a table that does not quote.
Results sample_results();

}  // namespace mfga::repro
