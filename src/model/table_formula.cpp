// Formulas in the units of the table: scales are multiplied out where a term allows it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "features/formula.hpp"
#include "losses/loss.hpp"
#include "mfga/error.hpp"
#include "mfga/formula.hpp"
#include "model/readable_formula.hpp"
#include "model/scoring.hpp"

namespace mfga {
namespace {

// To be computed with, and to be read.
constexpr int kAllDigits = 9;
constexpr int kFewDigits = 4;

std::string plain_number(double value, int digits = kAllDigits) {
  return fmt::format("{:.{}g}", value, digits);
}

// `age - 38.5`
std::string apart(const std::string& value, double from, int digits = kAllDigits) {
  if (from == 0) return value;
  return fmt::format("{} {} {}", value, from < 0 ? '+' : '-', plain_number(std::abs(from), digits));
}

// An input as it is written: z = slope * value + offset, where its scale is the standard one.
struct WrittenInput {
  std::string value;  // of the table
  bool is_straight = true;
  double slope = 1;
  double offset = 0;
  double mean = 0;
  std::string z;  // in full
};

WrittenInput written_input(const Model& model, const ModelInput& input) {
  WrittenInput result;
  const ColumnOrigin origin = origin_of(input.column, model.text_columns);
  const bool is_missing_level = origin.text != nullptr && origin.level == kMissingLevel;
  result.value = is_missing_level         ? fmt::format("[{} is missing]", origin.text->name)
                 : input.is_missing       ? fmt::format("[{} is missing]", input.column_name())
                 : origin.text != nullptr ? fmt::format("[{} = \"{}\"]", origin.text->name, origin.level)
                                          : input.name;
  result.slope = input.stretch / input.deviation;
  result.offset = -input.mean * result.slope;
  result.mean = input.mean;
  const std::string scaled = fmt::format("({}) * {}", apart(result.value, input.mean), 1 / input.deviation);
  const std::string stretch = input.stretch == 1 ? "" : fmt::format("{} * ", input.stretch);
  switch (input.warp.kind()) {
    case ScaleKind::kStandard:
      result.z = fmt::format("({}{})", stretch, scaled);
      break;
    case ScaleKind::kRobust:
      result.is_straight = false;
      result.z = fmt::format("({0}max(-{1}, min({1}, {2})))", stretch, input.warp.limit, scaled);
      break;
    case ScaleKind::kQuantile:
      result.is_straight = false;
      result.z = fmt::format("({}q({}))", stretch, input.name);
      break;
  }
  return result;
}

// The scaled value of an input by a name of its own, where it is written only to be read.
std::string short_name(const ModelInput& input) {
  switch (input.warp.kind()) {
    case ScaleKind::kStandard:
      return fmt::format("z({})", input.name);
    case ScaleKind::kRobust:
      return fmt::format("r({})", input.name);
    case ScaleKind::kQuantile:
      break;
  }
  return fmt::format("q({})", input.name);
}

class TableFormula {
 public:
  TableFormula(const Model& model, int digits) : model_(model), digits_(digits) {
    for (const ModelInput& input : model.inputs) inputs_.push_back(written_input(model, input));
    std::vector<std::string> names;
    if (digits == kAllDigits) {
      for (const WrittenInput& input : inputs_) names.push_back(input.z);
      writer_.emplace(FormulaWriter::full(names));
      return;
    }
    for (const ModelInput& input : model.inputs) names.push_back(short_name(input));
    if (model.mixing.rows > 0) names = model.formula_names();
    writer_.emplace(names, digits);
  }

  ReadableFormula readable() {
    ReadableFormula formula;
    for (const Output& output : model_.outputs) formula.titles.push_back(title(output));
    for (const Term& term : model_.terms) {
      formula.terms.push_back(model_.mixing.rows > 0 ? as_it_is(term.atom) : write(term.atom));
      if (formula.terms.back().text.empty()) formula.terms.back().text = "1";
    }
    return formula;
  }

