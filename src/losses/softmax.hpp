#pragma once

#include <memory>

#include "losses/loss.hpp"

namespace mfga {

// For so many classes; a target is the position of its class, from 0 on.
[[nodiscard]] std::shared_ptr<const Loss> softmax_loss(double classes);
// Turns the scores of a row, one per class and `stride` apart, into probabilities.
void softmax_probabilities(double* scores, Index classes, Index stride);

// The same as expressions.
[[nodiscard]] std::vector<Expression> softmax_expressions(std::span<const Expression> scores,
                                                          ExpressionGraph& graph);

}  // namespace mfga
