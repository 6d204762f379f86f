// A loss L(f, y) of a score f against a target y, and all that depends on it. A new loss is one file and one
// line in registry.cpp.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "mfga/model.hpp"
#include "mfga/views.hpp"

namespace mfga {

// Targets of some rows, and their weights; none: 1.
struct TargetColumn {
  std::span<const double> values;
  std::span<const double> weights = {};

  [[nodiscard]] Index size() const { return static_cast<Index>(values.size()); }
  [[nodiscard]] const double* weights_from(Index row) const {
    return weights.empty() ? nullptr : weights.data() + row;
  }
  [[nodiscard]] double total_weight() const;
  [[nodiscard]] double mean() const;
};

// values[n] *= weights[n], for the derivatives of a loss.
void multiply_by(const double* weights, Index count, double* values);

class Loss {
 public:
  virtual ~Loss() = default;
  // With its parameter, if it has one: what find_loss takes.
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual Task task() const = 0;

  // The sum of weight * loss. Weights may be null, here and below: 1.
  [[nodiscard]] virtual double sum(const double* scores, const double* targets, const double* weights,
                                   Index count) const = 0;
  // Also stores weight * dL/df of each row, and returns the sum of the losses.
  virtual double gradient(const double* scores, const double* targets, const double* weights, Index count,
                          double* first) const = 0;
  // Also stores weight * d2L/df2 of each row.
  virtual double derivatives(const double* scores, const double* targets, const double* weights, Index count,
                             double* first, double* second) const = 0;
  // The loss is a quadratic function of the score if d2L/df2 is this everywhere: then products of atoms say
  // all about it, and one linear solve minimises it.
  [[nodiscard]] virtual std::optional<double> constant_curvature() const { return std::nullopt; }

  // The score that is best for all rows alike.
  [[nodiscard]] virtual double best_constant(const TargetColumn& targets) const = 0;
  // What is predicted where the score is this one; for classes the probability of the second one.
  [[nodiscard]] virtual double prediction(double score) const { return score; }
  // The same as a formula in `score`; and what the score of a target is called.
  [[nodiscard]] virtual std::string_view prediction_text() const { return "score"; }
  [[nodiscard]] virtual std::string score_text(const std::string& target) const { return target; }
  // What a target must be, such as "a number that is not negative", if this value is not; else empty.
  [[nodiscard]] virtual std::string_view required_of(double /*target*/) const { return {}; }
  // Whether the loss depends on f - y alone, so that a constant may be taken off the targets before the fit.
  [[nodiscard]] virtual bool is_of_differences() const { return false; }
  // What losses are multiplied by if scores and targets are multiplied by `scale`.
  [[nodiscard]] virtual double unit(double /*scale*/) const { return 1; }
  // What a mean loss is called in reports.
  [[nodiscard]] virtual std::string_view measure() const = 0;
  // How much of the loss one unit of log-likelihood is, where the mean loss is this.
  [[nodiscard]] virtual double of_likelihood(double mean_loss) const = 0;
};

// From its name, such as `squared` or `huber(1.5)`. Throws Error(kInvalidArgument), saying what there is, if
// there is none or if its parameter is wrong.
[[nodiscard]] std::shared_ptr<const Loss> find_loss(std::string_view name);
// One of each kind.
[[nodiscard]] std::span<const Loss* const> losses();
// The one of the kind of that name, whatever the parameter: enough to predict with, and nothing is allocated.
[[nodiscard]] const Loss& loss_of_kind(std::string_view name);

}  // namespace mfga
