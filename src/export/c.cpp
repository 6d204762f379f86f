// C99 and C++. Sums and distances of many parts are loops over tables, which take far less room than code.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "export/infix.hpp"
#include "export/names.hpp"
#include "export/printers.hpp"

namespace mfga {
namespace {

using Kind = ExpressionKind;

enum class Dialect { kC, kCpp };

// `{1.0, 2.0, ...}` on several lines.
std::string braces(const std::vector<std::string>& items) {
  constexpr std::size_t kWidth = 100;
  std::string text = "{";
  std::size_t line = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool breaks = line + items[i].size() > kWidth;
    if (i > 0) text += ",";
    text += breaks ? "\n      " : i == 0 ? "" : " ";
    text += items[i];
    line = (breaks ? 0 : line) + items[i].size() + 2;
  }
  return text + "}";
}

std::string numbers_in_braces(std::span<const double> numbers) {
  std::vector<std::string> items;
  for (const double value : numbers) items.push_back(full_number(value));
  return braces(items);
}

// The statements of one function.
class CStatements final : public InfixPrinter {
 public:
  // `prefix` is that of the names of helping functions, which are noted in `helpers`.
  CStatements(const Program& program, Dialect dialect, std::string prefix, std::set<std::string>& helpers)
      : InfixPrinter(program), dialect_(dialect), prefix_(std::move(prefix)), helpers_(helpers) {}

  [[nodiscard]] const std::string& statements() const { return statements_; }

 protected:
  void define(Expression /*expression*/, const std::string& name, const Printed& formula) override {
    statements_ += fmt::format("  const double {} = {};\n", name, formula.text);
  }

  Printed column(Index column) override { return {fmt::format("x[{}]", column)}; }
  [[nodiscard]] std::string function_name(Kind kind) const override {
    const std::string_view name = kind == Kind::kExp    ? "exp"
                                  : kind == Kind::kLog  ? "log"
                                  : kind == Kind::kSqrt ? "sqrt"
                                  : kind == Kind::kCos  ? "cos"
                                  : kind == Kind::kSin  ? "sin"
                                                        : "fabs";
    return in_std(name);
  }
  [[nodiscard]] Printed power(const Printed& base, int exponent) const override {
    if (exponent == 2 && base.strength == Strength::kWhole && base.text.size() < 8)
      return {base.text + " * " + base.text, Strength::kProduct};
    if (exponent == 2) return helper("square", {base.text});
    return call(in_std("pow"), {base.text, full_number(exponent)});
  }
  [[nodiscard]] Printed larger(const Printed& a, const Printed& b) const override {
    return call(in_std("fmax"), {a.text, b.text});
  }
  [[nodiscard]] Printed smaller(const Printed& a, const Printed& b) const override {
    return call(in_std("fmin"), {a.text, b.text});
  }
  Printed line(const ExpressionNode& node) override {
    const std::size_t count = node.numbers.size() / 2;
    const std::string table = new_table(node.numbers);
    return helper("line", {text(node.arguments[0]), table, fmt::format("{}", count)});
  }
  Printed select(const ExpressionNode& condition, const Printed& then, const Printed& otherwise) override {
    return {fmt::format("({} ? {} : {})", condition_text(condition), then.text, otherwise.text)};
  }
  Printed sum(const ExpressionNode& node) override {
    if (node.arguments.size() <= kMostWritten) return InfixPrinter::sum(node);
    const Printed dot = over_tables("dot", node);
    return less(dot, -node.numbers.back());
  }
  Printed square_distance(const ExpressionNode& node) override {
    if (node.arguments.size() <= kMostWritten) return InfixPrinter::square_distance(node);
    return over_tables("square_distance", node);
  }
  Printed distance(const ExpressionNode& node) override {
    if (node.arguments.size() <= kMostWritten) return InfixPrinter::distance(node);
    return over_tables("distance", node);
  }

 private:
  static constexpr std::size_t kMostWritten = 6;

  [[nodiscard]] std::string in_std(std::string_view name) const {
    return fmt::format("{}{}", dialect_ == Dialect::kCpp ? "std::" : "", name);
  }
  [[nodiscard]] Printed helper(const std::string& name, const std::vector<std::string>& arguments) const {
    helpers_.insert(name);
    return call(prefix_ + name, arguments);
  }

