// The dictionary: which explicit features of which kernels a model may pick from, written as a sum,
//
//   linear + gaussian(order=2, sigma=auto) + gaussian(order=1, sigma=auto*3, nu=0.5)
//
// A list of widths, sigma=[auto, auto*3], stands for the sum of the same summand with each of them.
// `mfga options` (docs/options.md) lists the families and their options.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mfga/views.hpp"

namespace mfga {

// Numbers that several atoms have in common, held once; compared by their values.
class SharedNumbers {
 public:
  SharedNumbers() = default;
  explicit SharedNumbers(std::vector<double> numbers)
      : numbers_(std::make_shared<const std::vector<double>>(std::move(numbers))) {}

  [[nodiscard]] std::span<const double> numbers() const {
    return numbers_ ? std::span<const double>(*numbers_) : std::span<const double>();
  }
  friend bool operator==(const SharedNumbers& a, const SharedNumbers& b) {
    return a.numbers_ == b.numbers_ || std::ranges::equal(a.numbers(), b.numbers());
  }

 private:
  std::shared_ptr<const std::vector<double>> numbers_;
};

// One explicit feature of one kernel, complete in itself: no seed or dictionary is needed to evaluate it.
// It is a function of the standardised inputs and includes the factor sqrt(nu) of its kernel.
struct Atom {
  std::string family;              // the name of its feature family
  double nu = 1;                   // weight of its kernel
  std::vector<Index> inputs;       // the inputs it multiplies, ascending
  std::vector<int> exponents;      // the power of each of those
  std::vector<double> parameters;  // the family's continuous parameters, e.g. {sigma}
  SharedNumbers shared = {};       // what it has in common with others of its family; usually nothing

  friend bool operator==(const Atom&, const Atom&) = default;
};

// One summand of the expression, with one width: a family and the options that were written.
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
