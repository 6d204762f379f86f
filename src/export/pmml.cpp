// PMML 4.4: what is used more than once, the terms, the scores and the results are derived fields, and a
// RegressionModel predicts from the latter.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "export/names.hpp"
#include "export/printers.hpp"
#include "mfga/version.hpp"

namespace mfga {
namespace {

using Kind = ExpressionKind;

std::string constant(double value) {
  return fmt::format("<Constant dataType=\"double\">{}</Constant>", full_number(value));
}

std::string applied(std::string_view function, const std::vector<std::string>& arguments) {
  return fmt::format("<Apply function=\"{}\">{}</Apply>", function, fmt::join(arguments, ""));
}

std::string field(std::string_view name) { return fmt::format("<FieldRef field=\"{}\"/>", name); }

class PmmlFields {
 public:
  explicit PmmlFields(const Program& program)
      : program_(program), names_(static_cast<std::size_t>(program.graph.size())) {
    const auto is_taken = [&](const ProgramColumn& column) { return column.name.starts_with(prefix_); };
    while (std::ranges::any_of(program.columns, is_taken)) prefix_ += "_";
    std::vector<Expression> roots = program.results;
    roots.insert(roots.end(), program.scores.begin(), program.scores.end());
    roots.insert(roots.end(), program.terms.begin(), program.terms.end());
    std::vector<int> uses(names_.size());
    for (const Expression root : roots) uses[index(root)] += 2;  // they have fields of their own
    for (std::size_t id = uses.size(); id-- > 0;) {
      if (uses[id] == 0) continue;
      // NormContinuous takes a field, and no expression.
      const ExpressionNode& node = program.graph.node({static_cast<std::int32_t>(id)});
      for (const Expression argument : node.arguments)
        uses[index(argument)] += node.kind == Kind::kLine ? 2 : 1;
    }
    for (std::size_t id = 0; id < uses.size(); ++id) {
      const Expression expression{static_cast<std::int32_t>(id)};
      const ExpressionNode& node = program.graph.node(expression);
      if (uses[id] < 2 || node.is_condition() || node.kind == Kind::kConstant || node.kind == Kind::kColumn)
        continue;
      define(fmt::format("{}{}", prefix_, ++parts_), formula(expression));
      names_[id] = fmt::format("{}{}", prefix_, parts_);
    }
  }

  [[nodiscard]] const std::string& fields() const { return fields_; }
  // A field with that name, for the reader and for the model.
  std::string named(const std::string& name, Expression expression) {
    const std::string own = prefix_ + name;
    define(own, text(expression));
    return own;
  }

 private:
  static std::size_t index(Expression expression) { return static_cast<std::size_t>(expression.id); }

  void define(const std::string& name, const std::string& own) {
    fields_ += fmt::format(
        "    <DerivedField name=\"{}\" optype=\"continuous\" dataType=\"double\">{}</DerivedField>\n",
        xml_attribute(name), own);
  }

  std::string text(Expression expression) const {
    const std::string& name = names_[index(expression)];
    return name.empty() ? formula(expression) : field(xml_attribute(name));
  }

  [[nodiscard]] std::string difference(Expression from, double value) const {
    return value == 0 ? text(from) : applied("-", {text(from), constant(value)});
  }

  [[nodiscard]] static std::string total(std::vector<std::string> terms) {
    return terms.empty() ? constant(0) : terms.size() == 1 ? terms[0] : applied("sum", terms);
  }

  [[nodiscard]] std::string column_field(Index column) const {
    return field(xml_attribute(program_.columns[static_cast<std::size_t>(column)].name));
  }

  [[nodiscard]] std::string condition(const ExpressionNode& node) const {
    if (node.kind == Kind::kAtLeast)
      return applied("greaterOrEqual", {text(node.arguments[0]), text(node.arguments[1])});
    const ProgramColumn& own = program_.columns[static_cast<std::size_t>(node.column)];
    const std::string value = column_field(node.column);
    const int code = node.kind == Kind::kIsLevel ? static_cast<int>(node.numbers[0]) : own.of_missing;
    const std::string is_missing = applied("isMissing", {value});
    if (!own.is_text) return is_missing;
    std::vector<std::string> texts = {value};
    const bool is_unknown = code == own.of_unknown;
    for (const auto& [known, other] : own.codes) {
      if ((other == code) == is_unknown || known.empty()) continue;
      // Of an empty constant readers make what they like; no text is an empty field in most data.
      texts.push_back(fmt::format("<Constant dataType=\"string\">{}</Constant>", xml_attribute(known)));
    }
    const std::string is_in = texts.size() == 2 && !is_unknown
                                  ? applied("equal", texts)
                                  : applied(is_unknown ? "isNotIn" : "isIn", texts);
    // Functions of a missing value are missing, so that is asked first.
    if (code == own.of_missing)
      return applied("or", {is_missing, applied("and", {applied("isNotMissing", {value}), is_in})});
    return applied("and", {applied("isNotMissing", {value}), is_in});
  }

