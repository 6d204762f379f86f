#pragma once

#include <span>

#include "features/family.hpp"
#include "features/kernel.hpp"

namespace mfga {

[[nodiscard]] const FeatureFamily& landmark_family();
[[nodiscard]] Atom landmark_atom(std::span<const double> centre, const Kernel& kernel, double nu);

}  // namespace mfga
