// A loss L(f, y) of a score f against a target y, and its derivatives in f. A new loss is one file and one
// line in registry.cpp.
#pragma once

#include <span>
#include <string_view>

#include "mfga/views.hpp"

namespace mfga {

class Loss {
 public:
  virtual ~Loss() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Whether the loss is a quadratic function of the score, so that one linear solve minimises it.
  [[nodiscard]] virtual bool is_quadratic() const = 0;
  // The best constant score for targets with this mean.
  [[nodiscard]] virtual double best_constant(double target_mean) const = 0;

  [[nodiscard]] virtual double sum(const double* scores, const double* targets, Index count) const = 0;
  // Also stores dL/df of each row, and returns the sum of the losses.
  virtual double gradient(const double* scores, const double* targets, Index count, double* first) const = 0;
  // Also stores d2L/df2 of each row.
  virtual double derivatives(const double* scores, const double* targets, Index count, double* first,
                             double* second) const = 0;
};

// Null if there is none of that name.
[[nodiscard]] const Loss* find_loss(std::string_view name);
[[nodiscard]] std::span<const Loss* const> losses();

}  // namespace mfga
