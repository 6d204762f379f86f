// Assumption 1: how large K(x, x) is on the rows, for each kernel of a dictionary.
#pragma once

#include <vector>

#include "core/row_blocks.hpp"
#include "mfga/bound.hpp"
#include "mfga/dictionary.hpp"

namespace mfga {

// One for each summand of the dictionary, without its weight. What depends on a draw is bounded for every
// draw, or measured with another one: a model does not know its seed.
[[nodiscard]] std::vector<KernelSize> kernel_sizes(const Dictionary& dictionary, const BlockedRows& rows,
                                                   Workers& workers);

}  // namespace mfga
