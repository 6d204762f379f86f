#pragma once

#include <memory>

#include "losses/loss.hpp"

namespace mfga {

// `part` of the targets are to be below the predictions; throws unless it is between 0 and 1.
[[nodiscard]] std::shared_ptr<const Loss> quantile_loss(double part);

}  // namespace mfga
