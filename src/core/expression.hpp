// Formulas as data: what atoms and links compute, for programs in other languages to be printed from
// (src/export). An expression is a node of a graph; equal nodes are one node, so that what several terms
// have in common is there once. The arguments of a node come before it.
#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <vector>

#include "mfga/views.hpp"

namespace mfga {

enum class ExpressionKind : std::uint8_t {
  kConstant,        // numbers[0]
  kColumn,          // the number that a row has in column `column`
  kSum,             // numbers.back() + sum of numbers[i] * arguments[i]
  kProduct,         // of the arguments
  kQuotient,        // arguments[0] / arguments[1]
  kPower,           // arguments[0] to the power numbers[0], a whole number above 1
  kSquareDistance,  // sum of (arguments[i] - numbers[i])^2
  kDistance,        // sum of |arguments[i] - numbers[i]|
  kExp,
  kLog,
  kSqrt,
  kCos,
  kSin,
  kAbs,
  kMax,     // of two
  kMin,     // of two
  kLine,    // straight lines between the points (numbers[i], numbers[n + i]), i < n; level outside of them
  kSelect,  // arguments[1] where the condition arguments[0] holds, else arguments[2]
  // Conditions, which stand in kSelect only.
  kAtLeast,    // arguments[0] >= arguments[1]
  kIsMissing,  // the column `column` has no value
  kIsLevel,    // the text in column `column` is of level numbers[0]
};

// A node of an ExpressionGraph.
struct Expression {
  std::int32_t id = -1;
  // NOLINTNEXTLINE(modernize-use-nullptr): it takes what the compiler writes here for a 0
  friend auto operator<=>(const Expression&, const Expression&) = default;
};

struct ExpressionNode {
  ExpressionKind kind = ExpressionKind::kConstant;
  std::vector<Expression> arguments = {};
  std::vector<double> numbers = {};
  Index column = -1;

  [[nodiscard]] bool is_condition() const { return kind >= ExpressionKind::kAtLeast; }
  friend std::partial_ordering operator<=>(const ExpressionNode&, const ExpressionNode&) = default;
  friend bool operator==(const ExpressionNode&, const ExpressionNode&) = default;
};

// Nodes of constants alone become constants.
class ExpressionGraph {
 public:
  [[nodiscard]] Expression constant(double value);
  [[nodiscard]] Expression column(Index column);
  [[nodiscard]] Expression sum(std::span<const Expression> terms, std::span<const double> weights,
                               double constant = 0);
  [[nodiscard]] Expression plus(Expression a, double constant);
  [[nodiscard]] Expression times(Expression a, double factor);
  [[nodiscard]] Expression add(Expression a, Expression b);
  [[nodiscard]] Expression subtract(Expression a, Expression b);
  [[nodiscard]] Expression product(std::span<const Expression> factors);
  [[nodiscard]] Expression product(std::initializer_list<Expression> factors);
  [[nodiscard]] Expression quotient(Expression a, Expression b);
  [[nodiscard]] Expression power(Expression a, int exponent);
  [[nodiscard]] Expression square_distance(std::span<const Expression> from, std::span<const double> to);
  [[nodiscard]] Expression distance(std::span<const Expression> from, std::span<const double> to);
  // One of kExp to kAbs.
  [[nodiscard]] Expression function(ExpressionKind kind, Expression a);
  [[nodiscard]] Expression exp(Expression a) { return function(ExpressionKind::kExp, a); }
  [[nodiscard]] Expression log(Expression a) { return function(ExpressionKind::kLog, a); }
  [[nodiscard]] Expression sqrt(Expression a) { return function(ExpressionKind::kSqrt, a); }
  [[nodiscard]] Expression cos(Expression a) { return function(ExpressionKind::kCos, a); }
  [[nodiscard]] Expression sin(Expression a) { return function(ExpressionKind::kSin, a); }
  [[nodiscard]] Expression abs(Expression a) { return function(ExpressionKind::kAbs, a); }
  [[nodiscard]] Expression max(Expression a, Expression b);
  [[nodiscard]] Expression min(Expression a, Expression b);
  // Of several, in pairs, so that nothing is nested deeply.
  [[nodiscard]] Expression largest(std::span<const Expression> of);
  [[nodiscard]] Expression line(Expression a, std::span<const double> knots, std::span<const double> values);
  [[nodiscard]] Expression select(Expression condition, Expression then, Expression otherwise);
  [[nodiscard]] Expression at_least(Expression a, Expression b);
  [[nodiscard]] Expression is_missing(Index column);
  [[nodiscard]] Expression is_level(Index column, Index level);
  // 1 where a >= knot, else 0.
  [[nodiscard]] Expression step(Expression a, double knot);

  [[nodiscard]] const ExpressionNode& node(Expression expression) const {
    return nodes_[static_cast<std::size_t>(expression.id)];
  }
  [[nodiscard]] Index size() const { return std::ssize(nodes_); }
  // Whether the expression is factor * argument, and nothing else; then these, else 1 and itself.
  struct Scaled {
    double factor = 1;
    Expression base;
  };
  [[nodiscard]] Scaled scaled(Expression expression) const;

 private:
  Expression add_node(ExpressionNode node);
  [[nodiscard]] bool is_constant(Expression expression) const {
    return node(expression).kind == ExpressionKind::kConstant;
  }
  [[nodiscard]] double value(Expression expression) const { return node(expression).numbers[0]; }

  std::vector<ExpressionNode> nodes_;
  std::map<ExpressionNode, Expression> known_;
};

}  // namespace mfga
