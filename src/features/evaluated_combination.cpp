// What is done with atoms of any family that does not know better: with their values, a few atoms at a time.
#include <algorithm>

#include "core/row_combinations.hpp"
#include "core/row_kernels.hpp"
#include "features/family.hpp"

namespace mfga {
namespace {

class EvaluatedCombination final : public AtomCombination {
 public:
  EvaluatedCombination(std::unique_ptr<AtomEvaluator> evaluator, std::span<const double> coefficients)
      : evaluator_(std::move(evaluator)), coefficients_(coefficients.begin(), coefficients.end()) {}

  void add_to(const RowBlock& block, double* scores, Arena& arena) const override {
    constexpr Index kTile = 64;  // their values stay in the second-level cache
    const auto n_atoms = static_cast<Index>(coefficients_.size());
    const Arena::Scope scope(arena);
    double* values = arena.take(std::min(kTile, n_atoms) * block.stride);
    for (Index first = 0; first < n_atoms; first += kTile) {
      const Index count = std::min(kTile, n_atoms - first);
      evaluator_->evaluate(block, first, count, values, block.stride, arena);
      add_combination(coefficients_.data() + first, values, count, block.stride, block.rows, scores);
    }
  }

 private:
  std::unique_ptr<AtomEvaluator> evaluator_;
  std::vector<double> coefficients_;
};

}  // namespace

void AtomEvaluator::correlate(const RowBlock& block, Index first, Index count, const double* weights,
                              Index weight_stride, Index columns, double* out, Arena& arena) const {
  constexpr Index kTile = 48;  // their values stay in the second-level cache
  const Arena::Scope scope(arena);
  double* values = arena.take(std::min(kTile, count) * block.stride);
  for (Index done = 0; done < count; done += kTile) {
    const Index height = std::min(kTile, count - done);
    evaluate(block, first + done, height, values, block.stride, arena);
    add_row_products(values, height, block.stride, weights, columns, weight_stride, block.rows,
                     out + done * columns, columns);
  }
}

std::unique_ptr<AtomCombination> FeatureFamily::combination(std::span<const Atom> atoms,
                                                            std::span<const double> coefficients) const {
  return std::make_unique<EvaluatedCombination>(evaluator(atoms), coefficients);
}

}  // namespace mfga
