// What is kept of a fit in its model, and how that stands in the model's file.
#pragma once

#include "mfga/fit.hpp"
#include "model/json_node.hpp"

namespace mfga {

[[nodiscard]] FitRecord record_of(const FitResult& result, double seconds);

// Null if there is nothing in it.
[[nodiscard]] Json fit_record_to_json(const FitRecord& record);
[[nodiscard]] FitRecord fit_record_from_json(const Node& node);

}  // namespace mfga