  std::string condition_text(const ExpressionNode& condition) {
    const std::string x = fmt::format("x[{}]", condition.column);
    const std::string is_missing = call(in_std("isnan"), {x}).text;
    if (condition.kind == Kind::kIsMissing) return is_missing;
    if (condition.kind == Kind::kIsLevel) {
      const auto& own = program().columns[static_cast<std::size_t>(condition.column)];
      const std::string is_level = fmt::format("{} == {}", x, full_number(condition.numbers[0]));
      return own.of_missing == static_cast<int>(condition.numbers[0])
                 ? fmt::format("({} || {})", is_level, is_missing)
                 : is_level;
    }
    return fmt::format("{} >= {}", text(condition.arguments[0]), text(condition.arguments[1]));
  }

  std::string new_table(std::span<const double> numbers) {
    const std::string name = fmt::format("t{}", ++tables_);
    statements_ +=
        fmt::format("  static const double {}[{}] = {};\n", name, numbers.size(), numbers_in_braces(numbers));
    return name;
  }

  Printed over_tables(const std::string& name, const ExpressionNode& node) {
    const std::size_t count = node.arguments.size();
    std::string& list = lists_[node.arguments];
    if (list.empty()) {
      std::vector<std::string> items;
      for (const Expression argument : node.arguments) items.push_back(text(argument));
      list = fmt::format("a{}", ++arrays_);
      statements_ += fmt::format("  const double {}[{}] = {};\n", list, count, braces(items));
    }
    const std::string table = new_table(std::span(node.numbers).first(count));
    return helper(name, {table, list, fmt::format("{}", count)});
  }

  Dialect dialect_;
  std::string prefix_;
  std::set<std::string>& helpers_;
  std::string statements_;
  std::map<std::vector<Expression>, std::string> lists_;  // what is summed over, as an array
  int arrays_ = 0;
  int tables_ = 0;
};

class CProgram {
 public:
  CProgram(const Program& program, Dialect dialect)
      : program_(program),
        model_(*program.model),
        dialect_(dialect),
        name_(identifier_from(model_.target_name)),
        prefix_(dialect == Dialect::kC ? name_ + "_" : "") {}

  std::string text() {
    const std::string body = scores() + results();
    std::string text = comment();
    if (dialect_ == Dialect::kC) {
      text += "#include <math.h>\n#include <stddef.h>\n\n";
    } else {
      text += fmt::format(
          "#pragma once\n\n#include <cmath>\n#include <cstddef>\n#include <string_view>\n\n"
          "namespace {} {{\n\n",
          name_space());
    }
    text += tables() + helpers() + body;
    if (dialect_ == Dialect::kCpp) text += fmt::format("\n}}  // namespace {}\n", name_space());
    return text;
  }

 private:
  // No keyword and no name of the library, whatever the target is called.
  [[nodiscard]] std::string name_space() const { return name_ + "_model"; }
  [[nodiscard]] bool is_c() const { return dialect_ == Dialect::kC; }
  [[nodiscard]] std::string function(std::string_view type, std::string_view name,
                                     std::string_view arguments) const {
    return fmt::format("\n{}{} {}{}({}) {{\n", is_c() ? "" : "inline ", type, prefix_, name, arguments);
  }

  [[nodiscard]] std::string comment() const {
    std::string text = "/* " + program_title(program_) + "\n\n";
    const std::size_t outputs = model_.outputs.size();
    text += fmt::format("   x holds the {} numbers of a row, in the order of {}columns:\n",
                        program_.columns.size(), prefix_);
    for (std::size_t i = 0; i < program_.columns.size(); ++i) {
      const ProgramColumn& column = program_.columns[i];
      text += fmt::format("     x[{}]  {}{}\n", i, c_comment(column.name),
                          column.is_text ? ", text: its level, from " + prefix_ + "level" : "");
    }
    text += "   NAN is a missing value.\n\n";
    text += outputs == 1 ? fmt::format("     double {}score(const double *x)\n", prefix_)
                         : fmt::format("     void {}scores(const double *x, double *scores)  [{}]\n", prefix_,
                                       outputs);
    if (program_.is_classification()) {
      text += fmt::format(
          "     void {0}probabilities(const double *x, double *probabilities)  [{1}]\n"
          "     int {0}predict(const double *x)  the place of the label in {0}labels\n",
          prefix_, model_.labels.size());
    } else {
      text += outputs == 1 ? fmt::format("     double {}predict(const double *x)\n", prefix_)
                           : fmt::format("     void {}predict(const double *x, double *predictions)  [{}]\n",
                                         prefix_, outputs);
    }
    if (program_.has_text()) {
      text += fmt::format("     double {}level(size_t column, {} text)  what stands in x for a text\n",
                          prefix_, is_c() ? "const char *" : "std::string_view");
    }
    return text + "*/\n";
  }

