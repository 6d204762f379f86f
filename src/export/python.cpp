// A Python module of functions of whole columns, which needs NumPy alone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "export/infix.hpp"
#include "export/names.hpp"
#include "export/printers.hpp"

namespace mfga {
namespace {

using Kind = ExpressionKind;

std::string list_of_numbers(std::span<const double> numbers) {
  std::vector<std::string> items;
  for (const double value : numbers) items.push_back(full_number(value));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string list_of_texts(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& text : texts) items.push_back(python_literal(text));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

class NumpyStatements final : public InfixPrinter {
 public:
  explicit NumpyStatements(const Program& program) : InfixPrinter(program) {}
  [[nodiscard]] const std::string& statements() const { return statements_; }

 protected:
  void define(Expression /*expression*/, const std::string& name, const Printed& formula) override {
    statements_ += fmt::format("    {} = {}\n", name, formula.text);
  }

  Printed column(Index column) override { return {fmt::format("x{}", column + 1)}; }
  [[nodiscard]] std::string function_name(Kind kind) const override {
    return kind == Kind::kExp    ? "np.exp"
           : kind == Kind::kLog  ? "np.log"
           : kind == Kind::kSqrt ? "np.sqrt"
           : kind == Kind::kCos  ? "np.cos"
           : kind == Kind::kSin  ? "np.sin"
                                 : "np.abs";
  }
  [[nodiscard]] Printed power(const Printed& base, int exponent) const override {
    return {fmt::format("{}**{}", held(base, Strength::kWhole), exponent), Strength::kPower};
  }
  [[nodiscard]] Printed larger(const Printed& a, const Printed& b) const override {
    return call("np.maximum", {a.text, b.text});
  }
  [[nodiscard]] Printed smaller(const Printed& a, const Printed& b) const override {
    return call("np.minimum", {a.text, b.text});
  }
  Printed line(const ExpressionNode& node) override {
    const std::span<const double> numbers = node.numbers;
    const std::size_t count = numbers.size() / 2;
    return call("np.interp", {text(node.arguments[0]), list_of_numbers(numbers.first(count)),
                              list_of_numbers(numbers.subspan(count))});
  }
  Printed select(const ExpressionNode& condition, const Printed& then, const Printed& otherwise) override {
    return call("np.where", {condition_text(condition), then.text, otherwise.text});
  }
  Printed sum(const ExpressionNode& node) override {
    if (node.arguments.size() <= kMostWritten) return InfixPrinter::sum(node);
    const std::string weights = list_of_numbers(std::span(node.numbers).first(node.arguments.size()));
    const Printed dot{fmt::format("np.array({}) @ {}", weights, list_of(node.arguments)), Strength::kProduct};
    return less(dot, -node.numbers.back());
  }
  Printed square_distance(const ExpressionNode& node) override {
    if (node.arguments.size() <= kMostWritten) return InfixPrinter::square_distance(node);
    return {fmt::format("(({} - np.array({})[:, None]) ** 2).sum(axis=0)", list_of(node.arguments),
                        list_of_numbers(node.numbers))};
  }
  Printed distance(const ExpressionNode& node) override {
    if (node.arguments.size() <= kMostWritten) return InfixPrinter::distance(node);
    return {fmt::format("np.abs({} - np.array({})[:, None]).sum(axis=0)", list_of(node.arguments),
                        list_of_numbers(node.numbers))};
  }

 private:
  static constexpr std::size_t kMostWritten = 6;

  std::string condition_text(const ExpressionNode& condition) {
    const std::string x = fmt::format("x{}", condition.column + 1);
    const bool is_text =
        condition.column >= 0 && program().columns[static_cast<std::size_t>(condition.column)].is_text;
    if (condition.kind == Kind::kIsMissing)
      return is_text ? fmt::format("{} == {}", x, ProgramColumn::kMissing) : call("np.isnan", {x}).text;
    if (condition.kind == Kind::kIsLevel) return fmt::format("{} == {}", x, condition.numbers[0]);
    return fmt::format("{} >= {}", text(condition.arguments[0]), text(condition.arguments[1]));
  }

  // What is summed over, as the rows of a matrix.
  std::string list_of(const std::vector<Expression>& arguments) {
    std::string& list = lists_[arguments];
    if (!list.empty()) return list;
    std::vector<std::string> items;
    for (const Expression argument : arguments) items.push_back(text(argument));
    list = fmt::format("a{}", ++matrices_);
    statements_ += fmt::format("    {} = np.stack([np.broadcast_to(a, (rows,)) for a in ({},)])\n", list,
                               fmt::join(items, ", "));
    return list;
  }

  std::string statements_;
  std::map<std::vector<Expression>, std::string> lists_;
  int matrices_ = 0;
};

std::string columns_text(const Program& program) {
  std::string text;
  for (std::size_t i = 0; i < program.columns.size(); ++i) {
    const ProgramColumn& column = program.columns[i];
    const std::string place = fmt::format("x, {}, {}", python_literal(column.name), column.position);
    text += column.is_text ? fmt::format("    x{0} = _levels({1}, _LEVELS[{0}])\n", i + 1, place)
                           : fmt::format("    x{} = _numbers({})\n", i + 1, place);
  }
  // The number of rows, by which constants are repeated.
  text += program.columns.empty() ? "    rows = len(x)\n" : "    rows = len(x1)\n";
  return text;
}

std::string levels_text(const Program& program) {
  std::string text =
      "# Of each column of text: the level of each text that is known, that of a missing one and that of any "
      "other.\n"
      "_LEVELS = {\n";
  for (std::size_t i = 0; i < program.columns.size(); ++i) {
    const ProgramColumn& column = program.columns[i];
    if (!column.is_text) continue;
    std::vector<std::string> items;
    for (const auto& [known, code] : column.codes)
      items.push_back(fmt::format("{}: {}", python_literal(known), code));
    text += fmt::format("    {}: ({{{}}}, {}, {}),\n", i + 1, fmt::join(items, ", "), column.of_missing,
                        column.of_unknown);
  }
  return text +
         "}\n\n\n"
         "def _levels(x, name, position, levels):\n"
         "    known, of_missing, of_unknown = levels\n"
         "    values = x[:, position] if isinstance(x, np.ndarray) else x[name]\n"
         "    missing = [value is None or value is np.ma.masked or type(value).__name__ == 'NAType' or value "
         "!= "
         "value\n"
         "               for value in values]\n"
         "    return np.array([of_missing if no else known.get(str(value), of_unknown)\n"
         "                     for value, no in zip(values, missing)])\n";
}

// Results side by side, or the only one.
std::string stacked(const std::vector<std::string>& texts) {
  if (texts.size() == 1) return fmt::format("np.broadcast_to({}, (rows,)).copy()", texts[0]);
  return fmt::format("np.stack([np.broadcast_to(s, (rows,)) for s in ({})], axis=1)", fmt::join(texts, ", "));
}

}  // namespace

std::string print_python(const Program& program) {
  const Model& model = *program.model;
  const bool is_one = program.scores.size() == 1;
  std::vector<std::string> columns;
  for (const ProgramColumn& column : program.columns) columns.push_back(column.name);
  std::string text = fmt::format(
      "\"\"\"{}\n\n"
      "Functions take columns by name - a dict of arrays, a pandas or polars DataFrame - or an array of two\n"
      "dimensions with all {} columns that the model was trained on, in that order. NaN is a missing value, "
      "and\n"
      "None of a text. Results are arrays with a number for each row{}.\n\"\"\"\n\n"
      "import numpy as np\n\n"
      "COLUMNS = {}\n",
      program_title(program), program.n_predictors, is_one ? "" : ", and a column for each output",
      list_of_texts(columns));
  if (program.is_classification()) text += fmt::format("LABELS = {}\n", list_of_texts(model.labels));
  if (!program.is_classification() && !is_one) {
    std::vector<std::string> outputs;
    for (const Output& output : model.outputs) outputs.push_back(output.name);
    text += fmt::format("OUTPUTS = {}\n", list_of_texts(outputs));
  }
  if (program.has_text()) text += fmt::format("\n{}", levels_text(program));
  text +=
      "\n\ndef _numbers(x, name, position):\n"
      "    return np.asarray(x[:, position] if isinstance(x, np.ndarray) else x[name], dtype=float)\n"
      "\n\ndef score(x):\n    \"\"\"The scores of rows.\"\"\"\n" +
      columns_text(program);
  NumpyStatements scores(program);
  scores.define_parts(program.scores);
  std::vector<std::string> score_texts;
  for (const Expression score : program.scores) score_texts.push_back(scores.text(score));
  text += scores.statements() + fmt::format("    return {}\n", stacked(score_texts));

  NumpyStatements results(program);
  for (std::size_t k = 0; k < program.scores.size(); ++k)
    results.set_name(program.scores[k], is_one ? "s" : fmt::format("s[:, {}]", k));
  results.define_parts(program.results);
  std::vector<std::string> result_texts;
  for (const Expression result : program.results) result_texts.push_back(results.text(result));
  const std::string of_rows = "    s = score(x)\n    rows = len(s)\n" + results.statements() +
                              fmt::format("    return {}\n", stacked(result_texts));
  if (!program.is_classification())
    return text + "\n\ndef predict(x):\n    \"\"\"What is predicted for rows.\"\"\"\n" + of_rows;
  return text + "\n\ndef predict_proba(x):\n    \"\"\"The probability of each label.\"\"\"\n" + of_rows +
         "\n\ndef predict(x):\n    \"\"\"The label of each row.\"\"\"\n" +
         (is_one ? "    return np.where(score(x) > 0, LABELS[1], LABELS[0])\n"
                 : "    return np.array(LABELS)[score(x).argmax(axis=1)]\n");
}

}  // namespace mfga
