// The linear kernel K(x, x') = <x, x'>: the features are the inputs themselves.
#include "features/linear.hpp"

#include <cblas.h>

#include <cmath>

#include "features/formula.hpp"
#include "features/monomials.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

class LinearCandidates final : public CandidateFamily {
 public:
  LinearCandidates(Index n_inputs, double nu) : n_inputs_(n_inputs), nu_(nu) {}

  [[nodiscard]] Index size() const override { return n_inputs_; }
  [[nodiscard]] Atom atom(Index candidate) const override { return {"linear", nu_, {candidate}, {1}, {}}; }

  void correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                 double* out, Index out_stride, Arena& /*arena*/) const override {
    for (Index c = 0; c < columns; ++c) {
      cblas_dgemv(CblasRowMajor, CblasNoTrans, static_cast<int>(block.inputs), static_cast<int>(block.rows),
                  std::sqrt(nu_), block.values, static_cast<int>(block.stride), weights + c * weight_stride,
                  1, 1.0, out + c * out_stride, 1);
    }
  }

  void add_square_norms(const RowBlock& block, double* out, Arena& /*arena*/) const override {
    for (Index j = 0; j < n_inputs_; ++j) out[j] += nu_ * weighted_square_norm(block, block.input(j));
  }

 private:
  Index n_inputs_;
  double nu_;
};

class LinearFamily final : public MonomialFamily {
 public:
  [[nodiscard]] std::string_view name() const override { return "linear"; }
  [[nodiscard]] std::string_view help() const override { return "the inputs themselves (linear kernel)"; }
  [[nodiscard]] std::span<const FamilyOption> options() const override { return {}; }
  void check(const FamilyOptionValues& /*values*/) const override {}
  [[nodiscard]] bool needs_sigma(const FamilyOptionValues& /*values*/) const override { return false; }
  [[nodiscard]] double candidates(const FamilyOptionValues& /*values*/, Index n_inputs) const override {
    return static_cast<double>(n_inputs);
  }
  [[nodiscard]] std::unique_ptr<CandidateFamily> bind(const FamilyOptionValues& /*values*/,
                                                      const CandidateContext& context,
                                                      double nu) const override {
    return std::make_unique<LinearCandidates>(context.n_inputs, nu);
  }
  [[nodiscard]] std::optional<Monomial> monomial(const Atom& atom) const override {
    return Monomial{std::sqrt(atom.nu), 0, {atom.inputs[0]}};
  }
  [[nodiscard]] AtomFormula describe(const Atom& atom, FormulaWriter& writer) const override {
    return {std::sqrt(atom.nu), writer.name(atom.inputs[0])};
  }
  void validate(const Atom& atom, Index /*n_inputs*/) const override {
    if (atom.inputs.size() != 1 || atom.exponents[0] != 1) {
      throw Error(ErrorKind::kBadData, "a linear term has exactly one input with exponent 1");
    }
  }
  [[nodiscard]] std::span<const ParameterField> parameter_fields() const override { return {}; }
};

}  // namespace

const FeatureFamily& linear_family() {
  static const LinearFamily family;
  return family;
}

}  // namespace mfga