  [[nodiscard]] std::string formula(Expression expression) const {
    const ExpressionNode& node = program_.graph.node(expression);
    const auto argument = [&](std::size_t i) { return text(node.arguments[i]); };
    switch (node.kind) {
      case Kind::kConstant:
        return constant(node.numbers[0]);
      case Kind::kColumn:
        return column_field(node.column);
      case Kind::kSum: {
        std::vector<std::string> terms;
        for (std::size_t i = 0; i < node.arguments.size(); ++i)
          terms.push_back(node.numbers[i] == 1 ? argument(i)
                                               : applied("*", {constant(node.numbers[i]), argument(i)}));
        if (node.numbers.back() != 0) terms.push_back(constant(node.numbers.back()));
        return total(terms);
      }
      case Kind::kProduct: {
        std::vector<std::string> factors;
        for (std::size_t i = 0; i < node.arguments.size(); ++i) factors.push_back(argument(i));
        return applied("product", factors);
      }
      case Kind::kQuotient:
        return applied("/", {argument(0), argument(1)});
      case Kind::kPower:
        return applied("pow", {argument(0), constant(node.numbers[0])});
      case Kind::kSquareDistance: {
        std::vector<std::string> terms;
        for (std::size_t i = 0; i < node.arguments.size(); ++i)
          terms.push_back(applied("pow", {difference(node.arguments[i], node.numbers[i]), constant(2)}));
        return total(terms);
      }
      case Kind::kDistance: {
        std::vector<std::string> terms;
        for (std::size_t i = 0; i < node.arguments.size(); ++i)
          terms.push_back(applied("abs", {difference(node.arguments[i], node.numbers[i])}));
        return total(terms);
      }
      case Kind::kExp:
        return applied("exp", {argument(0)});
      case Kind::kLog:
        return applied("ln", {argument(0)});
      case Kind::kSqrt:
        return applied("sqrt", {argument(0)});
      case Kind::kCos:
        return applied("cos", {argument(0)});
      case Kind::kSin:
        return applied("sin", {argument(0)});
      case Kind::kAbs:
        return applied("abs", {argument(0)});
      case Kind::kMax:
        return applied("max", {argument(0), argument(1)});
      case Kind::kMin:
        return applied("min", {argument(0), argument(1)});
      case Kind::kLine: {
        const std::size_t count = node.numbers.size() / 2;
        std::string points;
        for (std::size_t i = 0; i < count; ++i)
          points += fmt::format("<LinearNorm orig=\"{}\" norm=\"{}\"/>", full_number(node.numbers[i]),
                                full_number(node.numbers[count + i]));
        const Expression of = node.arguments[0];
        const std::string& name = names_[index(of)];
        const std::string own =
            name.empty() ? program_.columns[static_cast<std::size_t>(program_.graph.node(of).column)].name
                         : name;
        return fmt::format("<NormContinuous field=\"{}\" outliers=\"asExtremeValues\">{}</NormContinuous>",
                           xml_attribute(own), points);
      }
      case Kind::kSelect:
        return applied("if", {condition(program_.graph.node(node.arguments[0])), argument(1), argument(2)});
      default:
        return condition(node);
    }
  }

