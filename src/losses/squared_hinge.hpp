#pragma once

#include "losses/loss.hpp"

namespace mfga {

[[nodiscard]] const Loss& squared_hinge_loss();

}  // namespace mfga
