// A loss L(f, y) of the scores f of a row, one per output, against its target y, and all that depends on it.
// A new loss is one file and one line in registry.cpp; one that looks at each output by itself is a
// SeparableLoss.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/expression.hpp"
#include "device/device.hpp"
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

// Targets of some rows, column after column, and the rows' weights; none: 1.
struct TargetColumns {
  std::span<const double> values;
  std::span<const double> weights = {};
  Index columns = 1;

  [[nodiscard]] TargetColumn column(Index k) const {
    const std::size_t rows = values.size() / static_cast<std::size_t>(columns);
    return {values.subspan(static_cast<std::size_t>(k) * rows, rows), weights};
  }
};

// Scores and targets of a few rows that follow one another.
struct ScoredRows {
  const double* scores = nullptr;   // [outputs x stride]
  const double* targets = nullptr;  // [target columns x target_stride]
  const double* weights = nullptr;  // null: 1
  Index rows = 0;
  Index outputs = 1;
  Index stride = 0;
  Index target_stride = 0;
};

// values[n] *= weights[n], for the derivatives of a loss.
void multiply_by(const double* weights, Index count, double* values);

class Loss {
 public:
  virtual ~Loss() = default;
  // With its parameter, if it has one: what find_loss takes.
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual Task task() const = 0;
  // The number of scores per row where there are so many columns of targets.
  [[nodiscard]] virtual Index outputs(Index target_columns) const = 0;

  // The sum of weight * loss.
  [[nodiscard]] virtual double sum(const ScoredRows& rows) const = 0;
  // Also stores weight * dL/df, [outputs x stride], and returns the sum of the losses.
  virtual double gradient(const ScoredRows& rows, double* first) const = 0;
  // Also stores weight * d2L/df2 of each output by itself.
  virtual double derivatives(const ScoredRows& rows, double* first, double* second) const = 0;
  // The same of one output. Weights may be null: 1.
  [[nodiscard]] double sum(const double* scores, const double* targets, const double* weights,
                           Index count) const {
    return sum({scores, targets, weights, count});
  }
  double gradient(const double* scores, const double* targets, const double* weights, Index count,
                  double* first) const {
    return gradient({scores, targets, weights, count}, first);
  }
  double derivatives(const double* scores, const double* targets, const double* weights, Index count,
                     double* first, double* second) const {
    return derivatives({scores, targets, weights, count}, first, second);
  }
  // The loss is a quadratic function of each output's score if d2L/df2 is this everywhere: then products of
  // atoms say all about it, and one linear solve minimises it.
  [[nodiscard]] virtual std::optional<double> constant_curvature() const { return std::nullopt; }

  // How devices compute it, if they can.
  [[nodiscard]] virtual std::optional<DeviceLoss> on_device() const { return std::nullopt; }

  // Whether the loss stays the same where one number is added to all scores of a row.
  [[nodiscard]] virtual bool ignores_common_shifts() const { return false; }

  // The scores that are best for all rows alike, one per output.
  [[nodiscard]] virtual std::vector<double> best_constants(const TargetColumns& targets) const = 0;
  [[nodiscard]] double best_constant(const TargetColumn& targets) const {
    return best_constants({targets.values, targets.weights}).front();
  }
  // What is predicted where the score is this one; for two classes the probability of the second one.
  [[nodiscard]] virtual double prediction(double score) const { return score; }
  // What is predicted from the scores of a row, to be computed elsewhere: a number for each of them; of two
  // classes, which have one score, the probability of the second one, of more that of each.
  [[nodiscard]] virtual std::vector<Expression> link(std::span<const Expression> scores,
                                                     ExpressionGraph& /*graph*/) const {
    return {scores.begin(), scores.end()};
  }
  // The prediction of one score as a formula in `score`; and what the score of a target is called.
  [[nodiscard]] virtual std::string_view prediction_text() const { return "score"; }
  [[nodiscard]] virtual std::string score_text(const std::string& target) const { return target; }
  // What a target must be, such as "a number that is not negative", if this value is not; else empty.
  [[nodiscard]] virtual std::string_view required_of(double /*target*/) const { return {}; }
  // Whether the loss depends on f - y alone, so that a constant may be taken off the targets before the fit.
  [[nodiscard]] virtual bool is_of_differences() const { return false; }
  // Whether the loss has a length of its own, so that targets must be in units of their spread.
  [[nodiscard]] virtual bool needs_units_of_spread() const { return false; }
  // What losses are multiplied by if scores and targets are multiplied by `scale`.
  [[nodiscard]] virtual double unit(double /*scale*/) const { return 1; }
  // What a mean loss is called in reports.
  [[nodiscard]] virtual std::string_view measure() const = 0;
  // How much of the loss one unit of log-likelihood is, where the mean loss is this.
  [[nodiscard]] virtual double of_likelihood(double mean_loss) const = 0;
};

// A loss of one score against one target; with several outputs the sum over them, each with a target of its
// own.
class SeparableLoss : public Loss {
 public:
  using Loss::derivatives;
  using Loss::gradient;
  using Loss::sum;
  [[nodiscard]] Index outputs(Index target_columns) const final { return target_columns; }
  [[nodiscard]] double sum(const ScoredRows& rows) const final;
  double gradient(const ScoredRows& rows, double* first) const final;
  double derivatives(const ScoredRows& rows, double* first, double* second) const final;
  [[nodiscard]] std::vector<double> best_constants(const TargetColumns& targets) const final;

 protected:
  // The sum of weight * loss; weights may be null.
  [[nodiscard]] virtual double sum_of_one(const double* scores, const double* targets, const double* weights,
                                          Index count) const = 0;
  virtual double gradient_of_one(const double* scores, const double* targets, const double* weights,
                                 Index count, double* first) const = 0;
  virtual double derivatives_of_one(const double* scores, const double* targets, const double* weights,
                                    Index count, double* first, double* second) const = 0;
  [[nodiscard]] virtual double constant_of_one(const TargetColumn& targets) const = 0;
};

// The link of losses whose score is the logarithm of a mean.
[[nodiscard]] std::vector<Expression> exponentials_of(std::span<const Expression> scores,
                                                      ExpressionGraph& graph);

// From its name, such as `squared` or `huber(1.5)`. Throws Error(kInvalidArgument), saying what there is, if
// there is none or if its parameter is wrong.
[[nodiscard]] std::shared_ptr<const Loss> find_loss(std::string_view name);
// One of each kind.
[[nodiscard]] std::span<const Loss* const> losses();
// The one of the kind of that name, whatever the parameter: enough to predict with, and nothing is allocated.
[[nodiscard]] const Loss& loss_of_kind(std::string_view name);

}  // namespace mfga
