#pragma once

#include <memory>

#include "losses/loss.hpp"

namespace mfga {

// Differences beyond `delta` count by their size instead of their square.
[[nodiscard]] std::shared_ptr<const Loss> huber_loss(double delta);

}  // namespace mfga
