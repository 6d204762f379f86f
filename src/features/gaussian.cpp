// Taylor features of the Gaussian kernel K(x, x') = exp(-|x - x'|^2 / 2 sigma^2) (Cotter, Keshet and Srebro
// 2011; the paper, section 4): for a multi-index a of order k = |a|,
//
//   phi_a(x) = exp(-|x|^2 / 2 sigma^2) * x^a / (sigma^k sqrt(a!)),     sum over all a of phi_a(x) phi_a(x') =
//   K.
#include "features/gaussian.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "features/exclusive_levels.hpp"
#include "features/formula.hpp"
#include "features/monomials.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

// The dictionary options, in the order of GaussianFamily::options().
struct GaussianOptions {
  int order;
  bool squares;
  SigmaChoice sigma;
};

constexpr std::array<FamilyOption, 3> kOptions = {{
    {"order", "0 to 12", "2", "highest order of the Taylor features"},
    {"squares", "yes|no", "yes", "no: only products of different inputs"},
    kSigmaOption,
}};

GaussianOptions parse(const FamilyOptionValues& values) {
  return {parse_small_integer("order", values[0], 0, kHighestOrder), parse_yes_no("squares", values[1]),
          parse_sigma(values[2])};
}

// exp(-decay |x|^2) is the envelope.
double decay(double sigma) { return 0.5 / (sigma * sigma); }

// sqrt(nu) / (sigma^k sqrt(a!))
double taylor_factor(const Atom& atom) {
  double factor = std::sqrt(atom.nu);
  for (const int exponent : atom.exponents) {
    for (int i = 1; i <= exponent; ++i) factor /= atom.parameters[0] * std::sqrt(i);
  }
  return factor;
}

class GaussianFamily final : public MonomialFamily {
 public:
  [[nodiscard]] std::string_view name() const override { return "gaussian"; }
  [[nodiscard]] std::string_view help() const override {
    return "Taylor features of the Gaussian kernel: products of inputs times exp(-|x|^2 / 2 sigma^2)";
  }
  [[nodiscard]] std::span<const FamilyOption> options() const override { return kOptions; }
  void check(const FamilyOptionValues& values) const override { parse(values); }
  [[nodiscard]] bool needs_sigma(const FamilyOptionValues& values) const override {
    return parse(values).sigma.automatic;
  }
  [[nodiscard]] double candidates(const FamilyOptionValues& values, Index n_inputs) const override {
    const GaussianOptions options = parse(values);
    double total = 0;
    for (int k = 0; k <= options.order; ++k) total += monomial_count(n_inputs, k, options.squares);
    return total;
  }
  [[nodiscard]] std::unique_ptr<CandidateFamily> bind(const FamilyOptionValues& values,
                                                      const CandidateContext& context,
                                                      double nu) const override {
    const GaussianOptions options = parse(values);
    const double sigma = options.sigma.resolve(context.auto_sigma);
    MonomialKernel kernel{"gaussian", nu, {sigma}, decay(sigma), options.squares, 0, {}};
    double factor = std::sqrt(nu);
    for (int k = 0; k <= options.order; ++k, factor /= sigma) kernel.order_factors.push_back(factor);
    return without_products_of_levels(monomial_candidates(context.n_inputs, std::move(kernel)), context);
  }
  [[nodiscard]] std::optional<Monomial> monomial(const Atom& atom) const override {
    return Monomial{taylor_factor(atom), decay(atom.parameters[0]), inputs_with_repetitions(atom)};
  }
  [[nodiscard]] std::vector<Coordinate> coordinates(const Atom& atom) const override {
    return {{std::log(atom.parameters[0])}};
  }
  [[nodiscard]] Atom moved(const Atom& atom, std::span<const double> values) const override {
    Atom result = atom;
    result.parameters[0] = positive_from_logarithm(values[0]);
    return result;
  }
  [[nodiscard]] AtomFormula describe(const Atom& atom, FormulaWriter& writer) const override {
    std::string text = writer.monomial(atom);
    if (!text.empty()) text += " * ";
    const std::string sigma = writer.number(atom.parameters[0]);
    if (!writer.is_full()) return {taylor_factor(atom), fmt::format("{}G({})", text, sigma)};
    std::string squares;
    for (const std::string& name : writer.names()) squares += (squares.empty() ? "" : " + ") + name + "^2";
    const std::string square_norm = writer.define("r", squares);
    return {taylor_factor(atom), fmt::format("{}exp(-{} / (2 * {}^2))", text, square_norm, sigma)};
  }
  void validate(const Atom& atom, Index /*n_inputs*/) const override {
    if (const int order = order_of(atom); order > kHighestOrder) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("the order of a gaussian term is {}, at most {} is possible", order, kHighestOrder));
    }
    if (!(atom.parameters[0] > 0)) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("sigma of a gaussian term is {}, expected a positive number", atom.parameters[0]));
    }
  }
  [[nodiscard]] std::span<const ParameterField> parameter_fields() const override {
    static constexpr std::array<ParameterField, 1> kFields = {{{"sigma"}}};
    return kFields;
  }
};

}  // namespace

const FeatureFamily& gaussian_family() {
  static const GaussianFamily family;
  return family;
}

}  // namespace mfga
