// A Python module that makes SymPy expressions. A level of text is a symbol that is 1 or 0, and so is a
// missing value where a column had some in the training.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "export/infix.hpp"
#include "export/names.hpp"
#include "export/printers.hpp"

namespace mfga {
namespace {

using Kind = ExpressionKind;

class SympyStatements final : public InfixPrinter {
 public:
  explicit SympyStatements(const Program& program) : InfixPrinter(program) {}
  [[nodiscard]] const std::string& statements() const { return statements_; }
  [[nodiscard]] const std::string& symbols() const { return symbols_; }

 protected:
  void define(Expression /*expression*/, const std::string& name, const Printed& formula) override {
    statements_ += fmt::format("{} = {}\n", name, formula.text);
  }

  Printed column(Index column) override {
    const std::string& name = program().columns[static_cast<std::size_t>(column)].name;
    return {symbol(fmt::format("x{}", column + 1), name)};
  }
  [[nodiscard]] std::string function_name(Kind kind) const override {
    return kind == Kind::kExp    ? "sympy.exp"
           : kind == Kind::kLog  ? "sympy.log"
           : kind == Kind::kSqrt ? "sympy.sqrt"
           : kind == Kind::kCos  ? "sympy.cos"
           : kind == Kind::kSin  ? "sympy.sin"
                                 : "sympy.Abs";
  }
  [[nodiscard]] Printed power(const Printed& base, int exponent) const override {
    return {fmt::format("{}**{}", held(base, Strength::kWhole), exponent), Strength::kPower};
  }
  [[nodiscard]] Printed larger(const Printed& a, const Printed& b) const override {
    return call("sympy.Max", {a.text, b.text});
  }
  [[nodiscard]] Printed smaller(const Printed& a, const Printed& b) const override {
    return call("sympy.Min", {a.text, b.text});
  }
  // A sum of hinges: SymPy takes long for comparisons of what is given by cases.
  Printed line(const ExpressionNode& node) override {
    const std::size_t count = node.numbers.size() / 2;
    const std::string name = fmt::format("w{}", ++lines_);
    statements_ += fmt::format("{} = {}\n", name, text(node.arguments[0]));
    std::string result = full_number(node.numbers[count]);
    double slope = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_last = i + 1 == count;
      const double next = is_last ? 0
                                  : (node.numbers[count + i + 1] - node.numbers[count + i]) /
                                        (node.numbers[i + 1] - node.numbers[i]);
      result += weighted(next - slope, larger({"0"}, less({name}, node.numbers[i])), false);
      slope = next;
    }
    return {result, Strength::kSum};
  }
  Printed select(const ExpressionNode& condition, const Printed& then, const Printed& otherwise) override {
    return call("sympy.Piecewise", {fmt::format("({}, {})", then.text, condition_text(condition)),
                                    fmt::format("({}, True)", otherwise.text)});
  }

 private:
  std::string condition_text(const ExpressionNode& condition) {
    if (condition.kind == Kind::kAtLeast)
      return fmt::format("{} >= {}", text(condition.arguments[0]), text(condition.arguments[1]));
    const ProgramColumn& own = program().columns[static_cast<std::size_t>(condition.column)];
    if (condition.kind == Kind::kIsMissing) {
      return fmt::format("sympy.Eq({}, 1)", symbol(fmt::format("m{}", condition.column + 1),
                                                   fmt::format("[{} is missing]", own.name)));
    }
    const auto level = static_cast<std::size_t>(condition.numbers[0]);
    return fmt::format("sympy.Eq({}, 1)", symbol(fmt::format("l{}_{}", condition.column + 1, level + 1),
                                                 fmt::format("[{} = {}]", own.name, own.levels[level])));
  }

  std::string symbol(const std::string& variable, const std::string& name) {
    if (known_.insert(variable).second) {
      symbols_ +=
          fmt::format("{0} = SYMBOLS[{1}] = sympy.Symbol({1}, real=True)\n", variable, python_literal(name));
    }
    return variable;
  }

  std::string statements_;
  std::string symbols_;
  std::set<std::string> known_;
  int lines_ = 0;
};

}  // namespace

std::string print_sympy(const Program& program) {
  const bool is_one = program.scores.size() == 1;
  SympyStatements statements(program);
  std::vector<Expression> roots = program.results;
  roots.insert(roots.end(), program.scores.begin(), program.scores.end());
  statements.define_parts(roots);
  const auto list = [&](const std::vector<Expression>& expressions) {
    std::vector<std::string> texts;
    for (const Expression expression : expressions)
      texts.push_back(fmt::format("sympy.sympify({})", statements.text(expression)));
    return expressions.size() == 1 ? texts[0] : fmt::format("[\n    {},\n]", fmt::join(texts, ",\n    "));
  };
  const std::string score = list(program.scores);
  const std::string result = list(program.results);
  std::string text = fmt::format(
      "\"\"\"{}\n\n"
      "SYMBOLS has the symbol of each column by its name; the level of a text is one that is 1 or 0,\n"
      "\"[column = level]\", and so is \"[column is missing]\". `score` is {} the symbols, and so is `{}`,\n"
      "{}.\n\"\"\"\n\n"
      "import sympy\n\n"
      "SYMBOLS = {{}}\n{}\n{}\nscore = {}\n{} = {}\n",
      program_title(program), is_one ? "an expression of" : "a list of expressions of",
      program.is_classification() ? "probabilities" : "prediction",
      program.is_classification() ? "one for each of LABELS" : "in the units of the target",
      statements.symbols(), statements.statements(), score,
      program.is_classification() ? "probabilities" : "prediction", result);
  if (program.is_classification()) {
    std::vector<std::string> labels;
    for (const std::string& label : program.model->labels) labels.push_back(python_literal(label));
    text += fmt::format("LABELS = [{}]\n", fmt::join(labels, ", "));
  }
  return text;
}

}  // namespace mfga
