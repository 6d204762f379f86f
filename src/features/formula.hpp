// How atoms are written as formulas: short ones to be read, full ones to be computed with.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mfga/dictionary.hpp"

namespace mfga {

class FormulaWriter {
 public:
  static constexpr int kUsualDigits = 4;
  // Short: numbers with so many digits, and of long sums the largest parts.
  explicit FormulaWriter(std::span<const std::string> input_names, int digits = kUsualDigits)
      : names_(input_names.begin(), input_names.end()), digits_(digits) {}
  // Full: every number and every part, exactly, in sums, products, quotients, powers and elementary
  // functions; but B-splines are written as in short formulas.
  [[nodiscard]] static FormulaWriter full(std::span<const std::string> input_names) {
    return FormulaWriter(input_names, 0);
  }

  [[nodiscard]] bool is_full() const { return digits_ == 0; }
  [[nodiscard]] std::span<const std::string> names() const { return names_; }
  [[nodiscard]] const std::string& name(Index input) const { return names_[static_cast<std::size_t>(input)]; }

  // In short formulas, what is 0 but for rounding is 0: numbers are in units of standardised inputs.
  [[nodiscard]] std::string number(double value) const;
  // `a + 0.5` or `a - 0.5`.
  [[nodiscard]] std::string shifted(std::string_view text, double by) const;
  // Short: `0.31 a - 0.2 b + 5 more`, the largest first. Full: `0.1 * a + 0 * b + ...`.
  [[nodiscard]] std::string sum(std::span<const double> weights, std::span<const std::string> names) const;
  // `a * b^2` for the inputs of an atom; empty if it has none.
  [[nodiscard]] std::string monomial(const Atom& atom) const;

  // A name for an expression that terms have in common; the first use defines it.
  std::string define(std::string_view prefix, const std::string& expression);
  struct Definition {
    std::string name;
    std::string expression;
  };
  [[nodiscard]] const std::vector<Definition>& definitions() const { return definitions_; }

 private:
  std::vector<std::string> names_;
  int digits_;
  std::vector<Definition> definitions_;
  std::map<std::string, std::string> name_of_expression_;
};

// The largest entries of a vector, three at most, in the order of their size.
[[nodiscard]] std::vector<std::size_t> largest_entries(std::span<const double> vector);

// As the public one, in another style.
[[nodiscard]] AtomFormula describe(const Atom& atom, FormulaWriter& writer);

}  // namespace mfga
