// Steps 1[x >= t] of single inputs at knots t near the quantiles of their training values. With a factor
// 1 / sqrt(knots) their inner products converge to min(F(x), F(x')), F the distribution function of the
// input, as the number of knots grows.
#include "features/step.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/vectorise.hpp"
#include "features/columns.hpp"
#include "features/formula.hpp"
#include "features/knotted_candidates.hpp"
#include "features/univariate.hpp"

namespace mfga {
namespace {

constexpr std::array<FamilyOption, 1> kOptions = {
    {{"knots", "1 to 10000", "16",
      "steps per input, near the quantiles of its training values; fewer if it has few different values"}}};

Index knots_of(const FamilyOptionValues& values) {
  constexpr int kMostKnots = 10000;
  return parse_small_integer("knots", values[0], 1, kMostKnots);
}

MFGA_VECTORISED void step(const double* x, double knot, double height, Index rows, double* out) {
  for (Index n = 0; n < rows; ++n) out[n] = x[n] >= knot ? height : 0.0;
}

class StepFamily final : public UnivariateFamily {
 public:
  [[nodiscard]] std::string_view name() const override { return "step"; }
  [[nodiscard]] std::string_view help() const override {
    return "steps of single inputs: 1 where x >= knot, else 0";
  }
  [[nodiscard]] std::span<const FamilyOption> options() const override { return kOptions; }
  void check(const FamilyOptionValues& values) const override { static_cast<void>(knots_of(values)); }
  [[nodiscard]] double candidates(const FamilyOptionValues& values, Index n_inputs) const override {
    return static_cast<double>(knots_of(values)) * static_cast<double>(n_inputs);
  }
  [[nodiscard]] std::unique_ptr<CandidateFamily> bind(const FamilyOptionValues& values,
                                                      const CandidateContext& context,
                                                      double nu) const override {
    return knotted_candidates(*this, atoms(values, context, nu), KnotShape::kStep);
  }
  // The knot is a place, which is stretched along with its input.
  [[nodiscard]] std::vector<Coordinate> coordinates(const Atom& atom) const override {
    return {{atom.parameters[0], 1, atom.inputs[0]}};
  }
  [[nodiscard]] Atom moved(const Atom& atom, std::span<const double> values) const override {
    Atom result = atom;
    result.parameters[0] = values[0];
    return result;
  }
  [[nodiscard]] AtomFormula describe(const Atom& atom, FormulaWriter& writer) const override {
    return {std::sqrt(atom.nu),
            fmt::format("[{} >= {}]", writer.name(atom.inputs[0]), writer.number(atom.parameters[0]))};
  }
  [[nodiscard]] Expression expression(const Atom& atom, std::span<const Expression> inputs,
                                      ExpressionGraph& graph) const override {
    return graph.times(graph.step(inputs[static_cast<std::size_t>(atom.inputs[0])], atom.parameters[0]),
                       std::sqrt(atom.nu));
  }
  [[nodiscard]] std::span<const ParameterField> parameter_fields() const override {
    static constexpr std::array<ParameterField, 1> kFields = {{{"knot"}}};
    return kFields;
  }

  void evaluate(std::span<const Atom> atoms, const double* x, Index rows, double* out, Index stride,
                Arena& /*arena*/) const override {
    for (const Atom& atom : atoms) {
      step(x, atom.parameters[0], std::sqrt(atom.nu), rows, out);
      out += stride;
    }
  }
  // All derivatives are 0 wherever they exist.
  void pull_back(const Atom& /*atom*/, const double* /*x*/, const double* /*weights*/, Index /*rows*/,
                 double* /*coordinates*/, double* /*by_x*/, Arena& /*arena*/) const override {}

 protected:
  [[nodiscard]] std::vector<Atom> atoms(const FamilyOptionValues& values, const CandidateContext& context,
                                        double nu) const override {
    const auto samples = column_samples(context.training_rows(name()), context.seed, context.parallel());
    std::vector<Atom> result;
    for (Index j = 0; j < context.n_inputs; ++j) {
      const std::vector<double> knots =
          quantile_knots(samples[static_cast<std::size_t>(j)], knots_of(values));
      for (const double knot : knots)
        result.push_back({"step", nu / static_cast<double>(knots.size()), {j}, {1}, {knot}});
    }
    return result;
  }
  void validate_parameters(std::span<const double> /*parameters*/) const override {}
};

}  // namespace

const FeatureFamily& step_family() {
  static const StepFamily family;
  return family;
}

}  // namespace mfga
