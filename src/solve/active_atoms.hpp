// The atoms of a refit that looks at the rows several times.
#pragma once

#include <algorithm>
#include <memory>
#include <span>

#include "features/candidates.hpp"

namespace mfga {

// Their values on all rows are kept from the first look at them on, where there is room.
class ActiveAtoms {
 public:
  ActiveAtoms(std::span<const Atom> atoms, Index n_rows) : list(atoms), values_(atoms) {
    constexpr Index kMostNumbers = Index{1} << 23U;  // 64 MiB
    if (size() == 0 || n_rows > kMostNumbers / size()) return;
    kept_ = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(n_rows * size()));
    is_kept_ = std::make_unique<bool[]>(static_cast<std::size_t>(n_rows / kBlockRows + 1));
  }
  [[nodiscard]] Index size() const { return values_.size(); }
  // out[i * block.stride + n] = atom i on row n.
  void evaluate(const RowBlock& block, double* out, Arena& arena) const {
    if (kept_ == nullptr) {
      values_.evaluate(block, 0, size(), out, block.stride, arena);
      return;
    }
    double* own = kept_.get() + block.first_row * size();
    bool& is_kept = is_kept_[static_cast<std::size_t>(block.first_row / kBlockRows)];
    if (!is_kept) values_.evaluate(block, 0, size(), own, block.rows, arena);
    is_kept = true;
    for (Index i = 0; i < size(); ++i) std::copy_n(own + i * block.rows, block.rows, out + i * block.stride);
  }

  std::span<const Atom> list;

 private:
  AtomValues values_;
  std::unique_ptr<double[]> kept_;   // [atoms x rows] of each block
  std::unique_ptr<bool[]> is_kept_;  // of each block, whether they are there
};

}  // namespace mfga
