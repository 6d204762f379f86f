// What printers of languages with infix operators share: which parts of a program get a name, and how
// expressions are put together. A language is a subclass that says how its operators are written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "export/program.hpp"

namespace mfga {

// How strongly a text holds together.
enum class Strength { kSum, kProduct, kPower, kWhole };
struct Printed {
  std::string text;
  Strength strength = Strength::kWhole;
};

class InfixPrinter {
 public:
  explicit InfixPrinter(const Program& program);
  InfixPrinter(const InfixPrinter&) = delete;
  InfixPrinter& operator=(const InfixPrinter&) = delete;
  virtual ~InfixPrinter() = default;

  // Has an expression printed by this name from here on.
  void set_name(Expression expression, std::string name);
  // Gives names to what these expressions use more than once, and to scaled inputs, and hands each to
  // `define`, in an order in which they can be computed.
  void define_parts(const std::vector<Expression>& roots);

  // By its name, or as a formula.
  Printed print(Expression expression);
  std::string text(Expression expression) { return print(expression).text; }

 protected:
  // How often the text of an argument stands in that of a node.
  [[nodiscard]] virtual int repetitions(const ExpressionNode& /*node*/, Expression /*argument*/) const {
    return 1;
  }
  // The name of a part of the program: 'z' and the number of a scaled input, 'v' and a number for all else.
  [[nodiscard]] virtual std::string part_name(char kind, std::size_t number) const;
  virtual void define(Expression expression, const std::string& name, const Printed& formula) = 0;

  [[nodiscard]] virtual Printed number(double value) const;
  [[nodiscard]] virtual Printed column(Index column) = 0;
  [[nodiscard]] virtual std::string function_name(ExpressionKind kind) const = 0;
  [[nodiscard]] virtual Printed call(const std::string& name,
                                     const std::vector<std::string>& arguments) const;
  [[nodiscard]] virtual Printed quotient(const Printed& a, const Printed& b) const;
  [[nodiscard]] virtual Printed power(const Printed& base, int exponent) const = 0;
  [[nodiscard]] virtual std::string times() const { return " * "; }
  [[nodiscard]] virtual Printed larger(const Printed& a, const Printed& b) const = 0;
  [[nodiscard]] virtual Printed smaller(const Printed& a, const Printed& b) const = 0;
  [[nodiscard]] virtual Printed line(const ExpressionNode& node) = 0;
  // `condition` is a node of that kind.
  [[nodiscard]] virtual Printed select(const ExpressionNode& condition, const Printed& then,
                                       const Printed& otherwise) = 0;
  // Sums and distances; of these here every part is written.
  [[nodiscard]] virtual Printed sum(const ExpressionNode& node);
  [[nodiscard]] virtual Printed square_distance(const ExpressionNode& node);
  [[nodiscard]] virtual Printed distance(const ExpressionNode& node);

  // In parentheses if it does not hold together as strongly.
  [[nodiscard]] virtual std::string held(const Printed& printed, Strength strength) const;
  // weight * text, with its sign in front; the first one of a sum has none if it is positive.
  [[nodiscard]] std::string weighted(double weight, const Printed& printed, bool is_first) const;
  [[nodiscard]] Printed less(const Printed& printed, double value) const;
  [[nodiscard]] virtual Printed joined(const std::vector<std::string>& signed_terms) const;
  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] const ExpressionGraph& graph() const { return program_.graph; }

 private:
  Printed formula(Expression expression);

  const Program& program_;
  std::vector<std::string> names_;  // by id; empty: none
  std::size_t n_values_ = 0;        // parts that are no scaled inputs
};

}  // namespace mfga
