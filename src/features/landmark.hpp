#pragma once

#include <span>

#include "features/family.hpp"

namespace mfga {

[[nodiscard]] const FeatureFamily& landmark_family();
[[nodiscard]] Atom landmark_atom(std::span<const double> centre, double sigma, double nu);

}  // namespace mfga
