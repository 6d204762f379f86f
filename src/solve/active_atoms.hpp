// The atoms of a refit that looks at the rows several times.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "solve/problem.hpp"

namespace mfga {

// The values of the intercept's 1, if there is one, and of the atoms on all rows, which are kept from the
// first look at them on where there is room; also when more atoms join.
class ActiveAtoms {
 public:
  ActiveAtoms(Index intercepts, const Problem& problem)
      : values_({}),
        intercepts_(intercepts),
        rows_(problem.rows),
        bare_rows_(problem.rows.without_inputs()),
        own_(own_blocks(problem.rows, problem.workers)) {}
  ActiveAtoms(std::span<const Atom> atoms, Index intercepts, const Problem& problem)
      : ActiveAtoms(intercepts, problem) {
    set(atoms);
  }

  // From now on these. Values are kept of those that were the first of the atoms before.
  void set(std::span<const Atom> atoms) {
    const auto mismatch = std::ranges::mismatch(atoms, list_);
    const Index still_valid = intercepts_ + (mismatch.in1 - atoms.begin());
    for (Index& kept : kept_) kept = std::min(kept, still_valid);
    list_.assign(atoms.begin(), atoms.end());
    values_ = AtomValues(list_);
    make_room();
    have_been_seen();
  }
  [[nodiscard]] std::span<const Atom> list() const { return list_; }
  // Of the values of a row.
  [[nodiscard]] Index size() const { return intercepts_ + values_.size(); }
  // The rows to sum over; without their inputs, which take time to load, once all values are kept.
  [[nodiscard]] const BlockedRows& rows() const { return are_all_kept_ ? bare_rows_ : rows_; }
  // Looks whether all of them have been seen.
  void have_been_seen() const {
    const auto is_kept = [&](Index n) { return n == size(); };
    are_all_kept_ = list_.empty() || (capacity_ > 0 && std::all_of(kept_.begin() + own_.first,
                                                                   kept_.begin() + own_.end, is_kept));
  }
  // Their values on the rows of a block, [size x block.stride].
  [[nodiscard]] const double* of(const RowBlock& block, Arena& arena) const {
    if (capacity_ == 0) {
      double* values = arena.take(size() * block.stride);
      evaluate(block, 0, values, arena);
      return values;
    }
    const Index index = block.first_row / kBlockRows;
    double* own = numbers_.get() + index * capacity_ * kBlockStride;
    Index& kept = kept_[static_cast<std::size_t>(index)];
    if (kept < size()) evaluate(block, kept, own, arena);
    kept = size();
    return own;
  }

 private:
  // Values of so many atoms that the next ones will find room as well.
  void make_room() {
    constexpr Index kMostNumbers = Index{1} << 23U;  // 64 MiB
    constexpr Index kFewestRoom = 64;
    if (size() <= capacity_) return;
    const Index most = kMostNumbers / (std::max<Index>(rows_.blocks(), 1) * kBlockStride);
    if (list_.empty() || size() > most) {
      numbers_.reset();
      kept_.clear();
      capacity_ = 0;
      return;
    }
    const Index capacity = std::min(most, std::max(2 * size(), kFewestRoom));
    auto numbers = std::make_unique_for_overwrite<double[]>(
        static_cast<std::size_t>(rows_.blocks() * capacity * kBlockStride));
    for (Index b = 0; b < std::ssize(kept_); ++b) {
      // A block that is not full has its rows closer together.
      std::copy_n(numbers_.get() + b * capacity_ * kBlockStride,
                  kept_[static_cast<std::size_t>(b)] * kBlockStride,
                  numbers.get() + b * capacity * kBlockStride);
    }
    numbers_ = std::move(numbers);
    kept_.resize(static_cast<std::size_t>(rows_.blocks()));
    capacity_ = capacity;
  }

  // Those from `first` on, the intercept's 1 being the first of all.
  void evaluate(const RowBlock& block, Index first, double* out, Arena& arena) const {
    if (first < intercepts_) std::fill_n(out, block.rows, 1.0);
    first = std::max(first, intercepts_);
    values_.evaluate(block, first - intercepts_, size() - first, out + first * block.stride, block.stride,
                     arena);
  }

  std::vector<Atom> list_;
  AtomValues values_;
  Index intercepts_;
  const BlockedRows& rows_;
  BlockedRows bare_rows_;
  BlockRange own_;  // the blocks that are looked at here
  mutable bool are_all_kept_ = true;
  std::unique_ptr<double[]> numbers_;  // of each block, room for the values of `capacity_` atoms
  Index capacity_ = 0;
  mutable std::vector<Index> kept_;  // of each block, how many are there
};

}  // namespace mfga
