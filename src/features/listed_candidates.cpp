#include "features/listed_candidates.hpp"

#include <algorithm>

#include "core/row_kernels.hpp"

namespace mfga {

ListedCandidates::ListedCandidates(const FeatureFamily& family, std::vector<Atom> atoms, Index tile)
    : atoms_(std::move(atoms)), values_(family.evaluator(atoms_)), tile_(tile) {}

template <class Use>
void ListedCandidates::for_each_tile(const RowBlock& block, Arena& arena, Use use) const {
  const Arena::Scope scope(arena);
  double* values = arena.take(tile_ * block.stride);
  for (Index first = 0; first < size(); first += tile_) {
    const Index count = std::min(tile_, size() - first);
    values_->evaluate(block, first, count, values, block.stride, arena);
    use(first, count, values);
  }
}

void ListedCandidates::correlate(const RowBlock& block, const double* weights, Index weight_stride,
                                 Index columns, double* out, Index out_stride, Arena& arena) const {
  for_each_tile(block, arena, [&](Index first, Index count, const double* values) {
    add_row_products(weights, columns, weight_stride, values, count, block.stride, block.rows, out + first,
                     out_stride);
  });
}

void ListedCandidates::add_square_norms(const RowBlock& block, double* out, Arena& arena) const {
  for_each_tile(block, arena, [&](Index first, Index count, const double* values) {
    for (Index i = 0; i < count; ++i)
      out[first + i] += weighted_square_norm(block, values + i * block.stride);
  });
}

}  // namespace mfga
