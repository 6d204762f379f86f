#pragma once

#include "features/family.hpp"

namespace mfga {

[[nodiscard]] const FeatureFamily& hinge_family();

}  // namespace mfga
