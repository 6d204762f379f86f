// Formulas to be read; full_formula.cpp has those to compute with.
#include "mfga/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "features/formula.hpp"
#include "features/kernel_columns.hpp"
#include "losses/loss.hpp"
#include "model/term_names.hpp"

namespace mfga {
namespace {

// What is below this part of its neighbours is 0 but for rounding.
constexpr double kRounding = 1e-12;

// What the names of inputs mean that are not columns of numbers on the standard scale.
std::string input_notes(const Model& model) {
  std::string text;
  if (!model.text_columns.empty())
    text += ",\ncolumn=text is 1 where the column holds that text and else 0, before it is standardised";
  if (std::ranges::any_of(model.inputs, &ModelInput::is_missing))
    text += ",\ncolumn=missing is 1 where the column has no value and else 0, before it is standardised";
  const auto first_of = [&](ScaleKind scale) {
    const auto found =
        std::ranges::find(model.inputs, scale, [](const ModelInput& i) { return i.warp.kind(); });
    return found == model.inputs.end() ? nullptr : &*found;
  };
  if (const ModelInput* input = first_of(ScaleKind::kRobust)) {
    text +=
        fmt::format(",\nr(column) = (value - median) / robust spread, cut to [-{0}, {0}]", input->warp.limit);
  }
  if (first_of(ScaleKind::kQuantile) != nullptr) {
    text += ",\nq(column) is the normal quantile of the part of the training rows that are below the value";
  }
  if (model.is_stretched())
    text += ",\neach times its stretch, which tells how much the column counts (mfga inspect shows them)";
  if (model.mixing.rows > 0) text += ",\nm(column) is a combination of all columns";
  return text;
}

std::string kernel_note(const Kernel& kernel) {
  switch (kernel.name) {
    case Kernel::Name::kGaussian:
      return "near(p; s) = exp(-|z - p|^2 / 2 s^2), with z all standardised columns and p the place named";
    case Kernel::Name::kLaplace:
      return "near(p; s, laplace) = exp(-|z - p|_1 / s), with |.|_1 the sum of all absolute differences";
    case Kernel::Name::kMatern:
      return fmt::format("near(p; s, matern({0})) = {1} exp(-t), with t = sqrt({2}) |z - p| / s",
                         kernel.parameter,
                         kernel.parameter == 0.5   ? "1"
                         : kernel.parameter == 1.5 ? "(1 + t)"
                                                   : "(1 + t + t^2 / 3)",
                         2 * kernel.parameter);
    default:
      return "";  // written out
  }
}

// What the symbols in the formula of an atom mean.
std::string symbol_note(const Atom& atom) {
  if (atom.family == "gaussian") return "G(s) = exp(-|z|^2 / 2 s^2), with z all standardised columns";
  if (atom.family == "landmark" || atom.family == "nystrom") return kernel_note(kernel_of(atom));
  if (atom.family == "step") return "[condition] is 1 where the condition holds and else 0";
  if (atom.family == "hinge") return "max(0, v) is v where v is positive and else 0";
  if (atom.family == "spline")
    return "Bk(v; knots) is the B-spline of degree k: a smooth bump between the first knot and the last";
  if (atom.family == "additive")
    return "log is the natural logarithm, and a term with sqrt(v) is 0 where v is negative; angles are in "
           "radians";
  if (atom.family == "fourier" || atom.family == "periodic") return "angles are in radians";
  return "";  // sums and products
}

std::string signed_number(double value, double largest) {
  const double shown = std::abs(value) < kRounding * largest ? 0.0 : value;
  return fmt::format("{} {:.6g}", std::signbit(shown) ? "-" : "+", std::abs(shown));
}

// A value in the units of the table, with all digits before the decimal point.
std::string place_number(double value, const ModelInput& input, int digits) {
  if (std::abs(value) < kRounding * std::max(std::abs(input.mean), input.deviation)) return "0";
  constexpr double kLongest = 15;
  const double whole_digits = std::floor(std::log10(std::abs(value))) + 1;
  return fmt::format("{:.{}g}", value,
                     whole_digits > kLongest ? digits : std::max(digits, static_cast<int>(whole_digits)));
}

// The first of the places of an atom, after its formula.
std::string places_text(const Model& model, const Atom& atom, int digits) {
  constexpr std::size_t kMost = 3;
  const std::vector<Place> places = model.places(atom);
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, places.size()); ++i) {
    const ModelInput& input = *std::ranges::find(model.inputs, places[i].column, &ModelInput::name);
    text += fmt::format("{}{} = {}", i == 0 ? "   at " : ", ", places[i].column,
                        place_number(places[i].value, input, digits));
  }
  return places.size() > kMost ? text + ", ..." : text;
}

}  // namespace

std::vector<std::string> short_formulas(const Model& model, std::size_t count) {
  const std::vector<std::string> names = model.formula_names();
  const auto text = [&](std::size_t i, int digits) {
    FormulaWriter writer(names, digits);
    const Atom& atom = model.terms[i].atom;
    return describe(atom, writer).text + places_text(model, atom, digits);
  };
  std::vector<std::string> texts(count);
  std::vector<std::size_t> alike(count);
  std::iota(alike.begin(), alike.end(), std::size_t{0});
  constexpr int kMostDigits = 17;
  for (int digits = FormulaWriter::kUsualDigits; digits <= kMostDigits && !alike.empty(); ++digits) {
    for (const std::size_t i : alike) texts[i] = text(i, digits);
    std::map<std::string, int> uses;
    for (const std::string& used : texts) ++uses[used];
    std::erase_if(alike, [&](std::size_t i) { return uses[texts[i]] == 1; });
  }
  // These differ in what the formula leaves out.
  for (const std::size_t i : alike) texts[i] = text(i, FormulaWriter::kUsualDigits);
  return texts;
}

