#pragma once

#include "losses/loss.hpp"

namespace mfga {

[[nodiscard]] const Loss& logistic_loss();
// 1 / (1 + exp(-score)), whatever the score.
[[nodiscard]] double logistic_probability(double score);

}  // namespace mfga