  [[nodiscard]] std::string names_table(const std::string& name,
                                        const std::vector<std::string>& texts) const {
    std::vector<std::string> items;
    for (const std::string& text : texts) items.push_back(c_literal(text));
    if (items.empty()) return "";
    return is_c()
               ? fmt::format("const char *const {}{}[{}] = {};\n", prefix_, name, items.size(), braces(items))
               : fmt::format("inline constexpr std::string_view {}[{}] = {};\n", name, items.size(),
                             braces(items));
  }

  [[nodiscard]] std::string tables() const {
    std::vector<std::string> columns;
    for (const ProgramColumn& column : program_.columns) columns.push_back(column.name);
    std::string text = names_table("columns", columns);
    if (program_.is_classification()) text += names_table("labels", model_.labels);
    if (!program_.is_classification() && model_.outputs.size() > 1) {
      std::vector<std::string> outputs;
      for (const Output& output : model_.outputs) outputs.push_back(output.name);
      text += names_table("outputs", outputs);
    }
    return program_.has_text() ? text + level_function() : text;
  }

  // By comparison with every text that is known, which leaves no room for mistakes and needs no library.
  [[nodiscard]] std::string level_function() const {
    std::vector<std::string> rows;
    std::string ends;
    for (std::size_t i = 0; i < program_.columns.size(); ++i) {
      const ProgramColumn& column = program_.columns[i];
      for (const auto& [text, code] : column.codes)
        rows.push_back(fmt::format("{{{}, {}, {}}}", i, c_literal(text), code));
      if (!column.is_text) continue;
      ends += fmt::format("  if (column == {}) return {};\n", i, code_text(column.of_unknown));
    }
    std::string text;
    if (is_c()) {
      text += fmt::format(
          "\nstatic const struct {{ size_t column; const char *text; int level; }} {0}texts[{1}] = {2};\n"
          "\n/* What stands in x for a text of a column; NULL is a missing one. */\n"
          "double {0}level(size_t column, const char *text) {{\n"
          "  size_t i, k;\n"
          "  if (text == NULL) text = \"\";\n"
          "  for (i = 0; i < {1}; ++i) {{\n"
          "    const char *known = {0}texts[i].text;\n"
          "    if ({0}texts[i].column != column) continue;\n"
          "    for (k = 0; text[k] != '\\0' && text[k] == known[k]; ++k) {{\n    }}\n"
          "    if (text[k] != known[k]) continue;\n"
          "    return {0}texts[i].level < 0 ? NAN : (double){0}texts[i].level;\n"
          "  }}\n",
          prefix_, rows.size(), braces(rows));
    } else {
      text += fmt::format(
          "\nstruct Text {{\n  std::size_t column;\n  std::string_view text;\n  int level;\n}};\n"
          "inline constexpr Text texts[{}] = {};\n"
          "\n// What stands in x for a text of a column; an empty one is missing.\n"
          "inline double level(std::size_t column, std::string_view text) {{\n"
          "  for (const Text& known : texts) {{\n"
          "    if (known.column == column && known.text == text)\n"
          "      return known.level < 0 ? std::nan(\"\") : static_cast<double>(known.level);\n"
          "  }}\n",
          rows.size(), braces(rows));
    }
    return text + ends + "  return -1.0;\n}\n";
  }

  [[nodiscard]] static std::string code_text(int code) { return code < 0 ? "-1.0" : full_number(code); }

  std::string scores() {
    CStatements statements(program_, dialect_, prefix_, helpers_);
    statements.define_parts(program_.scores);
    const bool is_one = program_.scores.size() == 1;
    std::string ends;
    // Printing may add statements that must come first.
    for (std::size_t k = 0; k < program_.scores.size(); ++k) {
      const std::string score = statements.text(program_.scores[k]);
      ends += is_one ? fmt::format("  return {};\n", score) : fmt::format("  scores[{}] = {};\n", k, score);
    }
    const std::string unused = program_.columns.empty() ? "  (void)x;\n" : "";
    return (is_one ? function("double", "score", "const double *x")
                   : function("void", "scores", "const double *x, double *scores")) +
           unused + statements.statements() + ends + "}\n";
  }

