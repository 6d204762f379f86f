// The atoms of a refit that looks at the rows several times.
#pragma once

#include <algorithm>
#include <memory>
#include <span>

#include "features/candidates.hpp"

namespace mfga {

// The values of the intercept's 1, if there is one, and of the atoms on all rows, which are kept from the
// first look at them on where there is room.
class ActiveAtoms {
 public:
  ActiveAtoms(std::span<const Atom> atoms, Index intercepts, const BlockedRows& rows)
      : list(atoms), values_(atoms), intercepts_(intercepts), rows_(rows), bare_rows_(rows.without_inputs()) {
    constexpr Index kMostNumbers = Index{1} << 23U;  // 64 MiB
    are_all_kept_ = values_.size() == 0;
    if (are_all_kept_ || rows.blocks() * kBlockStride > kMostNumbers / size()) return;
    kept_ = std::make_unique_for_overwrite<double[]>(
        static_cast<std::size_t>(rows.blocks() * size() * kBlockStride));
    is_kept_ = std::make_unique<bool[]>(static_cast<std::size_t>(rows.blocks()));
  }
  // Of the values of a row.
  [[nodiscard]] Index size() const { return intercepts_ + values_.size(); }
  // The rows to sum over; without their inputs, which take time to load, once all values are kept.
  [[nodiscard]] const BlockedRows& rows() const { return are_all_kept_ ? bare_rows_ : rows_; }
  // Looks whether all of them have been seen.
  void have_been_seen() const {
    if (are_all_kept_ || kept_ == nullptr) return;
    const auto blocks = static_cast<std::size_t>(rows_.blocks());
    are_all_kept_ = std::all_of(is_kept_.get(), is_kept_.get() + blocks, [](bool kept) { return kept; });
  }
  // Their values on the rows of a block, [size x block.stride].
  [[nodiscard]] const double* of(const RowBlock& block, Arena& arena) const {
    if (kept_ == nullptr) {
      double* values = arena.take(size() * block.stride);
      evaluate(block, values, arena);
      return values;
    }
    const Index index = block.first_row / kBlockRows;
    double* own = kept_.get() + index * size() * kBlockStride;
    bool& is_kept = is_kept_[static_cast<std::size_t>(index)];
    if (!is_kept) evaluate(block, own, arena);
    is_kept = true;
    return own;
  }

  std::span<const Atom> list;

 private:
  void evaluate(const RowBlock& block, double* out, Arena& arena) const {
    if (intercepts_ == 1) std::fill_n(out, block.rows, 1.0);
    values_.evaluate(block, 0, values_.size(), out + intercepts_ * block.stride, block.stride, arena);
  }

  AtomValues values_;
  Index intercepts_;
  const BlockedRows& rows_;
  BlockedRows bare_rows_;
  mutable bool are_all_kept_ = false;
  std::unique_ptr<double[]> kept_;   // of each block
  std::unique_ptr<bool[]> is_kept_;  // of each block, whether they are there
};

}  // namespace mfga
