#pragma once

#include "features/family.hpp"

namespace mfga {

[[nodiscard]] const FeatureFamily& polynomial_family();

}  // namespace mfga
