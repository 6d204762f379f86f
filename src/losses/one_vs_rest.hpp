#pragma once

#include <memory>

#include "losses/loss.hpp"

namespace mfga {

// For so many classes; a target is the position of its class, from 0 on.
[[nodiscard]] std::shared_ptr<const Loss> one_vs_rest_loss(double classes);

}  // namespace mfga