  std::string text() {
    std::vector<std::string> lines(model_.outputs.size());
    std::vector<double> constants;
    for (const Output& output : model_.outputs)
      constants.push_back(output.shift + output.scale * output.intercept);
    for (const Term& term : model_.terms) {
      const ReadableTerm written = write(term.atom);
      for (std::size_t k = 0; k < lines.size(); ++k) {
        const double coefficient = model_.outputs[k].scale * term.coefficients[k];
        constants[k] += coefficient * written.constant;
        if (written.text.empty()) continue;
        const double factor = coefficient * written.factor;
        lines[k] += fmt::format("  {} {} * {}\n", std::signbit(factor) ? '-' : '+',
                                plain_number(std::abs(factor)), written.text);
      }
    }
    std::string text;
    for (std::size_t k = 0; k < lines.size(); ++k)
      text += fmt::format("{}\n  = {}\n{}", title(model_.outputs[k]), plain_number(constants[k]), lines[k]);
    return text + definitions() + notes();
  }

 private:
  [[nodiscard]] const WrittenInput& input(const Atom& atom, std::size_t i) const {
    return inputs_[static_cast<std::size_t>(atom.inputs[i])];
  }

  [[nodiscard]] std::string title(const Output& output) const {
    const std::string& name = output.name.empty() ? model_.target_name : output.name;
    if (model_.task == Task::kClassification && model_.has_one_output())
      return fmt::format("{} of {} = {}", model_.loss.empty() ? "log-odds" : "score", model_.target_name,
                         model_.labels[1]);
    if (model_.task == Task::kClassification)
      return fmt::format("score of {} = {}", model_.target_name, name);
    return model_.loss.empty() ? name : loss_of_kind(model_.loss).score_text(name);
  }

  ReadableTerm write(const Atom& atom) {
    for (const Index i : atom.inputs) used_.insert(i);
    const double factor = describe(atom, std::span<const std::string>(writer_->names())).factor;
    bool are_straight = true;
    for (std::size_t i = 0; i < atom.inputs.size(); ++i)
      are_straight = are_straight && input(atom, i).is_straight;
    if (atom.family == "step") return step(atom, factor);
    const bool is_product = atom.family == "linear" || atom.family == "polynomial";
    if (is_product && are_straight && !atom.inputs.empty()) return product(atom, factor);
    if (atom.family == "hinge" && are_straight) return hinge(atom, factor);
    if (!is_product && atom.family != "hinge") {
      for (Index i = 0; i < std::ssize(inputs_); ++i) used_.insert(i);  // it may look at all
    }
    return as_it_is(atom);
  }

  // In scaled inputs.
  [[nodiscard]] ReadableTerm as_it_is(const Atom& atom) {
    const AtomFormula formula = describe(atom, *writer_);
    return {formula.factor, formula.text, 0};
  }

  [[nodiscard]] ReadableTerm product(const Atom& atom, double factor) const {
    if (atom.inputs.size() == 1 && atom.exponents[0] == 1) {
      const WrittenInput& own = input(atom, 0);
      return {factor * own.slope, own.value, factor * own.offset};
    }
    std::string text;
    for (std::size_t i = 0; i < atom.inputs.size(); ++i) {
      const WrittenInput& own = input(atom, i);
      factor *= std::pow(own.slope, atom.exponents[i]);
      text += fmt::format("{}({}){}", i == 0 ? "" : " * ", apart(own.value, own.mean, digits_),
                          atom.exponents[i] > 1 ? fmt::format("^{}", atom.exponents[i]) : "");
    }
    return {factor, text, 0};
  }

  [[nodiscard]] ReadableTerm hinge(const Atom& atom, double factor) const {
    std::string text;
    for (std::size_t i = 0; i < atom.inputs.size(); ++i) {
      const WrittenInput& own = input(atom, i);
      const double place = (atom.parameters[2 * i] - own.offset) / own.slope;
      const bool rises = atom.parameters[2 * i + 1] > 0;
      factor *= own.slope;
      text += fmt::format("{}max(0, {})", i == 0 ? "" : " * ",
                          rises ? apart(own.value, place, digits_)
                                : fmt::format("{} - {}", plain_number(place, digits_), own.value));
    }
    return {factor, text, 0};
  }

