// One SELECT statement, in what SQLite and PostgreSQL have in common. What is used more than once is a column
// of a common table expression; each of these may use those before it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "export/infix.hpp"
#include "export/names.hpp"
#include "export/printers.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

using Kind = ExpressionKind;

class SqlParts final : public InfixPrinter {
 public:
  explicit SqlParts(const Program& program) : InfixPrinter(program) {
    // Names of columns may be compared without regard to case.
    const auto is_taken = [&](const ProgramColumn& column) {
      std::string start = column.name.substr(0, prefix_.size());
      std::ranges::transform(start, start.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
      });
      return start == prefix_;
    };
    while (std::ranges::any_of(program.columns, is_taken)) prefix_ += "_";
  }

  // Column definitions, one list for each table expression.
  [[nodiscard]] const std::vector<std::vector<std::string>>& layers() const { return layers_; }
  [[nodiscard]] const std::string& prefix() const { return prefix_; }

 protected:
  // There is no function for the larger of two that both know, so they are compared; exponents are looked at.
  [[nodiscard]] int repetitions(const ExpressionNode& node, Expression argument) const override {
    const bool repeats = node.kind == Kind::kMax || node.kind == Kind::kMin || node.kind == Kind::kExp ||
                         node.kind == Kind::kLine;
    const ExpressionNode& own = graph().node(argument);
    const bool is_short = own.kind == Kind::kSum && own.arguments.size() == 1 &&
                          std::ranges::find(program().inputs, own.arguments[0]) != program().inputs.end();
    return repeats && !(is_short && node.kind != Kind::kLine) ? 2 : 1;
  }
  [[nodiscard]] std::string part_name(char kind, std::size_t number) const override {
    return fmt::format("t.{}{}{}", prefix_, kind, number);
  }
  void define(Expression expression, const std::string& name, const Printed& formula) override {
    const std::size_t layer = layer_of_arguments(expression);
    layer_[expression] = layer + 1;
    if (layers_.size() <= layer) layers_.resize(layer + 1);
    layers_[layer].push_back(fmt::format("{} AS {}", formula.text, name.substr(2)));
    // PostgreSQL has at most 1664 columns in a list, SQLite 2000.
    constexpr int kMostColumns = 1500;
    if (++columns_ > kMostColumns) {
      throw Error(
          ErrorKind::kInvalidArgument,
          fmt::format("the model cannot be exported to SQL: it takes more than {} intermediate columns",
                      kMostColumns));
    }
  }

  Printed column(Index column) override {
    return {fmt::format("CAST({} AS DOUBLE PRECISION)", name_of(column))};
  }
  [[nodiscard]] std::string function_name(Kind kind) const override {
    return kind == Kind::kLog    ? "ln"
           : kind == Kind::kSqrt ? "sqrt"
           : kind == Kind::kCos  ? "cos"
           : kind == Kind::kSin  ? "sin"
           : kind == Kind::kAbs  ? "abs"
                                 : "exp";
  }
  // PostgreSQL ends with an error where the result of exp, or a product with it, is too small for a number.
  [[nodiscard]] Printed call(const std::string& name,
                             const std::vector<std::string>& arguments) const override {
    if (name != "exp") return InfixPrinter::call(name, arguments);
    return {fmt::format("CASE WHEN {0} < -300.0 THEN 0.0 ELSE exp({0}) END", arguments[0])};
  }
  [[nodiscard]] Printed power(const Printed& base, int exponent) const override {
    return InfixPrinter::call("power", {base.text, full_number(exponent)});
  }
  [[nodiscard]] Printed larger(const Printed& a, const Printed& b) const override {
    return {fmt::format("CASE WHEN {0} >= {1} THEN {0} ELSE {1} END", a.text, b.text)};
  }
  [[nodiscard]] Printed smaller(const Printed& a, const Printed& b) const override {
    return {fmt::format("CASE WHEN {0} <= {1} THEN {0} ELSE {1} END", a.text, b.text)};
  }
  Printed line(const ExpressionNode& node) override {
    const std::size_t count = node.numbers.size() / 2;
    const std::string x = text(node.arguments[0]);
    std::string result = fmt::format("CASE WHEN {} < {} THEN {}", x, full_number(node.numbers[0]),
                                     full_number(node.numbers[count]));
    for (std::size_t i = 0; i + 1 < count; ++i) {
      const double slope =
          (node.numbers[count + i + 1] - node.numbers[count + i]) / (node.numbers[i + 1] - node.numbers[i]);
      result += fmt::format(" WHEN {0} < {1} THEN {2} + {3} * ({4})", x, full_number(node.numbers[i + 1]),
                            full_number(node.numbers[count + i]), full_number(slope),
                            less({x}, node.numbers[i]).text);
    }
    return {result + fmt::format(" ELSE {} END", full_number(node.numbers.back()))};
  }
  Printed select(const ExpressionNode& condition, const Printed& then, const Printed& otherwise) override {
    const std::string choice =
        fmt::format("CASE WHEN {} THEN {} ELSE {} END", condition_text(condition), then.text, otherwise.text);
    // Else PostgreSQL would go on with decimal numbers.
    const auto is_number = [](const Printed& printed) {
      return printed.text.find_first_not_of("+-.e0123456789") == std::string::npos;
    };
    if (!is_number(then) || !is_number(otherwise)) return {choice};
    return {fmt::format("CAST({} AS DOUBLE PRECISION)", choice)};
  }
  // SQLite allows expressions to be a thousand deep, and a sum is as deep as it is long.
  [[nodiscard]] Printed joined(const std::vector<std::string>& signed_terms) const override {
    constexpr std::size_t kGroup = 100;
    if (signed_terms.size() <= kGroup) return InfixPrinter::joined(signed_terms);
    std::string result;
    for (std::size_t first = 0; first < signed_terms.size(); first += kGroup) {
      const auto begin = signed_terms.begin() + static_cast<Index>(first);
      const auto end = begin + static_cast<Index>(std::min(kGroup, signed_terms.size() - first));
      result += fmt::format("{}({}{})", first == 0 ? "" : " + ", first == 0 ? "" : "0.0",
                            fmt::join(begin, end, ""));
    }
    return {result, Strength::kSum};
  }

 private:
  [[nodiscard]] std::string name_of(Index column) const {
    return "t." + sql_name(program().columns[static_cast<std::size_t>(column)].name);
  }

  [[nodiscard]] static std::string is_one_of(const std::string& name, const std::vector<std::string>& texts,
                                             std::string_view is_in = "IN") {
    std::vector<std::string> literals;
    for (const std::string& text : texts) literals.push_back(sql_literal(text));
    if (literals.size() == 1 && is_in == "IN") return fmt::format("{} = {}", name, literals[0]);
    return fmt::format("{} {} ({})", name, is_in, fmt::join(literals, ", "));
  }

  // Comparisons with NULL do not hold.
  std::string condition_text(const ExpressionNode& condition) {
    if (condition.kind == Kind::kAtLeast)
      return fmt::format("{} >= {}", text(condition.arguments[0]), text(condition.arguments[1]));
    const std::string name = name_of(condition.column);
    const ProgramColumn& own = program().columns[static_cast<std::size_t>(condition.column)];
    const int code =
        condition.kind == Kind::kIsLevel ? static_cast<int>(condition.numbers[0]) : own.of_missing;
    const std::string is_null = code == own.of_missing ? name + " IS NULL" : "";
    if (!own.is_text) return is_null;
    std::string is_known;
    if (code == own.of_unknown) {  // all texts that mean something else
      std::vector<std::string> others;
      for (const auto& [text, other] : own.codes) {
        if (other != code) others.push_back(text);
      }
      is_known = is_one_of(name, others, "NOT IN");
    } else {
      is_known = is_one_of(name, own.texts_of(code));
    }
    return is_null.empty() ? is_known : fmt::format("{} OR {}", is_null, is_known);
  }

  std::size_t layer_of_arguments(Expression expression) {
    std::size_t layer = 0;
    for (const Expression argument : graph().node(expression).arguments) {
      auto [entry, is_new] = layer_.try_emplace(argument, 0);
      if (is_new) {
        const std::size_t own = layer_of_arguments(argument);
        entry = layer_.find(argument);
        entry->second = own;
      }
      layer = std::max(layer, entry->second);
    }
    return layer;
  }

  std::string prefix_ = "mfga_";
  std::vector<std::vector<std::string>> layers_;
  std::map<Expression, std::size_t> layer_;  // from which on it can be used
  int columns_ = 0;
};

}  // namespace

