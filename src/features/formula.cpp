#include "features/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "features/family.hpp"

namespace mfga {

std::string FormulaWriter::number(double value) const {
  if (is_full()) return fmt::format("{}", value);
  constexpr double kRounding = 1e-12;
  return fmt::format("{:.{}g}", std::abs(value) < kRounding ? 0.0 : value, digits_);
}

std::string FormulaWriter::shifted(std::string_view text, double by) const {
  return fmt::format("{} {} {}", text, std::signbit(by) ? '-' : '+', number(std::abs(by)));
}

std::string FormulaWriter::sum(std::span<const double> weights, std::span<const std::string> names) const {
  std::vector<std::size_t> shown(weights.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  if (!is_full()) shown = largest_entries(weights);
  std::string text;
  for (const std::size_t i : shown) {
    const bool is_negative = std::signbit(weights[i]);
    text += text.empty() ? (is_negative ? "-" : "") : (is_negative ? " - " : " + ");
    const double size = std::abs(weights[i]);
    text += is_full() ? fmt::format("{} * {}", number(size), names[i])
                      : fmt::format("{:.{}g} {}", size, digits_ - 1, names[i]);
  }
  if (weights.size() > shown.size()) text += fmt::format(" + {} more", weights.size() - shown.size());
  return text;
}

std::string FormulaWriter::monomial(const Atom& atom) const {
  std::string text;
  for (std::size_t i = 0; i < atom.inputs.size(); ++i) {
    if (i > 0) text += " * ";
    text += name(atom.inputs[i]);
    if (atom.exponents[i] > 1) text += fmt::format("^{}", atom.exponents[i]);
  }
  return text;
}

std::string FormulaWriter::define(std::string_view prefix, const std::string& expression) {
  const auto [entry, is_new] = name_of_expression_.try_emplace(expression);
  if (is_new) {
    const auto has_prefix = [&](const Definition& definition) { return definition.name.starts_with(prefix); };
    entry->second = fmt::format("{}{}", prefix, std::ranges::count_if(definitions_, has_prefix) + 1);
    definitions_.push_back({entry->second, expression});
  }
  return entry->second;
}

std::vector<std::size_t> largest_entries(std::span<const double> vector) {
  constexpr std::size_t kMost = 3;
  std::vector<std::size_t> order(vector.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return std::abs(vector[i]); });
  order.resize(std::min(kMost, order.size()));
  return order;
}

AtomFormula describe(const Atom& atom, FormulaWriter& writer) {
  return find_feature_family(atom.family)->describe(atom, writer);
}

AtomFormula describe(const Atom& atom, std::span<const std::string> input_names) {
  FormulaWriter writer(input_names);
  return describe(atom, writer);
}

}  // namespace mfga