  [[nodiscard]] ReadableTerm step(const Atom& atom, double factor) const {
    const ModelInput& own = model_.inputs[static_cast<std::size_t>(atom.inputs[0])];
    const double knot = atom.parameters[0] / own.stretch;
    // Outside of its range a scale is level.
    const double lowest = own.warp.kind() == ScaleKind::kQuantile ? own.warp.values.front() : -own.warp.limit;
    const double highest = own.warp.kind() == ScaleKind::kQuantile ? own.warp.values.back() : own.warp.limit;
    if (own.warp.kind() != ScaleKind::kStandard && knot <= lowest) return {0, "", factor};
    if (own.warp.kind() != ScaleKind::kStandard && knot > highest) return {0, "", 0};
    return {factor,
            fmt::format("[{} >= {}]", input(atom, 0).value,
                        plain_number(in_units(atom.parameters[0], own), digits_)),
            0};
  }

  // Whether it is a level of a text whose missing values are a level, too.
  [[nodiscard]] bool has_missing_level(const ModelInput& own) const {
    const TextColumn* const text = origin_of(own.column, model_.text_columns).text;
    return text != nullptr && std::ranges::find(text->levels, kMissingLevel) != text->levels.end();
  }

  [[nodiscard]] std::string definitions() const {
    std::string text;
    for (const auto& [name, expression] : writer_->definitions())
      text += fmt::format("with {} = {}\n", name, expression);
    return text;
  }

  [[nodiscard]] std::string notes() const {
    std::string text =
        "\nColumns are in the units of the table; [condition] is 1 where the condition holds and else 0";
    if (model_.task == Task::kClassification)
      text += model_.has_one_output()
                  ? fmt::format("; {} is predicted where this is above 0", model_.labels[1])
                  : "; the class of the largest score is predicted";
    else if (!model_.loss.empty() && loss_of_kind(model_.loss).prediction_text() != "score")
      text += fmt::format("; the prediction is {}", loss_of_kind(model_.loss).prediction_text());
    text += ".\nWhere a value is missing, take in its place:";
    bool has_any = false;
    for (const Index i : used_) {
      const ModelInput& own = model_.inputs[static_cast<std::size_t>(i)];
      if (own.is_missing || has_missing_level(own) || own.warp.kind() == ScaleKind::kQuantile) continue;
      text +=
          fmt::format("\n  {} for {}", plain_number(own.mean), inputs_[static_cast<std::size_t>(i)].value);
      has_any = true;
    }
    for (const Index i : used_) {
      const ModelInput& own = model_.inputs[static_cast<std::size_t>(i)];
      if (own.warp.kind() != ScaleKind::kQuantile) continue;
      text += fmt::format("\n  {} for {}", plain_number(in_units(0, own)), own.name);
      has_any = true;
    }
    text += has_any ? "\n" : " nothing, for no term has one\n";
    for (const Index i : used_) {
      const ModelInput& own = model_.inputs[static_cast<std::size_t>(i)];
      if (own.warp.kind() != ScaleKind::kQuantile) continue;
      text += fmt::format("q({}) is on straight lines between these points, and level outside of them:\n",
                          own.name);
      for (std::size_t k = 0; k < own.warp.knots.size(); ++k)
        text +=
            fmt::format("      {}, {}\n", plain_number(own.warp.knots[k]), plain_number(own.warp.values[k]));
    }
    return text;
  }

  const Model& model_;
  int digits_;
  std::vector<WrittenInput> inputs_;
  std::optional<FormulaWriter> writer_;
  std::set<Index> used_;
};

}  // namespace

std::string table_formula_text(const Model& model) {
  if (model.mixing.rows > 0) {
    throw Error(
        ErrorKind::kInvalidArgument,
        "the terms of this model see combinations of all columns (`metric=full`), which have no units; "
        "the full formula has every number");
  }
  return TableFormula(model, kAllDigits).text();
}

ReadableFormula readable_formula(const Model& model) { return TableFormula(model, kFewDigits).readable(); }

}  // namespace mfga