std::string print_sql(const Program& program) {
  const Model& model = *program.model;
  SqlParts parts(program);
  std::vector<Expression> roots = program.results;
  const bool has_scores = program.is_classification() || !program.predicts_scores;
  if (has_scores) roots.insert(roots.end(), program.scores.begin(), program.scores.end());
  const bool has_largest = program.is_classification() && program.scores.size() > 1;
  if (has_largest) {
    roots.push_back(program.largest_score);
    roots.push_back(program.largest_score);
    roots.insert(roots.end(), program.scores.begin(), program.scores.end());
  }
  parts.define_parts(roots);

  std::vector<std::string> outputs;
  const auto add = [&](const std::string& text, const std::string& name) {
    outputs.push_back(fmt::format("{} AS {}", text, sql_name(name)));
  };
  const auto of = [&](const std::string& what, std::size_t k) {
    return program.scores.size() == 1 ? what : fmt::format("{}({})", what, model.outputs[k].name);
  };
  if (program.is_classification()) {
    std::string label = "CASE";
    for (std::size_t k = 0; has_largest && k + 1 < model.labels.size(); ++k)
      label += fmt::format(" WHEN {} >= {} THEN {}", parts.text(program.scores[k]),
                           parts.text(program.largest_score), sql_literal(model.labels[k]));
    if (!has_largest)
      label +=
          fmt::format(" WHEN {} <= 0.0 THEN {}", parts.text(program.scores[0]), sql_literal(model.labels[0]));
    add(fmt::format("{} ELSE {} END", label, sql_literal(model.labels.back())), "label");
    for (std::size_t k = 0; k < model.labels.size(); ++k)
      add(parts.text(program.results[k]), fmt::format("p({})", model.labels[k]));
  } else {
    for (std::size_t k = 0; k < program.results.size(); ++k)
      add(parts.text(program.results[k]), of("prediction", k));
  }
  for (std::size_t k = 0; has_scores && k < program.scores.size(); ++k)
    add(parts.text(program.scores[k]), of("score", k));

  std::string text = fmt::format(
      "-- {}\n-- Put the name of your table in place of \"data\", and its columns that you want to see, as "
      "t.id, "
      "into\n-- the last list. NULL is a missing value. No column of it may have a name that begins with "
      "{}.\n",
      program_title(program), parts.prefix());
  std::string source = "\"data\"";
  for (std::size_t i = 0; i < parts.layers().size(); ++i) {
    const std::string name = fmt::format("{}{}", parts.prefix(), i + 1);
    text += fmt::format("{} {} AS MATERIALIZED (\n  SELECT t.*,\n    {}\n  FROM {} AS t\n)",
                        i == 0 ? "WITH" : ",\n", name, fmt::join(parts.layers()[i], ",\n    "), source);
    source = name;
  }
  if (!parts.layers().empty()) text += "\n";
  return text + fmt::format("SELECT\n  {}\nFROM {} AS t;\n", fmt::join(outputs, ",\n  "), source);
}

}  // namespace mfga
