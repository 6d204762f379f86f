#include "solve/known_products.hpp"

#include <algorithm>

namespace mfga {

Matrix KnownProducts::of(std::span<const Index> list) {
  constexpr std::size_t kMostPerListed = 4;
  if (rows_.size() > kMostPerListed * list.size()) forget_all_but(list);
  learn(list);
  return looked_up(list);
}

void KnownProducts::archive(Archive& bytes, Index target_columns) {
  bytes(known_.candidates, rows_);
  if (!bytes.is_loading()) return;
  Archive::require(are_candidates(known_.candidates, candidates_.size()) &&
                   rows_.size() == known_.candidates.size());
  first_atom_ = 1 + target_columns;
  known_.atoms.clear();
  place_.clear();
  for (Index i = 0; i < known_.size(); ++i) {
    const Index candidate = known_.candidates[static_cast<std::size_t>(i)];
    known_.atoms.push_back(candidates_.atom(candidate));
    const bool is_new = place_.emplace(candidate, i).second;
    Archive::require(is_new && std::ssize(rows_[static_cast<std::size_t>(i)]) == first_atom_ + i + 1);
  }
}

Matrix KnownProducts::looked_up(std::span<const Index> list) const {
  const auto n = static_cast<Index>(list.size());
  Matrix result(n, first_atom_ + n);
  for (Index i = 0; i < n; ++i) {
    const Index row = place_.at(list[static_cast<std::size_t>(i)]);
    std::copy_n(rows_[static_cast<std::size_t>(row)].begin(), first_atom_, result.row(i));
    for (Index j = 0; j < n; ++j) {
      const Index column = place_.at(list[static_cast<std::size_t>(j)]);
      const auto& longer = rows_[static_cast<std::size_t>(std::max(row, column))];
      result(i, first_atom_ + j) = longer[static_cast<std::size_t>(first_atom_ + std::min(row, column))];
    }
  }
  return result;
}

void KnownProducts::learn(std::span<const Index> list) {
  std::vector<Index> missing;
  for (const Index candidate : list) {
    if (!place_.contains(candidate)) missing.push_back(candidate);
  }
  if (missing.empty()) return;
  append(missing, engine_.products(known_, missing, false).values);
}

void KnownProducts::append(const std::vector<Index>& list, const Matrix& products) {
  const Index n_before = products.cols - products.rows;
  first_atom_ = n_before - known_.size();
  for (Index i = 0; i < products.rows; ++i) {
    const Index candidate = list[static_cast<std::size_t>(i)];
    place_[candidate] = known_.size();
    known_.candidates.push_back(candidate);
    known_.atoms.push_back(candidates_.atom(candidate));
    rows_.emplace_back(products.row(i), products.row(i) + n_before + i + 1);
  }
}

void KnownProducts::forget_all_but(std::span<const Index> list) {
  std::vector<Index> kept;
  for (const Index candidate : list) {
    if (place_.contains(candidate)) kept.push_back(candidate);
  }
  const Matrix products = looked_up(kept);
  known_ = {};
  rows_.clear();
  place_.clear();
  append(kept, products);
}

}  // namespace mfga
