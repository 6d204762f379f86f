#pragma once

#include "losses/loss.hpp"

namespace mfga {

[[nodiscard]] const Loss& squared_loss();

}  // namespace mfga
