#pragma once

#include "losses/loss.hpp"

namespace mfga {

[[nodiscard]] const Loss& gamma_loss();

}  // namespace mfga
