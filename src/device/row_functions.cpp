#include "device/row_functions.hpp"

#include <algorithm>

namespace mfga {
namespace {

using Kind = RowStep::Kind;

// Walks along the expression from its leaves to its root. What several parts have in common is computed for
// each of them, for atoms share little.
class Writer {
 public:
  Writer(const ExpressionGraph& graph, RowFunctions& functions) : graph_(graph), functions_(functions) {}

  bool write(Expression expression) {
    const ExpressionNode& node = graph_.node(expression);
    switch (node.kind) {
      case ExpressionKind::kConstant:
        return push({.kind = Kind::kConstant, .number = node.numbers[0]});
      case ExpressionKind::kColumn:
        return push({.kind = Kind::kInput, .position = static_cast<std::int32_t>(node.column)});
      case ExpressionKind::kSum:
        return push({.kind = Kind::kConstant, .number = node.numbers.back()}) &&
               combine(node, Kind::kAddInput, Kind::kAddTop);
      case ExpressionKind::kSquareDistance:
        return push({.kind = Kind::kConstant}) && combine(node, Kind::kAddSquare, Kind::kAddSquareOfTop);
      case ExpressionKind::kDistance:
        return push({.kind = Kind::kConstant}) && combine(node, Kind::kAddDistance, Kind::kAddDistanceOfTop);
      case ExpressionKind::kProduct:
        return write_product(node);
      case ExpressionKind::kQuotient:
        return write_all(node.arguments) && reduce(Kind::kDivideByTop);
      case ExpressionKind::kPower:
        return write(node.arguments[0]) &&
               add({.kind = Kind::kPower, .position = static_cast<std::int32_t>(node.numbers[0])});
      case ExpressionKind::kExp:
        return write(node.arguments[0]) && add({.kind = Kind::kExp});
      case ExpressionKind::kLog:
        return write(node.arguments[0]) && add({.kind = Kind::kLog});
      case ExpressionKind::kSqrt:
        return write(node.arguments[0]) && add({.kind = Kind::kSqrt});
      case ExpressionKind::kCos:
        return write(node.arguments[0]) && add({.kind = Kind::kCos});
      case ExpressionKind::kSin:
        return write(node.arguments[0]) && add({.kind = Kind::kSin});
      case ExpressionKind::kAbs:
        return write(node.arguments[0]) && add({.kind = Kind::kAbs});
      case ExpressionKind::kMax:
        return write_all(node.arguments) && reduce(Kind::kMax);
      case ExpressionKind::kMin:
        return write_all(node.arguments) && reduce(Kind::kMin);
      case ExpressionKind::kLine:
        return write_line(node);
      case ExpressionKind::kSelect:
        return write_select(node);
      case ExpressionKind::kAtLeast:
      case ExpressionKind::kIsMissing:
      case ExpressionKind::kIsLevel:
        return false;
    }
    return false;
  }

 private:
  static constexpr std::ptrdiff_t kMostSteps = 1 << 16;

  bool add(const RowStep& step) {
    functions_.steps.push_back(step);
    return ++written_ <= kMostSteps;
  }
  bool push(const RowStep& step) { return ++depth_ <= kDeepestRowStack && add(step); }
  // A step that leaves one number in the places of several.
  bool reduce(Kind kind, double number = 0, int numbers = 2) {
    depth_ -= numbers - 1;
    return add({.kind = kind, .number = number});
  }

  bool write_all(std::span<const Expression> expressions) {
    return std::ranges::all_of(expressions, [&](Expression e) { return write(e); });
  }
  // Adds each argument to the number on top, in a way that depends on its number.
  bool combine(const ExpressionNode& node, Kind of_input, Kind of_top) {
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
      const ExpressionNode& argument = graph_.node(node.arguments[i]);
      const bool is_input = argument.kind == ExpressionKind::kColumn;
      if (is_input ? !add({of_input, static_cast<std::int32_t>(argument.column), 0, node.numbers[i]})
                   : !write(node.arguments[i]) || !reduce(of_top, node.numbers[i]))
        return false;
    }
    return true;
  }
  bool write_product(const ExpressionNode& node) {
    if (!write(node.arguments[0])) return false;
    for (const Expression factor : std::span(node.arguments).subspan(1)) {
      const ExpressionNode& argument = graph_.node(factor);
      if (argument.kind == ExpressionKind::kColumn) {
        if (!add({.kind = Kind::kTimesInput, .position = static_cast<std::int32_t>(argument.column)}))
          return false;
      } else if (!write(factor) || !reduce(Kind::kTimesTop)) {
        return false;
      }
    }
    return true;
  }
  bool write_line(const ExpressionNode& node) {
    if (!write(node.arguments[0])) return false;
    const auto first = static_cast<std::int32_t>(functions_.tables.size());
    functions_.tables.insert(functions_.tables.end(), node.numbers.begin(), node.numbers.end());
    return add({Kind::kLine, first, static_cast<std::int32_t>(node.numbers.size() / 2), 0});
  }
  bool write_select(const ExpressionNode& node) {
    const ExpressionNode& condition = graph_.node(node.arguments[0]);
    return condition.kind == ExpressionKind::kAtLeast && write_all(condition.arguments) &&
           write_all(std::span(node.arguments).subspan(1)) && reduce(Kind::kSelect, 0, 4);
  }

  const ExpressionGraph& graph_;
  RowFunctions& functions_;
  int depth_ = 0;
  std::ptrdiff_t written_ = 0;
};

}  // namespace

std::vector<Expression> input_expressions(Index count, ExpressionGraph& graph) {
  std::vector<Expression> inputs;
  for (Index j = 0; j < count; ++j) inputs.push_back(graph.column(j));
  return inputs;
}

bool append(const ExpressionGraph& graph, Expression expression, RowFunctions& functions) {
  const std::size_t steps = functions.steps.size();
  const std::size_t tables = functions.tables.size();
  if (!Writer(graph, functions).write(expression)) {
    functions.steps.resize(steps);
    functions.tables.resize(tables);
    return false;
  }
  functions.ends.push_back(static_cast<std::int32_t>(functions.steps.size()));
  return true;
}

}  // namespace mfga
