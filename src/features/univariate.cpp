#include "features/univariate.hpp"

#include <fmt/format.h>

#include "features/listed_candidates.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

class UnivariateValues final : public AtomEvaluator {
 public:
  UnivariateValues(const UnivariateFamily& family, std::span<const Atom> atoms)
      : family_(family), atoms_(atoms.begin(), atoms.end()) {}

  void evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                Arena& arena) const override {
    std::span<const Atom> left =
        std::span(atoms_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    while (!left.empty()) {
      const Index input = left[0].inputs[0];
      std::size_t of_input = 1;
      while (of_input < left.size() && left[of_input].inputs[0] == input) ++of_input;
      family_.evaluate(left.first(of_input), block.input(input), block.rows, out, out_stride, arena);
      out += static_cast<Index>(of_input) * out_stride;
      left = left.subspan(of_input);
    }
  }

 private:
  const UnivariateFamily& family_;
  std::vector<Atom> atoms_;
};

class UnivariateDerivatives final : public AtomDerivatives {
 public:
  UnivariateDerivatives(const UnivariateFamily& family, std::span<const Atom> atoms)
      : family_(family), atoms_(atoms.begin(), atoms.end()) {
    for (const Atom& atom : atoms_)
      offsets_.push_back(offsets_.back() + static_cast<Index>(family.coordinates(atom).size()));
  }

  void pull_back(const RowBlock& block, const double* weights, Index weight_stride, double* coordinates,
                 double* inputs, Arena& arena) const override {
    for (std::size_t i = 0; i < atoms_.size(); ++i) {
      const Index input = atoms_[i].inputs[0];
      family_.pull_back(atoms_[i], block.input(input), weights + static_cast<Index>(i) * weight_stride,
                        block.rows, coordinates == nullptr ? nullptr : coordinates + offsets_[i],
                        inputs == nullptr ? nullptr : inputs + input * block.stride, arena);
    }
  }

 private:
  const UnivariateFamily& family_;
  std::vector<Atom> atoms_;
  std::vector<Index> offsets_{0};  // the first coordinate of each atom, and their number
};

}  // namespace

bool UnivariateFamily::needs_sigma(const FamilyOptionValues& /*values*/) const { return false; }

std::unique_ptr<CandidateFamily> UnivariateFamily::bind(const FamilyOptionValues& values,
                                                        const CandidateContext& context, double nu) const {
  return std::make_unique<ListedCandidates>(*this, atoms(values, context, nu), tile(values));
}

std::unique_ptr<AtomEvaluator> UnivariateFamily::evaluator(std::span<const Atom> atoms) const {
  return std::make_unique<UnivariateValues>(*this, atoms);
}

std::unique_ptr<AtomDerivatives> UnivariateFamily::derivatives(std::span<const Atom> atoms) const {
  return std::make_unique<UnivariateDerivatives>(*this, atoms);
}

void UnivariateFamily::validate(const Atom& atom, Index /*n_inputs*/) const {
  if (atom.inputs.size() != 1 || atom.exponents[0] != 1) {
    throw Error(ErrorKind::kBadData,
                fmt::format("a {} term has exactly one input with exponent 1", atom.family));
  }
  validate_parameters(atom.parameters);
}

void UnivariateFamily::validate_wave(double sine) {
  if (sine != 0 && sine != 1) {
    throw Error(ErrorKind::kBadData,
                fmt::format("\"sine\" of a term is {}, expected 0 for a cosine or 1 for a sine", sine));
  }
}

}  // namespace mfga
