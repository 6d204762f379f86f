// Formulas to be read: an `aligned` of what is used, the score and what is predicted, with nine digits.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "export/infix.hpp"
#include "export/names.hpp"
#include "export/printers.hpp"

namespace mfga {
namespace {

using Kind = ExpressionKind;

class LatexLines final : public InfixPrinter {
 public:
  explicit LatexLines(const Program& program) : InfixPrinter(program) {}

  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  void add_line(const std::string& name, const std::string& formula) {
    lines_.push_back(fmt::format("{} &= {}", name, formula));
  }
  // A sum with a line for each term.
  void add_sum(const std::string& name, Expression expression) {
    const ExpressionNode& node = graph().node(expression);
    if (node.kind != Kind::kSum || node.arguments.size() < 2) {
      add_line(name, text(expression));
      return;
    }
    std::string sum = number(node.numbers.back()).text;
    for (std::size_t i = 0; i < node.arguments.size(); ++i)
      sum += " \\\\\n &\\quad" + weighted(node.numbers[i], print(node.arguments[i]), false);
    add_line(name, sum);
  }

 protected:
  [[nodiscard]] std::string part_name(char kind, std::size_t number) const override {
    return fmt::format("{}_{{{}}}", kind, number);
  }
  void define(Expression /*expression*/, const std::string& name, const Printed& formula) override {
    add_line(name, formula.text);
  }

  [[nodiscard]] Printed number(double value) const override {
    std::string text = fmt::format("{:.9g}", value);
    if (const std::size_t e = text.find('e'); e != std::string::npos)
      text = fmt::format("{} \\cdot 10^{{{}}}", text.substr(0, e), std::stoi(text.substr(e + 1)));
    return {text, std::signbit(value)                   ? Strength::kSum
                  : text.find(' ') != std::string::npos ? Strength::kProduct
                                                        : Strength::kWhole};
  }
  Printed column(Index column) override {
    return {latex_text(program().columns[static_cast<std::size_t>(column)].name)};
  }
  [[nodiscard]] std::string times() const override { return " \\, "; }
  [[nodiscard]] std::string function_name(Kind kind) const override {
    return kind == Kind::kExp    ? "\\exp"
           : kind == Kind::kLog  ? "\\ln"
           : kind == Kind::kSqrt ? "\\sqrt"
           : kind == Kind::kCos  ? "\\cos"
           : kind == Kind::kSin  ? "\\sin"
                                 : "|";
  }
  [[nodiscard]] Printed call(const std::string& name,
                             const std::vector<std::string>& arguments) const override {
    if (name == "|") return {fmt::format("\\left| {} \\right|", arguments[0])};
    if (name == "\\sqrt") return {fmt::format("\\sqrt{{{}}}", arguments[0])};
    return {fmt::format("{} \\left( {} \\right)", name, fmt::join(arguments, ",\\; "))};
  }
  [[nodiscard]] Printed quotient(const Printed& a, const Printed& b) const override {
    return {fmt::format("\\frac{{{}}}{{{}}}", a.text, b.text)};
  }
  [[nodiscard]] Printed power(const Printed& base, int exponent) const override {
    // A name with an index of its own holds together; a function with its argument does not.
    const bool is_name = base.strength == Strength::kWhole && base.text.find(' ') == std::string::npos;
    return {fmt::format("{}^{{{}}}", is_name ? base.text : in_parentheses(base.text), exponent),
            Strength::kPower};
  }
  [[nodiscard]] std::string held(const Printed& printed, Strength strength) const override {
    return printed.strength < strength ? in_parentheses(printed.text) : printed.text;
  }
  [[nodiscard]] Printed larger(const Printed& a, const Printed& b) const override {
    return call("\\max", {a.text, b.text});
  }
  [[nodiscard]] Printed smaller(const Printed& a, const Printed& b) const override {
    return call("\\min", {a.text, b.text});
  }
  Printed line(const ExpressionNode& node) override {
    const std::size_t count = node.numbers.size() / 2;
    std::vector<std::string> points;
    for (std::size_t i = 0; i < count; ++i)
      points.push_back(
          fmt::format("({}, {})", number(node.numbers[i]).text, number(node.numbers[count + i]).text));
    return {fmt::format("\\operatorname{{line}} \\left( {} ;\\; {} \\right)", text(node.arguments[0]),
                        fmt::join(points, ",\\; "))};
  }
  Printed select(const ExpressionNode& condition, const Printed& then, const Printed& otherwise) override {
    return {fmt::format("\\begin{{cases}} {} & {} \\\\ {} & \\text{{else}} \\end{{cases}}", then.text,
                        condition_text(condition), otherwise.text),
            Strength::kProduct};
  }

 private:
  [[nodiscard]] static std::string in_parentheses(const std::string& text) {
    return fmt::format("\\left( {} \\right)", text);
  }
  std::string condition_text(const ExpressionNode& condition) {
    if (condition.kind == Kind::kAtLeast)
      return fmt::format("{} \\ge {}", text(condition.arguments[0]), text(condition.arguments[1]));
    const ProgramColumn& own = program().columns[static_cast<std::size_t>(condition.column)];
    if (condition.kind == Kind::kIsMissing) return latex_text(own.name) + " \\text{ is missing}";
    const std::string& level = own.levels[static_cast<std::size_t>(condition.numbers[0])];
    return fmt::format("{} = {}", latex_text(own.name), latex_text(level));
  }

  std::vector<std::string> lines_;
};

}  // namespace

std::string print_latex(const Program& program) {
  const Model& model = *program.model;
  LatexLines lines(program);
  const bool is_one = program.scores.size() == 1;
  lines.define_parts(program.scores);
  for (std::size_t k = 0; k < program.scores.size(); ++k) {
    const std::string name =
        is_one ? "\\text{score}" : fmt::format("\\text{{score}}_{{{}}}", latex_text(model.outputs[k].name));
    lines.add_sum(name, program.scores[k]);
    lines.set_name(program.scores[k], name);
  }
  lines.define_parts(program.results);
  for (std::size_t k = 0; k < program.results.size(); ++k) {
    const std::string name = program.is_classification()
                                 ? fmt::format("P \\left( {} \\right)", latex_text(model.labels[k]))
                                 : latex_text(is_one ? model.target_name : model.outputs[k].name);
    lines.add_line(name, lines.text(program.results[k]));
  }
  return fmt::format("% {}\n\\begin{{aligned}}\n{}\n\\end{{aligned}}\n", program_title(program),
                     fmt::join(lines.lines(), " \\\\\n"));
}

}  // namespace mfga
