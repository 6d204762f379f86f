#include "features/exclusive_levels.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "features/listed_candidates.hpp"

namespace mfga {
namespace {

bool has_two_levels(const Atom& atom, std::span<const Index> text_columns) {
  const auto text_of = [&](Index input) { return text_columns[static_cast<std::size_t>(input)]; };
  for (auto one = atom.inputs.begin(); one != atom.inputs.end(); ++one) {
    if (text_of(*one) < 0) continue;
    const auto same = [&](Index other) { return other != *one && text_of(other) == text_of(*one); };
    if (std::any_of(one + 1, atom.inputs.end(), same)) return true;
  }
  return false;
}

// Most of the candidates of a family. All are correlated, since families do so in blocks, and those that are
// not wanted are left behind.
class ChosenCandidates final : public CandidateFamily, public SingleCorrelator {
 public:
  ChosenCandidates(std::shared_ptr<const CandidateFamily> all, std::vector<Index> chosen)
      : all_(std::move(all)), chosen_(std::move(chosen)) {}

  [[nodiscard]] Index size() const override { return static_cast<Index>(chosen_.size()); }
  [[nodiscard]] Atom atom(Index candidate) const override {
    return all_->atom(chosen_[static_cast<std::size_t>(candidate)]);
  }
  void correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                 double* out, Index out_stride, Arena& arena) const override {
    const Arena::Scope scope(arena);
    double* const sums = zeros(columns * all_->size(), arena);
    all_->correlate(block, weights, weight_stride, columns, sums, all_->size(), arena);
    for (Index c = 0; c < columns; ++c) add_chosen(sums + c * all_->size(), out + c * out_stride);
  }
  void add_square_norms(const RowBlock& block, double* out, Arena& arena) const override {
    const Arena::Scope scope(arena);
    double* const sums = zeros(all_->size(), arena);
    all_->add_square_norms(block, sums, arena);
    add_chosen(sums, out);
  }
  [[nodiscard]] const SingleCorrelator* single() const override {
    return all_->single() == nullptr ? nullptr : this;
  }
  void correlate_single(const RowBlock& block, const double* weights, double* out,
                        Arena& arena) const override {
    const Arena::Scope scope(arena);
    double* const sums = zeros(all_->size(), arena);
    all_->single()->correlate_single(block, weights, sums, arena);
    add_chosen(sums, out);
  }
  [[nodiscard]] double relative_error() const override { return all_->single()->relative_error(); }
  void add_square_errors(const RowBlock& block, double* out, Arena& arena) const override {
    const Arena::Scope scope(arena);
    double* const sums = zeros(all_->size(), arena);
    all_->single()->add_square_errors(block, sums, arena);
    add_chosen(sums, out);
  }

  [[nodiscard]] double kept_bytes(Index rows) const override { return all_->kept_bytes(rows); }
  [[nodiscard]] std::unique_ptr<CandidateFamily> kept_for(const BlockedRows& rows,
                                                          Workers& workers) const override {
    return std::make_unique<ChosenCandidates>(all_->kept_for(rows, workers), chosen_);
  }

 private:
  static double* zeros(Index count, Arena& arena) {
    double* const numbers = arena.take(count);
    std::fill_n(numbers, count, 0.0);
    return numbers;
  }
  void add_chosen(const double* sums, double* out) const {
    for (std::size_t i = 0; i < chosen_.size(); ++i) out[i] += sums[chosen_[i]];
  }

  std::shared_ptr<const CandidateFamily> all_;
  std::vector<Index> chosen_;
};

}  // namespace

std::unique_ptr<CandidateFamily> without_products_of_levels(std::unique_ptr<CandidateFamily> candidates,
                                                            const CandidateContext& context) {
  const bool are_mixed = context.rows != nullptr && context.rows->mixing() != nullptr;
  if (context.text_columns.empty() || are_mixed) return candidates;
  std::vector<Index> chosen;
  for (Index j = 0; j < candidates->size(); ++j) {
    if (!has_two_levels(candidates->atom(j), context.text_columns)) chosen.push_back(j);
  }
  if (std::ssize(chosen) == candidates->size()) return candidates;
  if (!chosen.empty() && 2 * std::ssize(chosen) < candidates->size()) {
    constexpr Index kTile = 16;
    std::vector<Atom> atoms;
    for (const Index j : chosen) atoms.push_back(candidates->atom(j));
    const FeatureFamily& family = *find_feature_family(atoms.front().family);
    return std::make_unique<ListedCandidates>(family, std::move(atoms), kTile);
  }
  return std::make_unique<ChosenCandidates>(std::move(candidates), std::move(chosen));
}

}  // namespace mfga
