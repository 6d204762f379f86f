// One score for each class against all others: the sum over classes of their logistic losses. Scores do not
// know of one another; the probability of a class is its own, 1 / (1 + exp(-f)), over the sum of those of all
// classes.
#include "losses/one_vs_rest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "losses/logistic.hpp"
#include "losses/softmax.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

class OneVsRestLoss final : public Loss {
 public:
  explicit OneVsRestLoss(Index classes) : classes_(classes) {}

  [[nodiscard]] std::string name() const override { return fmt::format("one_vs_rest({})", classes_); }
  [[nodiscard]] Task task() const override { return Task::kClassification; }
  [[nodiscard]] Index outputs(Index /*target_columns*/) const override { return classes_; }

  using Loss::derivatives;
  using Loss::gradient;
  using Loss::sum;
  [[nodiscard]] double sum(const ScoredRows& rows) const override {
    return each(rows, [&](const double* scores, const double* signs, const double* weights, Index count,
                          Index) { return logistic_loss().sum(scores, signs, weights, count); });
  }
  double gradient(const ScoredRows& rows, double* first) const override {
    return each(rows, [&](const double* scores, const double* signs, const double* weights, Index count,
                          Index place) {
      return logistic_loss().gradient(scores, signs, weights, count, first + place);
    });
  }
  double derivatives(const ScoredRows& rows, double* first, double* second) const override {
    return each(rows, [&](const double* scores, const double* signs, const double* weights, Index count,
                          Index place) {
      return logistic_loss().derivatives(scores, signs, weights, count, first + place, second + place);
    });
  }

  [[nodiscard]] std::vector<double> best_constants(const TargetColumns& targets) const override {
    std::vector<double> constants;
    std::vector<double> signs(targets.values.size());
    for (Index k = 0; k < classes_; ++k) {
      std::ranges::transform(targets.values, signs.begin(),
                             [&](double target) { return target == static_cast<double>(k) ? 1.0 : -1.0; });
      constants.push_back(logistic_loss().best_constant({signs, targets.weights}));
    }
    return constants;
  }
  // The softmax of the logarithms of each class's own probability.
  [[nodiscard]] std::vector<Expression> link(std::span<const Expression> scores,
                                             ExpressionGraph& graph) const override {
    std::vector<Expression> logarithms;
    for (const Expression score : scores) {
      const Expression small = graph.exp(graph.times(graph.abs(score), -1));
      logarithms.push_back(
          graph.subtract(graph.min(score, graph.constant(0)), graph.log(graph.plus(small, 1))));
    }
    return softmax_expressions(logarithms, graph);
  }
  [[nodiscard]] std::string_view measure() const override { return "log_loss"; }
  [[nodiscard]] double of_likelihood(double mean_loss) const override {
    return logistic_loss().of_likelihood(mean_loss);
  }

 private:
  // Some rows of one class at a time; the place is that of the first among all scores.
  template <class Body>
  double each(const ScoredRows& rows, const Body& body) const {
    constexpr Index kSome = 256;
    std::array<double, kSome> signs;  // NOLINT(cppcoreguidelines-pro-type-member-init): set for `count` rows
    double total = 0;
    for (Index k = 0; k < classes_; ++k) {
      for (Index begin = 0; begin < rows.rows; begin += kSome) {
        const Index count = std::min(kSome, rows.rows - begin);
        for (Index n = 0; n < count; ++n)
          signs[static_cast<std::size_t>(n)] = rows.targets[begin + n] == static_cast<double>(k) ? 1.0 : -1.0;
        const Index place = k * rows.stride + begin;
        total += body(rows.scores + place, signs.data(),
                      rows.weights == nullptr ? nullptr : rows.weights + begin, count, place);
      }
    }
    return total;
  }

  Index classes_;
};

}  // namespace

std::shared_ptr<const Loss> one_vs_rest_loss(double classes) {
  constexpr double kMost = 10000;
  if (!(classes >= 2 && classes <= kMost && classes == std::floor(classes))) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("the number of classes of one_vs_rest is {}; expected 2 to {}", classes, kMost));
  }
  return std::make_shared<OneVsRestLoss>(static_cast<Index>(classes));
}

}  // namespace mfga
