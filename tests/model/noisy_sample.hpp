// A regression, or two classes, of a product, a kink and noise: enough for every phase of a default fit.
#pragma once

#include <cmath>
#include <vector>

#include "mfga/fit.hpp"
#include "reference.hpp"

namespace mfga {

struct NoisySample {
  Matrix x;
  std::vector<double> y;

  explicit NoisySample(Index rows, bool classes = false) : x(reference::random_matrix(rows, 4, 1)) {
    const std::vector<double> noise = reference::random_vector(x.rows, 2);
    for (Index i = 0; i < x.rows; ++i) {
      const double value = x(i, 0) * x(i, 1) + std::abs(x(i, 2)) + 0.3 * noise[static_cast<std::size_t>(i)];
      y.push_back(classes ? (value > 0.7 ? 1 : 0) : value);
    }
  }
  [[nodiscard]] TrainingData data() const { return {.x = x.view(), .y = y}; }
};

}  // namespace mfga
