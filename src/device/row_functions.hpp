// Expressions as functions that a device computes for every row.
#pragma once

#include <vector>

#include "core/expression.hpp"
#include "device/device.hpp"

namespace mfga {

// The inputs of a row.
[[nodiscard]] std::vector<Expression> input_expressions(Index count, ExpressionGraph& graph);

// Appends the expression as one more function; its columns are the inputs of a row. Returns false, and
// changes nothing, if it is not for devices: it needs too many numbers at a time, or looks at text.
[[nodiscard]] bool append(const ExpressionGraph& graph, Expression expression, RowFunctions& functions);

}  // namespace mfga