namespace {

// What the terms are multiplied by, in the units of the target: [terms x outputs].
Matrix factors_of(const Model& model) {
  const std::vector<std::string> names = model.formula_names();
  Matrix factors(std::ssize(model.terms), model.n_outputs());
  for (Index i = 0; i < factors.rows; ++i) {
    const Term& term = model.terms[static_cast<std::size_t>(i)];
    const double factor = describe(term.atom, names).factor;
    for (Index k = 0; k < factors.cols; ++k) {
      const auto output = static_cast<std::size_t>(k);
      factors(i, k) = model.outputs[output].scale * term.coefficients[output] * factor;
    }
  }
  return factors;
}

double intercept_of(const Output& output, double largest) {
  const double intercept = output.shift + output.scale * output.intercept;
  return std::abs(intercept) < kRounding * largest ? 0.0 : intercept;
}

double largest_of(const Matrix& factors) {
  double largest = 0;
  for (const double factor : factors.values) largest = std::max(largest, std::abs(factor));
  return largest;
}

std::string one_output_text(const Model& model, const std::vector<std::string>& texts) {
  const Matrix factors = factors_of(model);
  const double largest = largest_of(factors);
  const std::string label =
      model.task == Task::kClassification ? fmt::format("{} = {}", model.target_name, model.labels[1]) : "";
  std::string text =
      !label.empty()       ? (model.loss.empty() ? fmt::format("log-odds of {}\n", label)
                                                 : fmt::format("{}\n", loss_of_kind(model.loss).score_text(label)))
      : model.loss.empty() ? fmt::format("{}\n", model.target_name)
                           : fmt::format("{}\n", loss_of_kind(model.loss).score_text(model.target_name));
  text += fmt::format("  = {:.6g}\n", intercept_of(model.outputs.front(), largest));
  for (std::size_t i = 0; i < texts.size(); ++i)
    text +=
        fmt::format("  {:>14}  {}\n", signed_number(factors(static_cast<Index>(i), 0), largest), texts[i]);
  return text;
}

// One table: terms by rows, outputs by columns.
std::string several_outputs_text(const Model& model, const std::vector<std::string>& texts) {
  constexpr std::size_t kMostColumns = 12;
  const Matrix factors = factors_of(model);
  const std::size_t columns = std::min(kMostColumns, model.outputs.size());
  std::vector<std::size_t> widths;
  for (std::size_t k = 0; k < columns; ++k)
    widths.push_back(std::max<std::size_t>(10, model.outputs[k].name.size()) + 2);
  const bool is_cut = columns < model.outputs.size();
  const auto line = [&](const auto& cell, const std::string& end) {
    std::string row;
    for (std::size_t k = 0; k < columns; ++k) row += fmt::format("{:>{}}", cell(k), widths[k]);
    return row + (is_cut ? " ..." : "") + end + "\n";
  };
  std::string text =
      model.task == Task::kClassification
          ? fmt::format("score of each class of {}, of which the largest wins", model.target_name)
      : model.loss.empty() ? fmt::format("the targets {}", model.target_name)
                           : loss_of_kind(model.loss).score_text("each of the targets " + model.target_name);
  text += is_cut ? fmt::format(" (the first {} of {} columns)\n", columns, model.outputs.size()) : "\n";
  text += line([&](std::size_t k) { return model.outputs[k].name; }, "");
  text +=
      line([&](std::size_t k) { return fmt::format("{:.4g}", intercept_of(model.outputs[k], 0)); }, "  1");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    text += line(
        [&](std::size_t k) {
          return fmt::format("{:+.4g}", factors(static_cast<Index>(i), static_cast<Index>(k)));
        },
        "  " + texts[i]);
  }
  return text;
}

}  // namespace

std::string formula_text(const Model& model, std::size_t most_terms) {
  const std::size_t shown = std::min(most_terms, model.terms.size());
  const bool scaled = std::ranges::any_of(
      model.outputs, [](const Output& output) { return output.shift != 0 || output.scale != 1; });
  const std::vector<std::string> texts = short_formulas(model, shown);
  std::string text =
      model.has_one_output() ? one_output_text(model, texts) : several_outputs_text(model, texts);
  std::vector<std::string> notes;
  bool has_places = false;
  for (std::size_t i = 0; i < shown; ++i) {
    const Atom& atom = model.terms[i].atom;
    has_places = has_places || !model.places(atom).empty();
    const std::string note = symbol_note(atom);
    if (!note.empty() && std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  }
  if (model.terms.size() > shown)
    text += fmt::format("  ... and {} more terms\n", model.terms.size() - shown);
  text += "where each column stands for its standardised value, (value - mean) / deviation";
  if (has_places) text += ",\nand what follows \"at\" is the place of a term in the units of the table";
  for (const std::string& note : notes) text += ",\nand " + note;
  text += input_notes(model);
  if (scaled && model.task == Task::kRegression && model.has_one_output())
    text += "\n(fitted to the target, shifted and scaled)";
  return text + "\n";
}

}  // namespace mfga
