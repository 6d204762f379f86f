// Atoms that are functions of one input: what the step, spline, periodic and additive families share.
#pragma once

#include <span>
#include <vector>

#include "features/family.hpp"

namespace mfga {

// Values of so many atoms of one input, its own values and the weights stay in the first-level cache.
inline constexpr Index kUnivariateTile = 4;

class UnivariateFamily : public FeatureFamily {
 public:
  [[nodiscard]] bool needs_sigma(const FamilyOptionValues& values) const override;
  [[nodiscard]] std::unique_ptr<CandidateFamily> bind(const FamilyOptionValues& values,
                                                      const CandidateContext& context,
                                                      double nu) const override;
  [[nodiscard]] std::unique_ptr<AtomEvaluator> evaluator(std::span<const Atom> atoms) const override;
  [[nodiscard]] std::unique_ptr<AtomDerivatives> derivatives(std::span<const Atom> atoms) const override;
  void validate(const Atom& atom, Index n_inputs) const override;

  // out[i * stride + n] = atom i on the value x[n] of its input, n < rows, for atoms of one input.
  virtual void evaluate(std::span<const Atom> atoms, const double* x, Index rows, double* out, Index stride,
                        Arena& arena) const = 0;
  // See AtomDerivatives: for one atom, the values x of its input, and the derivatives by these.
  virtual void pull_back(const Atom& atom, const double* x, const double* weights, Index rows,
                         double* coordinates, double* by_x, Arena& arena) const = 0;

 protected:
  // The candidates, input by input.
  [[nodiscard]] virtual std::vector<Atom> atoms(const FamilyOptionValues& values,
                                                const CandidateContext& context, double nu) const = 0;
  // Candidates whose values are computed at a time.
  [[nodiscard]] virtual Index tile(const FamilyOptionValues& /*values*/) const { return kUnivariateTile; }
  // Throws Error(kBadData) if they are wrong.
  virtual void validate_parameters(std::span<const double> parameters) const = 0;

  // Of a parameter that says whether a wave is a cosine, 0, or a sine, 1.
  [[nodiscard]] static std::string_view wave_name(double sine) { return sine == 0 ? "cos" : "sin"; }
  static void validate_wave(double sine);
};

}  // namespace mfga
