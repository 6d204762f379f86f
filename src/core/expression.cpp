#include "core/expression.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "mfga/error.hpp"

namespace mfga {

using Kind = ExpressionKind;

Expression ExpressionGraph::add_node(ExpressionNode node) {
  if (!std::ranges::all_of(node.numbers, [](double number) { return std::isfinite(number); })) {
    throw Error(ErrorKind::kInvalidArgument,
                "the model cannot be exported: its numbers are so large, or so small, that products of them "
                "are not finite");
  }
  const auto [entry, is_new] = known_.try_emplace(node, Expression{static_cast<std::int32_t>(nodes_.size())});
  if (is_new) nodes_.push_back(std::move(node));
  return entry->second;
}

Expression ExpressionGraph::constant(double value) { return add_node({Kind::kConstant, {}, {value}}); }

Expression ExpressionGraph::column(Index column) { return add_node({Kind::kColumn, {}, {}, column}); }

Expression ExpressionGraph::sum(std::span<const Expression> terms, std::span<const double> weights,
                                double constant_part) {
  ExpressionNode result{Kind::kSum};
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (is_constant(terms[i])) {
      constant_part += weights[i] * value(terms[i]);
    } else if (weights[i] != 0) {
      result.arguments.push_back(terms[i]);
      result.numbers.push_back(weights[i]);
    }
  }
  if (result.arguments.empty()) return constant(constant_part);
  if (result.arguments.size() == 1 && result.numbers[0] == 1 && constant_part == 0)
    return result.arguments[0];
  result.numbers.push_back(constant_part);
  return add_node(std::move(result));
}

Expression ExpressionGraph::plus(Expression a, double constant) {
  return sum(std::span(&a, 1), std::array{1.0}, constant);
}

Expression ExpressionGraph::times(Expression a, double factor) {
  return sum(std::span(&a, 1), std::span(&factor, 1));
}

Expression ExpressionGraph::add(Expression a, Expression b) {
  return sum(std::array{a, b}, std::array{1.0, 1.0});
}

Expression ExpressionGraph::subtract(Expression a, Expression b) {
  return sum(std::array{a, b}, std::array{1.0, -1.0});
}

Expression ExpressionGraph::product(std::span<const Expression> factors) {
  double constant_factor = 1;
  ExpressionNode result{Kind::kProduct};
  for (const Expression factor : factors) {
    if (is_constant(factor)) {
      constant_factor *= value(factor);
    } else {
      result.arguments.push_back(factor);
    }
  }
  if (result.arguments.empty()) return constant(constant_factor);
  const Expression rest = result.arguments.size() == 1 ? result.arguments[0] : add_node(std::move(result));
  return times(rest, constant_factor);
}

Expression ExpressionGraph::product(std::initializer_list<Expression> factors) {
  return product(std::span(factors.begin(), factors.size()));
}

Expression ExpressionGraph::quotient(Expression a, Expression b) {
  if (is_constant(b)) return times(a, 1 / value(b));
  return add_node({Kind::kQuotient, {a, b}});
}

Expression ExpressionGraph::power(Expression a, int exponent) {
  if (exponent == 0) return constant(1);
  if (exponent == 1) return a;
  if (is_constant(a)) return constant(std::pow(value(a), exponent));
  return add_node({Kind::kPower, {a}, {1.0 * exponent}});
}

Expression ExpressionGraph::square_distance(std::span<const Expression> from, std::span<const double> to) {
  return add_node({Kind::kSquareDistance, {from.begin(), from.end()}, {to.begin(), to.end()}});
}

Expression ExpressionGraph::distance(std::span<const Expression> from, std::span<const double> to) {
  return add_node({Kind::kDistance, {from.begin(), from.end()}, {to.begin(), to.end()}});
}

Expression ExpressionGraph::function(ExpressionKind kind, Expression a) {
  if (!is_constant(a)) return add_node({kind, {a}});
  const double x = value(a);
  switch (kind) {
    case Kind::kExp:
      return constant(std::exp(x));
    case Kind::kLog:
      return constant(std::log(x));
    case Kind::kSqrt:
      return constant(std::sqrt(x));
    case Kind::kCos:
      return constant(std::cos(x));
    case Kind::kSin:
      return constant(std::sin(x));
    default:
      return constant(std::abs(x));
  }
}

Expression ExpressionGraph::max(Expression a, Expression b) {
  if (is_constant(a) && is_constant(b)) return constant(std::max(value(a), value(b)));
  return add_node({Kind::kMax, {a, b}});
}

Expression ExpressionGraph::min(Expression a, Expression b) {
  if (is_constant(a) && is_constant(b)) return constant(std::min(value(a), value(b)));
  return add_node({Kind::kMin, {a, b}});
}

Expression ExpressionGraph::largest(std::span<const Expression> of) {
  if (of.size() == 1) return of[0];
  const std::size_t half = of.size() / 2;
  const Expression first = largest(of.first(half));
  return max(first, largest(of.subspan(half)));
}

Expression ExpressionGraph::line(Expression a, std::span<const double> knots,
                                 std::span<const double> values) {
  if (is_constant(a)) {
    const double x = std::clamp(value(a), knots.front(), knots.back());
    const auto above = std::ranges::upper_bound(knots, x);
    const auto i = static_cast<std::size_t>(std::max<Index>(0, above - knots.begin() - 1));
    if (i + 1 == knots.size()) return constant(values.back());
    return constant(values[i] + (values[i + 1] - values[i]) / (knots[i + 1] - knots[i]) * (x - knots[i]));
  }
  ExpressionNode result{Kind::kLine, {a}, {knots.begin(), knots.end()}};
  result.numbers.insert(result.numbers.end(), values.begin(), values.end());
  return add_node(std::move(result));
}

Expression ExpressionGraph::select(Expression condition, Expression then, Expression otherwise) {
  if (then == otherwise) return then;
  if (is_constant(condition)) return value(condition) != 0 ? then : otherwise;
  return add_node({Kind::kSelect, {condition, then, otherwise}});
}

Expression ExpressionGraph::at_least(Expression a, Expression b) {
  if (is_constant(a) && is_constant(b)) return constant(value(a) >= value(b) ? 1 : 0);
  return add_node({Kind::kAtLeast, {a, b}});
}

Expression ExpressionGraph::is_missing(Index column) { return add_node({Kind::kIsMissing, {}, {}, column}); }

Expression ExpressionGraph::is_level(Index column, Index level) {
  return add_node({Kind::kIsLevel, {}, {static_cast<double>(level)}, column});
}

Expression ExpressionGraph::step(Expression a, double knot) {
  return select(at_least(a, constant(knot)), constant(1), constant(0));
}

ExpressionGraph::Scaled ExpressionGraph::scaled(Expression expression) const {
  const ExpressionNode& own = node(expression);
  if (own.kind != Kind::kSum || own.arguments.size() != 1 || own.numbers[1] != 0) return {1, expression};
  return {own.numbers[0], own.arguments[0]};
}

}  // namespace mfga
