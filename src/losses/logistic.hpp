#pragma once

#include "losses/loss.hpp"

namespace mfga {

[[nodiscard]] const Loss& logistic_loss();

}  // namespace mfga
