#pragma once

#include "features/family.hpp"

namespace mfga {

[[nodiscard]] const FeatureFamily& spline_family();

}  // namespace mfga
