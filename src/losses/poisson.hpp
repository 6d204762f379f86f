#pragma once

#include "losses/loss.hpp"

namespace mfga {

[[nodiscard]] const Loss& poisson_loss();

}  // namespace mfga
