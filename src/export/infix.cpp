#include "export/infix.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "export/names.hpp"

namespace mfga {

using Kind = ExpressionKind;

InfixPrinter::InfixPrinter(const Program& program)
    : program_(program), names_(static_cast<std::size_t>(program.graph.size())) {}

void InfixPrinter::set_name(Expression expression, std::string name) {
  names_[static_cast<std::size_t>(expression.id)] = std::move(name);
}

void InfixPrinter::define_parts(const std::vector<Expression>& roots) {
  std::vector<int> uses(names_.size());
  for (const Expression root : roots) ++uses[static_cast<std::size_t>(root.id)];
  for (std::size_t id = uses.size(); id-- > 0;) {
    if (uses[id] == 0 || !names_[id].empty()) continue;
    const ExpressionNode& node = graph().node({static_cast<std::int32_t>(id)});
    for (const Expression argument : node.arguments)
      uses[static_cast<std::size_t>(argument.id)] += repetitions(node, argument);
  }
  std::vector<std::size_t> input_number(names_.size());  // from 1 on; 0: none
  for (std::size_t i = program_.inputs.size(); i > 0; --i)
    input_number[static_cast<std::size_t>(program_.inputs[i - 1].id)] = i;
  for (std::size_t id = 0; id < uses.size(); ++id) {
    const Expression expression{static_cast<std::int32_t>(id)};
    const ExpressionNode& node = graph().node(expression);
    const bool is_simple = node.kind == Kind::kConstant || node.kind == Kind::kColumn || node.is_condition();
    if (is_simple || uses[id] == 0 || !names_[id].empty() || (uses[id] == 1 && input_number[id] == 0))
      continue;
    const Printed own = formula(expression);
    names_[id] = input_number[id] > 0 ? part_name('z', input_number[id]) : part_name('v', ++n_values_);
    define(expression, names_[id], own);
  }
}

std::string InfixPrinter::part_name(char kind, std::size_t number) const {
  return fmt::format("{}{}", kind, number);
}

Printed InfixPrinter::print(Expression expression) {
  const std::string& name = names_[static_cast<std::size_t>(expression.id)];
  return name.empty() ? formula(expression) : Printed{name};
}

Printed InfixPrinter::formula(Expression expression) {
  const ExpressionNode& node = graph().node(expression);
  const auto argument = [&](std::size_t i) { return print(node.arguments[i]); };
  switch (node.kind) {
    case Kind::kConstant:
      return number(node.numbers[0]);
    case Kind::kColumn:
      return column(node.column);
    case Kind::kSum:
      return sum(node);
    case Kind::kProduct: {
      std::vector<std::string> factors;
      for (const Expression factor : node.arguments) factors.push_back(held(print(factor), Strength::kPower));
      return {fmt::format("{}", fmt::join(factors, times())), Strength::kProduct};
    }
    case Kind::kQuotient:
      return quotient(argument(0), argument(1));
    case Kind::kPower:
      return power(argument(0), static_cast<int>(node.numbers[0]));
    case Kind::kSquareDistance:
      return square_distance(node);
    case Kind::kDistance:
      return distance(node);
    case Kind::kMax:
      return larger(argument(0), argument(1));
    case Kind::kMin:
      return smaller(argument(0), argument(1));
    case Kind::kLine:
      return line(node);
    case Kind::kSelect:
      return select(graph().node(node.arguments[0]), argument(1), argument(2));
    default:
      return call(function_name(node.kind), {argument(0).text});
  }
}

Printed InfixPrinter::number(double value) const {
  return {full_number(value), std::signbit(value) ? Strength::kSum : Strength::kWhole};
}

Printed InfixPrinter::call(const std::string& name, const std::vector<std::string>& arguments) const {
  return {fmt::format("{}({})", name, fmt::join(arguments, ", "))};
}

Printed InfixPrinter::quotient(const Printed& a, const Printed& b) const {
  return {held(a, Strength::kPower) + " / " + held(b, Strength::kPower), Strength::kProduct};
}

std::string InfixPrinter::held(const Printed& printed, Strength strength) const {
  return printed.strength < strength ? "(" + printed.text + ")" : printed.text;
}

std::string InfixPrinter::weighted(double weight, const Printed& printed, bool is_first) const {
  const bool is_negative = std::signbit(weight);
  const std::string sign = is_first ? (is_negative ? "-" : "") : (is_negative ? " - " : " + ");
  if (std::abs(weight) == 1) return sign + held(printed, Strength::kProduct);
  return sign + number(std::abs(weight)).text + times() + held(printed, Strength::kPower);
}

Printed InfixPrinter::less(const Printed& printed, double value) const {
  if (value == 0) return printed;
  return {held(printed, Strength::kProduct) + (std::signbit(value) ? " + " : " - ") +
              number(std::abs(value)).text,
          Strength::kSum};
}

Printed InfixPrinter::joined(const std::vector<std::string>& signed_terms) const {
  return {fmt::format("{}", fmt::join(signed_terms, "")), Strength::kSum};
}

Printed InfixPrinter::sum(const ExpressionNode& node) {
  const double constant = node.numbers.back();
  const std::size_t count = node.arguments.size();
  if (count == 1 && constant == 0)
    return {weighted(node.numbers[0], print(node.arguments[0]), true),
            std::signbit(node.numbers[0]) ? Strength::kSum : Strength::kProduct};
  std::vector<std::string> terms;
  // A constant that is added to one thing stands behind it, else in front.
  const bool is_shift = count == 1;
  if (!is_shift && constant != 0) terms.push_back(number(constant).text);
  for (std::size_t i = 0; i < count; ++i)
    terms.push_back(weighted(node.numbers[i], print(node.arguments[i]), terms.empty()));
  if (is_shift) terms.push_back((std::signbit(constant) ? " - " : " + ") + number(std::abs(constant)).text);
  return joined(terms);
}

Printed InfixPrinter::square_distance(const ExpressionNode& node) {
  std::vector<std::string> terms;
  for (std::size_t i = 0; i < node.arguments.size(); ++i) {
    const Printed square = power(less(print(node.arguments[i]), node.numbers[i]), 2);
    terms.push_back((i == 0 ? "" : " + ") + held(square, Strength::kProduct));
  }
  return terms.empty() ? number(0) : joined(terms);
}

Printed InfixPrinter::distance(const ExpressionNode& node) {
  std::vector<std::string> terms;
  for (std::size_t i = 0; i < node.arguments.size(); ++i) {
    const Printed difference = less(print(node.arguments[i]), node.numbers[i]);
    terms.push_back((i == 0 ? "" : " + ") + call(function_name(Kind::kAbs), {difference.text}).text);
  }
  return terms.empty() ? number(0) : joined(terms);
}

}  // namespace mfga
