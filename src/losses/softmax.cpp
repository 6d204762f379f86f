// The softmax loss for several classes, each with a score of its own: with y the position of the class,
//
//   L(f, y) = log(sum_k exp(f_k)) - f_y.
//
// The largest score of a row is taken off before any exponential, so that nothing overflows.
#include "losses/softmax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/row_kernels.hpp"
#include "core/vectorise.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

MFGA_VECTORISED void raise_to(const double* values, Index count, double* largest) {
  for (Index n = 0; n < count; ++n) largest[n] = std::max(largest[n], values[n]);
}
MFGA_VECTORISED void set_differences(const double* a, const double* b, Index count, double* out) {
  for (Index n = 0; n < count; ++n) out[n] = a[n] - b[n];
}
MFGA_VECTORISED void add_to(double* sums, const double* values, Index count) {
  for (Index n = 0; n < count; ++n) sums[n] += values[n];
}
// Weighted probabilities and curvatures, from what is their multiple by `rates`.
MFGA_VECTORISED void set_probabilities(const double* rates, const double* weights, Index count, double* own,
                                       double* second) {
  for (Index n = 0; n < count; ++n) {
    const double probability = own[n] * rates[n];
    own[n] = weights[n] * probability;
    if (second != nullptr) second[n] = weights[n] * probability * (1 - probability);
  }
}

constexpr Index kRowsAtOnce = 128;  // rows at a time, whose largest scores and sums are kept on the stack

class SoftmaxLoss final : public Loss {
 public:
  explicit SoftmaxLoss(Index classes) : classes_(classes) {}

  [[nodiscard]] std::string name() const override { return fmt::format("softmax({})", classes_); }
  [[nodiscard]] Task task() const override { return Task::kClassification; }
  [[nodiscard]] Index outputs(Index /*target_columns*/) const override { return classes_; }

  using Loss::derivatives;
  using Loss::gradient;
  using Loss::sum;
  [[nodiscard]] double sum(const ScoredRows& rows) const override { return each(rows, nullptr, nullptr); }
  double gradient(const ScoredRows& rows, double* first) const override { return each(rows, first, nullptr); }
  double derivatives(const ScoredRows& rows, double* first, double* second) const override {
    return each(rows, first, second);
  }

  [[nodiscard]] bool ignores_common_shifts() const override { return true; }

  // The logarithms of the classes' shares. A class without rows would have minus infinity: it is taken for
  // one with a small part of a row.
  [[nodiscard]] std::vector<double> best_constants(const TargetColumns& targets) const override {
    constexpr double kPartOfARow = 1e-3;
    std::vector<double> constants(static_cast<std::size_t>(classes_));
    for (std::size_t n = 0; n < targets.values.size(); ++n)
      constants[static_cast<std::size_t>(targets.values[n])] +=
          targets.weights.empty() ? 1 : targets.weights[n];
    double mean = 0;
    for (double& constant : constants) {
      constant = std::log(std::max(constant, kPartOfARow));
      mean += constant / static_cast<double>(classes_);
    }
    for (double& constant : constants) constant -= mean;
    return constants;
  }
  [[nodiscard]] std::vector<Expression> link(std::span<const Expression> scores,
                                             ExpressionGraph& graph) const override {
    return softmax_expressions(scores, graph);
  }
  [[nodiscard]] std::string_view measure() const override { return "log_loss"; }
  [[nodiscard]] double of_likelihood(double /*mean_loss*/) const override { return 0.5; }

 private:
  // Returns the sum of the losses, and stores what is not null.
  double each(const ScoredRows& rows, double* first, double* second) const {
    double total = 0;
    for (Index begin = 0; begin < rows.rows; begin += kRowsAtOnce) {
      const Index count = std::min(kRowsAtOnce, rows.rows - begin);
      ScoredRows some = rows;
      some.scores += begin;
      some.targets += begin;
      if (some.weights != nullptr) some.weights += begin;
      some.rows = count;
      total += chunk(some, first == nullptr ? nullptr : first + begin,
                     second == nullptr ? nullptr : second + begin);
    }
    return total;
  }

  [[nodiscard]] double chunk(const ScoredRows& rows, double* first, double* second) const {
    double largest[kRowsAtOnce];
    double sums[kRowsAtOnce];
    double powers[kRowsAtOnce];
    std::copy_n(rows.scores, rows.rows, largest);
    for (Index k = 1; k < classes_; ++k) raise_to(rows.scores + k * rows.stride, rows.rows, largest);
    std::fill_n(sums, rows.rows, 0.0);
    for (Index k = 0; k < classes_; ++k) {
      const double* scores = rows.scores + k * rows.stride;
      double* own = first == nullptr ? powers : first + k * rows.stride;
      set_differences(largest, scores, rows.rows, own);
      exponentials(own, -1, rows.rows, own);
      add_to(sums, own, rows.rows);
    }
    double total = 0;
    for (Index n = 0; n < rows.rows; ++n) {
      const auto own = static_cast<Index>(rows.targets[n]);
      const double weight = rows.weights == nullptr ? 1 : rows.weights[n];
      total += weight * (std::log(sums[n]) + largest[n] - rows.scores[own * rows.stride + n]);
    }
    if (first == nullptr) return total;
    double weights[kRowsAtOnce];
    for (Index n = 0; n < rows.rows; ++n) {
      sums[n] = 1 / sums[n];
      weights[n] = rows.weights == nullptr ? 1 : rows.weights[n];
    }
    for (Index k = 0; k < classes_; ++k) {
      set_probabilities(sums, weights, rows.rows, first + k * rows.stride,
                        second == nullptr ? nullptr : second + k * rows.stride);
    }
    for (Index n = 0; n < rows.rows; ++n) {
      first[static_cast<Index>(rows.targets[n]) * rows.stride + n] -=
          rows.weights == nullptr ? 1 : rows.weights[n];
    }
    return total;
  }

  Index classes_;
};

}  // namespace

std::shared_ptr<const Loss> softmax_loss(double classes) {
  constexpr double kMostClasses = 10000;
  if (!(classes >= 2 && classes <= kMostClasses && classes == std::floor(classes))) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("the number of classes of the softmax loss is {}; expected 2 to {}", classes,
                            kMostClasses));
  }
  return std::make_shared<SoftmaxLoss>(static_cast<Index>(classes));
}

void softmax_probabilities(double* scores, Index classes, Index stride) {
  double largest = scores[0];
  for (Index k = 1; k < classes; ++k) largest = std::max(largest, scores[k * stride]);
  double sum = 0;
  for (Index k = 0; k < classes; ++k) {
    scores[k * stride] = std::exp(scores[k * stride] - largest);
    sum += scores[k * stride];
  }
  for (Index k = 0; k < classes; ++k) scores[k * stride] /= sum;
}

std::vector<Expression> softmax_expressions(std::span<const Expression> scores, ExpressionGraph& graph) {
  const Expression largest = graph.largest(scores);
  std::vector<Expression> powers;
  for (const Expression score : scores) powers.push_back(graph.exp(graph.subtract(score, largest)));
  const Expression sum = graph.sum(powers, std::vector<double>(powers.size(), 1.0));
  for (Expression& power : powers) power = graph.quotient(power, sum);
  return powers;
}

}  // namespace mfga
