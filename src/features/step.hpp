#pragma once

#include "features/family.hpp"

namespace mfga {

[[nodiscard]] const FeatureFamily& step_family();

}  // namespace mfga