  std::string results() {
    CStatements statements(program_, dialect_, prefix_, helpers_);
    const bool is_one = program_.scores.size() == 1;
    const std::size_t outputs = program_.scores.size();
    for (std::size_t k = 0; k < outputs; ++k)
      statements.set_name(program_.scores[k], is_one ? "score" : fmt::format("scores[{}]", k));
    statements.define_parts(program_.results);
    const std::string all_scores =
        is_one ? fmt::format("  const double score = {}score(x);\n", prefix_of_call())
               : fmt::format("  double scores[{}];\n  {}scores(x, scores);\n", outputs, prefix_of_call());
    // Without terms there is nothing to compute.
    const bool is_constant = std::ranges::all_of(program_.results, [&](Expression result) {
      return program_.graph.node(result).kind == Kind::kConstant;
    });
    const std::string scores = is_constant ? "  (void)x;\n" : all_scores;
    if (!program_.is_classification() && is_one) {
      const std::string prediction = statements.text(program_.results[0]);
      return function("double", "predict", "const double *x") + scores + statements.statements() +
             fmt::format("  return {};\n}}\n", prediction);
    }
    const std::string_view list = program_.is_classification() ? "probabilities" : "predictions";
    std::string ends;
    for (std::size_t k = 0; k < program_.results.size(); ++k)
      ends += fmt::format("  {}[{}] = {};\n", list, k, statements.text(program_.results[k]));
    std::string text = function("void", program_.is_classification() ? "probabilities" : "predict",
                                fmt::format("const double *x, double *{}", list)) +
                       scores + statements.statements() + ends + "}\n";
    if (!program_.is_classification()) return text;
    text += function("int", "predict", "const double *x");
    if (is_one) return text + fmt::format("  return {}score(x) > 0.0 ? 1 : 0;\n}}\n", prefix_);
    return text + all_scores +
           fmt::format(
               "  int k, best = 0;\n"
               "  for (k = 1; k < {}; ++k) {{\n    if (scores[k] > scores[best]) best = k;\n  }}\n"
               "  return best;\n}}\n",
               outputs);
  }

  // In C++ a variable would hide the function of its name.
  [[nodiscard]] std::string prefix_of_call() const { return is_c() ? prefix_ : name_space() + "::"; }

  [[nodiscard]] std::string helpers() const {
    std::string text;
    const std::string start = is_c() ? "\nstatic double " : "\ninline double ";
    const std::string size = is_c() ? "size_t" : "std::size_t";
    const std::string absolute = is_c() ? "fabs" : "std::fabs";
    const auto loop = [&](const std::string& name, const std::string& added) {
      if (helpers_.contains(name)) {
        text += fmt::format(
            "{0}{1}{2}(const double *t, const double *a, {3} count) {{\n"
            "  double sum = 0.0;\n"
            "  {3} i;\n"
            "  for (i = 0; i < count; ++i) sum += {4};\n"
            "  return sum;\n}}\n",
            start, prefix_, name, size, added);
      }
    };
    if (helpers_.contains("square"))
      text += fmt::format("{}{}square(double x) {{ return x * x; }}\n", start, prefix_);
    loop("dot", "t[i] * a[i]");
    loop("square_distance", "(a[i] - t[i]) * (a[i] - t[i])");
    loop("distance", absolute + "(a[i] - t[i])");
    if (helpers_.contains("line")) {
      text += fmt::format(
          "\n/* On straight lines between the points (t[i], t[count + i]), level outside of them. */"
          "{0}{1}line(double x, const double *t, {2} count) {{\n"
          "  {2} low = 0, high = count - 1;\n"
          "  const double *v = t + count;\n"
          "  if (x <= t[low]) return v[low];\n"
          "  if (x >= t[high]) return v[high];\n"
          "  while (high - low > 1) {{\n"
          "    const {2} middle = low + (high - low) / 2;\n"
          "    if (t[middle] <= x) {{\n      low = middle;\n    }} else {{\n      high = middle;\n    }}\n"
          "  }}\n"
          "  return v[low] + (v[high] - v[low]) / (t[high] - t[low]) * (x - t[low]);\n}}\n",
          start, prefix_, size);
    }
    return text;
  }

  const Program& program_;
  const Model& model_;
  Dialect dialect_;
  std::string name_;
  std::string prefix_;  // of functions and tables
  std::set<std::string> helpers_;
};

}  // namespace

std::string print_c(const Program& program) { return CProgram(program, Dialect::kC).text(); }
std::string print_cpp(const Program& program) { return CProgram(program, Dialect::kCpp).text(); }

}  // namespace mfga
