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
  ActiveAtoms(std::span<const Atom> atoms, const BlockedRows& rows)
      : list(atoms), values_(atoms), rows_(rows), bare_rows_(rows.without_inputs()) {
    constexpr Index kMostNumbers = Index{1} << 23U;  // 64 MiB
    const Index n_rows = rows.rows();
    are_all_kept_ = size() == 0;
    if (size() == 0 || n_rows > kMostNumbers / size()) return;
    kept_ = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(n_rows * size()));
    is_kept_ = std::make_unique<bool[]>(static_cast<std::size_t>(n_rows / kBlockRows + 1));
  }
  [[nodiscard]] Index size() const { return values_.size(); }
  // The rows to sum over; without their inputs, which take time to load, once all values are kept.
  [[nodiscard]] const BlockedRows& rows() const { return are_all_kept_ ? bare_rows_ : rows_; }
  // Looks whether all of them have been seen.
  void have_been_seen() const {
    if (are_all_kept_ || kept_ == nullptr) return;
    const auto blocks = static_cast<std::size_t>(rows_.blocks());
    are_all_kept_ = std::all_of(is_kept_.get(), is_kept_.get() + blocks, [](bool kept) { return kept; });
  }
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
  const BlockedRows& rows_;
  BlockedRows bare_rows_;
  mutable bool are_all_kept_ = false;
  std::unique_ptr<double[]> kept_;   // [atoms x rows] of each block
  std::unique_ptr<bool[]> is_kept_;  // of each block, whether they are there
};

}  // namespace mfga
