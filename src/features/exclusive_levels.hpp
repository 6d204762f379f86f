// Products of two levels of one text column. Only one of its levels is 1 in a row, so such a product is a sum
// of the two levels and a constant, and is 0 but for their scales: nothing that a reader could make sense of.
#pragma once

#include <memory>

#include "features/family.hpp"

namespace mfga {

// The candidates without such products; themselves if they have none.
[[nodiscard]] std::unique_ptr<CandidateFamily> without_products_of_levels(
    std::unique_ptr<CandidateFamily> candidates, const CandidateContext& context);

}  // namespace mfga