  const Program& program_;
  std::vector<std::string> names_;  // of fields, by id; empty: none
  std::string prefix_ = "mfga_";
  std::string fields_;
  int parts_ = 0;
};

std::string data_fields(const Program& program, const std::vector<std::string>& targets) {
  std::string text;
  for (const ProgramColumn& column : program.columns)
    text += fmt::format("    <DataField name=\"{}\" {}/>\n", xml_attribute(column.name),
                        column.is_text ? "optype=\"categorical\" dataType=\"string\""
                                       : "optype=\"continuous\" dataType=\"double\"");
  for (const std::string& target : targets) {
    if (!program.is_classification()) {
      text += fmt::format("    <DataField name=\"{}\" optype=\"continuous\" dataType=\"double\"/>\n",
                          xml_attribute(target));
      continue;
    }
    text += fmt::format("    <DataField name=\"{}\" optype=\"categorical\" dataType=\"string\">",
                        xml_attribute(target));
    for (const std::string& label : program.model->labels)
      text += fmt::format("<Value value=\"{}\"/>", xml_attribute(label));
    text += "</DataField>\n";
  }
  return fmt::format("  <DataDictionary numberOfFields=\"{}\">\n{}  </DataDictionary>\n",
                     program.columns.size() + targets.size(), text);
}

}  // namespace

std::string print_pmml(const Program& program) {
  const Model& model = *program.model;
  const bool is_one = program.scores.size() == 1;
  PmmlFields fields(program);
  std::string outputs;
  for (std::size_t i = 0; i < program.terms.size(); ++i)
    fields.named(fmt::format("term_{}", i + 1), program.terms[i]);
  const auto add_output = [&](const std::string& name, const std::string& of) {
    outputs += fmt::format(
        "      <OutputField name=\"{}\" optype=\"continuous\" dataType=\"double\" "
        "feature=\"transformedValue\">{}</OutputField>\n",
        xml_attribute(name), field(xml_attribute(of)));
  };
  for (std::size_t k = 0; k < program.scores.size(); ++k) {
    const std::string name = is_one ? "score" : fmt::format("score_{}", k + 1);
    const std::string own = fields.named(name, program.scores[k]);
    add_output(is_one ? "score" : fmt::format("score({})", model.outputs[k].name), own);
  }
  // A target must not have the name of a column.
  std::string target = model.target_name;
  while (std::ranges::find(program.columns, target, &ProgramColumn::name) != program.columns.end())
    target += "_";
  std::string tables;
  const auto add_table = [&](const std::string& of, const std::string& category) {
    tables += fmt::format(
        "    <RegressionTable intercept=\"0\"{}><NumericPredictor name=\"{}\" coefficient=\"1\"/>"
        "</RegressionTable>\n",
        category.empty() ? "" : fmt::format(" targetCategory=\"{}\"", xml_attribute(category)),
        xml_attribute(of));
  };
  for (std::size_t k = 0; k < program.results.size(); ++k) {
    const std::string own = fields.named(fmt::format("result_{}", k + 1), program.results[k]);
    if (program.is_classification()) {
      add_table(own, model.labels[k]);
      outputs += fmt::format(
          "      <OutputField name=\"{0}\" optype=\"continuous\" dataType=\"double\" feature=\"probability\" "
          "value=\"{1}\"/>\n",
          xml_attribute(fmt::format("p({})", model.labels[k])), xml_attribute(model.labels[k]));
    } else {
      if (k == 0) add_table(own, "");
      if (!is_one) add_output(model.outputs[k].name, own);
    }
  }
  // A RegressionModel has one target: of several the first is that, and all are output fields.
  if (!program.is_classification() && !is_one) target = model.outputs.front().name + " (predicted)";
  outputs += fmt::format(
      "      <OutputField name=\"{}\" optype=\"{}\" dataType=\"{}\" feature=\"predictedValue\"/>\n",
      program.is_classification() ? "label" : "prediction",
      program.is_classification() ? "categorical" : "continuous",
      program.is_classification() ? "string" : "double");
  std::string mining;
  for (const ProgramColumn& column : program.columns)
    mining +=
        fmt::format("      <MiningField name=\"{}\" usageType=\"active\" invalidValueTreatment=\"asIs\"/>\n",
                    xml_attribute(column.name));
  mining += fmt::format("      <MiningField name=\"{}\" usageType=\"target\"/>\n", xml_attribute(target));
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<PMML xmlns=\"http://www.dmg.org/PMML-4_4\" version=\"4.4\">\n"
      "  <Header description=\"{}\"><Application name=\"mfga\" version=\"{}\"/></Header>\n"
      "{}"
      "  <TransformationDictionary>\n{}  </TransformationDictionary>\n"
      "  <RegressionModel functionName=\"{}\" normalizationMethod=\"{}\">\n"
      "    <MiningSchema>\n{}    </MiningSchema>\n"
      "    <Output>\n{}    </Output>\n{}"
      "  </RegressionModel>\n</PMML>\n",
      xml_attribute(program_title(program)), version(), data_fields(program, {target}), fields.fields(),
      task_name(model.task), program.is_classification() ? "simplemax" : "none", mining, outputs, tables);
}

}  // namespace mfga
