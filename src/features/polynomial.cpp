// The polynomial kernel K(x, x') = (offset + <x, x'>)^degree. It has finitely many features: with
// k = |a| <= degree,
//
//   phi_a(x) = sqrt(degree! / (degree - k)! offset^(degree - k) / a!) * x^a,   sum_a phi_a(x) phi_a(x') = K.
#include "features/polynomial.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "features/exclusive_levels.hpp"
#include "features/formula.hpp"
#include "features/monomials.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

// So that its powers are far from overflow.
constexpr double kLargestOffset = 1e6;

// The dictionary options, in the order of PolynomialFamily::options().
struct PolynomialOptions {
  int degree;
  bool squares;
  double offset;
};

constexpr std::array<FamilyOption, 3> kOptions = {{
    {"degree", "1 to 12", "2", "highest order of the products"},
    {"interactions", "all|cross", "all", "cross: only products of different inputs, no powers"},
    {"offset", "0 to 1e6", "1",
     "what is added to <x, x'>; a larger one favours low orders, 0 leaves the highest order only"},
}};

PolynomialOptions parse(const FamilyOptionValues& values) {
  constexpr std::array<std::string_view, 2> kInteractions = {"all", "cross"};
  return {parse_small_integer("degree", values[0], 1, kHighestOrder),
          parse_choice("interactions", values[1], kInteractions) == 0,
          parse_number("offset", values[2], 0, kLargestOffset)};
}

// Lower orders have no features without an offset.
int lowest_order(const PolynomialOptions& options) { return options.offset > 0 ? 0 : options.degree; }

// sqrt(degree! / (degree - order)! offset^(degree - order)); divided by sqrt(a!) it is the factor of x^a.
double order_factor(int degree, double offset, int order) {
  double square = std::pow(offset, degree - order);
  for (int i = degree - order + 1; i <= degree; ++i) square *= i;
  return std::sqrt(square);
}

class PolynomialFamily final : public MonomialFamily {
 public:
  [[nodiscard]] std::string_view name() const override { return "polynomial"; }
  [[nodiscard]] std::string_view help() const override {
    return "products of inputs: the features of the polynomial kernel (offset + <x, x'>)^degree";
  }
  [[nodiscard]] std::span<const FamilyOption> options() const override { return kOptions; }
  void check(const FamilyOptionValues& values) const override { parse(values); }
  [[nodiscard]] bool needs_sigma(const FamilyOptionValues& /*values*/) const override { return false; }
  [[nodiscard]] double candidates(const FamilyOptionValues& values, Index n_inputs) const override {
    const PolynomialOptions options = parse(values);
    double total = 0;
    for (int k = lowest_order(options); k <= options.degree; ++k)
      total += monomial_count(n_inputs, k, options.squares);
    return total;
  }
  [[nodiscard]] std::unique_ptr<CandidateFamily> bind(const FamilyOptionValues& values,
                                                      const CandidateContext& context,
                                                      double nu) const override {
    const auto [degree, squares, offset] = parse(values);
    MonomialKernel kernel{
        "polynomial", nu, {1.0 * degree, offset}, 0, squares, lowest_order(parse(values)), {}};
    for (int k = kernel.lowest_order; k <= degree; ++k)
      kernel.order_factors.push_back(std::sqrt(nu) * order_factor(degree, offset, k));
    return without_products_of_levels(monomial_candidates(context.n_inputs, std::move(kernel)), context);
  }
  [[nodiscard]] std::optional<Monomial> monomial(const Atom& atom) const override {
    return Monomial{factor(atom), 0, inputs_with_repetitions(atom)};
  }
  [[nodiscard]] AtomFormula describe(const Atom& atom, FormulaWriter& writer) const override {
    return {factor(atom), atom.inputs.empty() ? "1" : writer.monomial(atom)};
  }
  void validate(const Atom& atom, Index /*n_inputs*/) const override {
    const double degree = atom.parameters[0];
    if (!(degree >= 1 && degree <= kHighestOrder && degree == std::floor(degree))) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("the degree of a polynomial term is {}, expected a whole number from 1 to {}",
                              degree, kHighestOrder));
    }
    if (!(atom.parameters[1] >= 0 && atom.parameters[1] <= kLargestOffset)) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("the offset of a polynomial term is {}, expected a number from 0 to {}",
                              atom.parameters[1], kLargestOffset));
    }
    if (const int order = order_of(atom); order > degree) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("the order of a polynomial term is {}, at most its degree, {}, is possible",
                              order, degree));
    }
  }
  [[nodiscard]] std::span<const ParameterField> parameter_fields() const override {
    static constexpr std::array<ParameterField, 2> kFields = {{{"degree"}, {"offset"}}};
    return kFields;
  }

 private:
  static double factor(const Atom& atom) {
    double result = std::sqrt(atom.nu) *
                    order_factor(static_cast<int>(atom.parameters[0]), atom.parameters[1], order_of(atom));
    for (const int exponent : atom.exponents) result /= std::sqrt(std::tgamma(exponent + 1.0));
    return result;
  }
};

}  // namespace

const FeatureFamily& polynomial_family() {
  static const PolynomialFamily family;
  return family;
}

}  // namespace mfga
