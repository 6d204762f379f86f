// Formulas to compute with: from the values of a row to its prediction, with every number in full.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "features/formula.hpp"
#include "losses/loss.hpp"
#include "mfga/formula.hpp"

namespace mfga {
namespace {

// A text of the table in quotes; a quote or a control character in it is escaped as in JSON.
std::string quoted(const std::string& text) {
  using Json = nlohmann::json;
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::string> numbered(std::string_view letter, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back(fmt::format("{}{}", letter, i));
  return names;
}

std::string origin_text(const Model& model, const ModelInput& input) {
  const ColumnOrigin origin = origin_of(input.column, model.text_columns);
  if (input.is_missing)
    return fmt::format("value is 1 where the column {} is missing, else 0", quoted(input.column_name()));
  if (origin.text == nullptr) return fmt::format("value is that of the column {}", quoted(input.name));
  if (origin.level == kMissingLevel)
    return fmt::format("value is 1 where the column {} is missing or holds the text {}, else 0",
                       quoted(origin.text->name), quoted(origin.level));
  if (origin.level == kOtherLevel && !origin.text->rare.empty())
    return fmt::format("value is 1 where the column {} holds a text that is no other level of it, else 0",
                       quoted(origin.text->name));
  return fmt::format("value is 1 where the column {} holds the text {}, else 0", quoted(origin.text->name),
                     quoted(origin.level));
}

std::string input_text(const Model& model, const ModelInput& input, const std::string& z) {
  std::string text = fmt::format("  {}: {}\n", z, origin_text(model, input));
  text += fmt::format("    {} = (value - ({})) / {}\n", z, input.mean, input.deviation);
  if (input.warp.kind() == ScaleKind::kRobust)
    text += fmt::format("    {0} = max(-{1}, min({1}, {0}))\n", z, input.warp.limit);
  if (input.warp.kind() == ScaleKind::kQuantile) {
    text += fmt::format(
        "    {0} = line({0}), on straight lines between these points (from, to), level outside of them\n", z);
    for (std::size_t i = 0; i < input.warp.knots.size(); ++i)
      text += fmt::format("      {}, {}\n", input.warp.knots[i], input.warp.values[i]);
  }
  if (input.stretch != 1) text += fmt::format("    {0} = {1} * {0}\n", z, input.stretch);
  return text;
}

std::string signs_text(const Model& model) {
  std::string text =
      "log is the natural logarithm, abs the absolute value, pi 3.141592653589793; angles are in radians;\n"
      "[condition] is 1 where the condition holds and else 0; a term with sqrt(v) is 0 where v is negative\n";
  if (std::ranges::any_of(model.terms, [](const Term& term) { return term.atom.family == "spline"; })) {
    text +=
        "Bk(v; t0, ..., tn) with n = k + 1 is a B-spline: B0(v; a, b) = [v >= a] * [v < b], and for k > 0\n"
        "  Bk(v; t0, ..., tn) = (v - t0) / (tk - t0) * B(k-1)(v; t0, ..., tk)\n"
        "                     + (tn - v) / (tn - t1) * B(k-1)(v; t1, ..., tn)\n";
  }
  return text;
}

// Which of several outputs is meant.
std::string of_output(const Model& model, const Output& output) {
  return model.has_one_output() ? "" : fmt::format(" of {}", quoted(output.name));
}

std::string prediction_text(const Model& model) {
  if (model.task == Task::kRegression) {
    std::string text;
    for (const Output& output : model.outputs) {
      std::string of_score(model.loss.empty() ? "score" : loss_of_kind(model.loss).prediction_text());
      constexpr std::string_view kScore = "score";
      of_score.insert(of_score.find(kScore) + kScore.size(), of_output(model, output));
      text += fmt::format("  prediction{} = {} + {} * {}\n", of_output(model, output), output.shift,
                          output.scale, of_score);
    }
    return text;
  }
  if (!model.has_one_output()) {
    const std::string_view own =
        model.loss.starts_with("one_vs_rest")
            ? "  probability of a class = 1 / (1 + exp(-its score)) / the sum of this over all classes\n"
            : "  probability of a class = exp(its score) / the sum of exp(score) over all classes\n";
    return std::string(own) + "  prediction = the class of the largest score\n";
  }
  return fmt::format(
      "  probability of {0} = {2}\n"
      "  prediction = {0} where score > 0, else {1}\n",
      quoted(model.labels[1]), quoted(model.labels[0]),
      model.loss.empty() ? "1 / (1 + exp(-score))" : loss_of_kind(model.loss).prediction_text());
}

}  // namespace

std::string full_formula_text(const Model& model) {
  std::string text = signs_text(model);
  const std::vector<std::string> z = numbered("z", model.inputs.size());
  text += "\n1. the inputs, from the values of a row of the table\n";
  text += "  (where a value is missing, and no input tells of it, z is 0)\n";
  if (model.unnamed_columns > 0)
    text += "  (the columns of the file had no names: x0 is the first one, x1 the second, ...)\n";
  for (std::size_t i = 0; i < z.size(); ++i) text += input_text(model, model.inputs[i], z[i]);

  std::vector<std::string> seen = z;
  int section = 2;
  if (model.mixing.rows > 0) {
    seen = numbered("u", z.size());
    const FormulaWriter writer = FormulaWriter::full(z);
    text += fmt::format("\n{}. combinations of the inputs, which the terms see\n", section++);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const double* row = model.mixing.row(static_cast<Index>(i));
      text += fmt::format("  {} = {}\n", seen[i], writer.sum({row, z.size()}, z));
    }
  }

  FormulaWriter writer = FormulaWriter::full(seen);
  std::vector<std::string> terms(model.outputs.size());
  for (const Term& term : model.terms) {
    const AtomFormula formula = describe(term.atom, writer);
    for (std::size_t k = 0; k < terms.size(); ++k) {
      const double factor = term.coefficients[k] * formula.factor;
      terms[k] +=
          fmt::format("    {} {} * {}\n", std::signbit(factor) ? '-' : '+', std::abs(factor), formula.text);
    }
  }
  if (!writer.definitions().empty()) {
    text += fmt::format("\n{}. what terms have in common\n", section++);
    for (const auto& [name, expression] : writer.definitions())
      text += fmt::format("  {} = {}\n", name, expression);
  }
  text += fmt::format("\n{}. the score{}\n", section++, model.has_one_output() ? "" : "s");
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const Output& output = model.outputs[k];
    text += fmt::format("  score{} = {}\n{}", of_output(model, output), output.intercept, terms[k]);
  }
  text += fmt::format("\n{}. the prediction of {}\n{}", section, quoted(model.target_name),
                      prediction_text(model));
  return text;
}

}  // namespace mfga
