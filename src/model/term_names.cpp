#include "model/term_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "model/scoring.hpp"

namespace mfga {
namespace {

// `age - 38.5`
std::string value_less(const std::string& value, double from, int digits) {
  if (from == 0) return value;
  return fmt::format("{} {} {:.{}g}", value, from < 0 ? '+' : '-', std::abs(from), digits);
}

// Where an input is 1 or 0, what it says: `education = Masters`, `age is missing`.
std::optional<std::string> statement(const Model& model, const ModelInput& input) {
  if (input.is_missing) return fmt::format("{} is {}", input.column_name(), kMissingLevel);
  const ColumnOrigin origin = origin_of(input.column, model.text_columns);
  if (origin.text == nullptr) return std::nullopt;
  if (origin.level == kMissingLevel) return fmt::format("{} is {}", origin.text->name, kMissingLevel);
  return fmt::format("{} = {}", origin.text->name, origin.level);
}

// A term of inputs that are each seen alone, in units of the table; none where it is of another kind.
std::optional<std::string> name_in_units(const Model& model, const Atom& atom, int digits) {
  if (model.mixing.rows > 0 || atom.inputs.empty()) return std::nullopt;
  const bool is_step = atom.family == "step";
  const bool is_hinge = atom.family == "hinge";
  const bool is_product = atom.family == "linear" || atom.family == "polynomial";
  if (!is_step && !is_hinge && !is_product) return std::nullopt;
  const auto place = [&](const ModelInput& input, double seen) {
    return fmt::format("{:.{}g}", in_units(seen, input), digits);
  };
  std::string text;
  for (std::size_t i = 0; i < atom.inputs.size(); ++i) {
    const ModelInput& input = model.inputs[static_cast<std::size_t>(atom.inputs[i])];
    const bool is_straight = input.warp.kind() == ScaleKind::kStandard;
    const bool is_alone = atom.inputs.size() == 1;
    std::string factor;
    // Of two values, every function of one input says the same.
    if (const std::optional<std::string> says = statement(model, input)) {
      factor = is_alone ? *says : fmt::format("[{}]", *says);
    } else if (is_step) {
      factor = fmt::format("{} >= {}", input.name, place(input, atom.parameters[0]));
    } else if (!is_straight) {
      return std::nullopt;
    } else if (is_hinge) {
      const bool rises = atom.parameters[2 * i + 1] > 0;
      const double knot = in_units(atom.parameters[2 * i], input);
      factor = rises ? fmt::format("max(0, {})", value_less(input.name, knot, digits))
                     : fmt::format("max(0, {:.{}g} - {})", knot, digits, input.name);
    } else if (is_alone && atom.exponents[i] == 1) {
      factor = input.name;
    } else {
      factor = fmt::format("({})", value_less(input.name, input.mean, digits));
      if (atom.exponents[i] > 1) factor += fmt::format("^{}", atom.exponents[i]);
    }
    text += (i == 0 ? "" : " * ") + factor;
  }
  return text;
}

}  // namespace

std::vector<std::string> names_of_terms(const Model& model) {
  constexpr int kDigits = 6;
  std::vector<std::string> names = short_formulas(model, model.terms.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    names[i] = name_in_units(model, model.terms[i].atom, kDigits).value_or(names[i]);
  std::map<std::string, int> uses;
  for (std::string& name : names) {
    const int use = ++uses[name];
    if (use > 1) name += fmt::format(" ({})", use);
  }
  return names;
}

}  // namespace mfga
