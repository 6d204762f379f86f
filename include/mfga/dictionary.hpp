// The dictionary: which explicit features of which kernels a model may pick from, written as a sum,
//
//   linear + gaussian(order=2, sigma=auto) + gaussian(order=1, sigma=auto*3, nu=0.5)
//
// `mfga options` (docs/options.md) lists the families and their options.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfga/views.hpp"

namespace mfga {

// One explicit feature of one kernel, complete in itself: no seed or dictionary is needed to evaluate it.
// It is a function of the standardised inputs and includes the factor sqrt(nu) of its kernel.
struct Atom {
  std::string family;              // the name of its feature family
  double nu = 1;                   // weight of its kernel
  std::vector<Index> inputs;       // the inputs it multiplies, ascending
  std::vector<int> exponents;      // the power of each of those
  std::vector<double> parameters;  // the family's continuous parameters, e.g. {sigma}

  friend bool operator==(const Atom&, const Atom&) = default;
};

// One summand of the expression: a family and the options that were written.
struct FamilyRequest {
  struct Option {
    std::string name;
    std::string value;
  };
  std::string family;
  std::vector<Option> options;
};

class Dictionary {
 public:
  // Parses the expression; unknown families, options and values are errors that say what exists.
  explicit Dictionary(std::string_view expression);

  [[nodiscard]] const std::vector<FamilyRequest>& requests() const { return requests_; }
  // Whether a width is to be found from the data.
  [[nodiscard]] bool needs_sigma() const;
  // How many candidates it has for this many inputs, computed without making them (it may be astronomical);
  // the most there can be where a family's number depends on the data or on chance.
  [[nodiscard]] double candidates(Index n_inputs) const;

 private:
  std::vector<FamilyRequest> requests_;
};

// A readable formula for an atom, such as `age * income^2 * G(2.5)`, and the constant in front of it that
// belongs to the atom (so that coefficient * factor stands before the formula).
struct AtomFormula {
  double factor = 1;
  std::string text;
};
[[nodiscard]] AtomFormula describe(const Atom& atom, std::span<const std::string> input_names);

}  // namespace mfga
