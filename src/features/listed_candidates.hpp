// Candidates that are a list of atoms, for families without a better way to correlate than from values: a few
// atoms at a time, so that their values stay in a cache.
#pragma once

#include <memory>
#include <vector>

#include "features/family.hpp"

namespace mfga {

class ListedCandidates : public CandidateFamily {
 public:
  // Values are computed for `tile` atoms at a time.
  ListedCandidates(const FeatureFamily& family, std::vector<Atom> atoms, Index tile);

  [[nodiscard]] Index size() const override { return static_cast<Index>(atoms_.size()); }
  [[nodiscard]] Atom atom(Index candidate) const override {
    return atoms_[static_cast<std::size_t>(candidate)];
  }
  void correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                 double* out, Index out_stride, Arena& arena) const override;
  void add_square_norms(const RowBlock& block, double* out, Arena& arena) const override;

 private:
  // Calls use(first, count, values) for tiles of atoms.
  template <class Use>
  void for_each_tile(const RowBlock& block, Arena& arena, Use use) const;

  std::vector<Atom> atoms_;
  std::unique_ptr<AtomEvaluator> values_;
  Index tile_;
};

}  // namespace mfga
