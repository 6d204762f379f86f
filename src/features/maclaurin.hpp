#pragma once

#include "features/family.hpp"

namespace mfga {

[[nodiscard]] const FeatureFamily& maclaurin_family();

}  // namespace mfga
