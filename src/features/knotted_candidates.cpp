#include "features/knotted_candidates.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/vectorise.hpp"
#include "features/listed_candidates.hpp"
#include "features/univariate.hpp"

namespace mfga {
namespace {

Index atoms_per_knot(KnotShape shape) { return shape == KnotShape::kStep ? 1 : 2; }

// out[i] = how many knots are at most x[i], i < kRows: the bin of the row. The table has the knots and as
// many NaN as make it one less than a power of two. A search without branches, of some rows side by side:
// each step of one waits for the last one.
template <int kRows>
[[gnu::always_inline]] inline void find_some_bins(const double* x, const double* table,
                                                  std::uint32_t table_size, std::uint16_t* out) {
  std::uint32_t bins[kRows] = {};
  for (std::uint32_t half = (table_size + 1) / 2; half > 0; half /= 2) {
    for (int i = 0; i < kRows; ++i) bins[i] += x[i] >= table[bins[i] + half - 1] ? half : 0U;
  }
  for (int i = 0; i < kRows; ++i) out[i] = static_cast<std::uint16_t>(bins[i]);
}

MFGA_VECTORISED void find_bins(const double* x, Index rows, const double* table, std::uint32_t table_size,
                               std::uint16_t* out) {
  constexpr int kSideBySide = 8;
  Index n = 0;
  for (; n + kSideBySide <= rows; n += kSideBySide)
    find_some_bins<kSideBySide>(x + n, table, table_size, out + n);
  for (; n < rows; ++n) find_some_bins<1>(x + n, table, table_size, out + n);
}

// The knots around a bin; the first and the last bin have one.
struct BinEnds {
  double lower;
  double upper;
};

// Sums over the rows of a bin of their weight, and of weight times distance to the knot below and to that
// above. Distances are taken here, where they are small, and not as differences of sums of x.
struct BinSums {
  double weight = 0;
  double from_lower = 0;
  double to_upper = 0;
  double from_lower_squared = 0;
  double to_upper_squared = 0;
};

MFGA_VECTORISED void add_weights(const std::uint16_t* bins, const double* weights, Index rows,
                                 BinSums* sums) {
  for (Index n = 0; n < rows; ++n) sums[bins[n]].weight += weights[n];
}

MFGA_VECTORISED void add_distances(const std::uint16_t* bins, const BinEnds* ends, const double* x,
                                   const double* weights, Index rows, BinSums* sums) {
  for (Index n = 0; n < rows; ++n) {
    const BinEnds& own = ends[bins[n]];
    BinSums& sum = sums[bins[n]];
    sum.weight += weights[n];
    sum.from_lower += weights[n] * (x[n] - own.lower);
    sum.to_upper += weights[n] * (own.upper - x[n]);
  }
}

MFGA_VECTORISED void add_squares(const std::uint16_t* bins, const BinEnds* ends, const double* x, Index rows,
                                 const double* weights, BinSums* sums) {
  for (Index n = 0; n < rows; ++n) {
    const BinEnds& own = ends[bins[n]];
    BinSums& sum = sums[bins[n]];
    sum.from_lower_squared += weights[n] * (x[n] - own.lower) * (x[n] - own.lower);
    sum.to_upper_squared += weights[n] * (own.upper - x[n]) * (own.upper - x[n]);
  }
}

// The atoms of one input.
class KnottedInput final : public CandidateFamily {
 public:
  KnottedInput(std::vector<Atom> atoms, KnotShape shape)
      : atoms_(std::move(atoms)),
        shape_(shape),
        input_(atoms_.front().inputs[0]),
        factor_(std::sqrt(atoms_.front().nu)) {
    for (Index i = 0; i < size(); i += atoms_per_knot(shape))
      knots_.push_back(atoms_[static_cast<std::size_t>(i)].parameters[0]);
    for (std::size_t bin = 0; bin <= knots_.size(); ++bin)
      ends_.push_back({knots_[bin == 0 ? 0 : bin - 1], knots_[std::min(bin, knots_.size() - 1)]});
    table_ = knots_;
    table_.resize(std::bit_ceil(knots_.size() + 1) - 1, std::numeric_limits<double>::quiet_NaN());
  }

  [[nodiscard]] Index size() const override { return static_cast<Index>(atoms_.size()); }
  [[nodiscard]] Atom atom(Index candidate) const override {
    return atoms_[static_cast<std::size_t>(candidate)];
  }

  void correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                 double* out, Index out_stride, Arena& arena) const override {
    const Arena::Scope scope(arena);
    correlate(block, bins_of(block, arena), weights, weight_stride, columns, out, out_stride, arena);
  }
  void add_square_norms(const RowBlock& block, double* out, Arena& arena) const override {
    const Arena::Scope scope(arena);
    add_square_norms(block, bins_of(block, arena), out, arena);
  }

  // The bins of the rows of a block.
  void set_bins(const RowBlock& block, std::uint16_t* out) const {
    find_bins(block.input(input_), block.rows, table_.data(), static_cast<std::uint32_t>(table_.size()), out);
  }
  // The same as above, where they are known.
  void correlate(const RowBlock& block, const std::uint16_t* bins, const double* weights, Index weight_stride,
                 Index columns, double* out, Index out_stride, Arena& arena) const {
    const double* x = block.input(input_);
    for (Index c = 0; c < columns; ++c) {
      const Arena::Scope column_scope(arena);
      BinSums* sums = no_sums(arena);
      const double* own = weights + c * weight_stride;
      if (shape_ == KnotShape::kStep) {
        add_weights(bins, own, block.rows, sums);
        add_steps(sums, factor_, out + c * out_stride);
      } else {
        add_distances(bins, ends_.data(), x, own, block.rows, sums);
        add_hinges(sums, out + c * out_stride);
      }
    }
  }

  void add_square_norms(const RowBlock& block, const std::uint16_t* bins, double* out, Arena& arena) const {
    const Arena::Scope scope(arena);
    const double* x = block.input(input_);
    BinSums* sums = no_sums(arena);
    const double* weights = block.weights;
    if (weights == nullptr) {
      double* ones = arena.take(block.rows);
      std::fill_n(ones, block.rows, 1.0);
      weights = ones;
    }
    if (shape_ == KnotShape::kStep) {
      add_weights(bins, weights, block.rows, sums);
      add_steps(sums, factor_ * factor_, out);
    } else {
      add_distances(bins, ends_.data(), x, weights, block.rows, sums);
      add_squares(bins, ends_.data(), x, block.rows, weights, sums);
      add_squared_hinges(sums, out);
    }
  }

 private:
  [[nodiscard]] const std::uint16_t* bins_of(const RowBlock& block, Arena& arena) const {
    constexpr Index kPerDouble = sizeof(double) / sizeof(std::uint16_t);
    auto* bins =
        new (arena.take(block.rows / kPerDouble + 1)) std::uint16_t[static_cast<std::size_t>(block.rows)];
    set_bins(block, bins);
    return bins;
  }

  [[nodiscard]] BinSums* no_sums(Arena& arena) const {
    constexpr auto kNumbers = static_cast<Index>(sizeof(BinSums) / sizeof(double));
    return new (arena.take(kNumbers * static_cast<Index>(ends_.size()))) BinSums[ends_.size()];
  }

  void add_steps(const BinSums* sums, double factor, double* out) const {
    double above = 0;
    for (std::size_t k = knots_.size(); k-- > 0;) {
      above += sums[k + 1].weight;
      out[k] += factor * above;
    }
  }

  // Sums over the rows on one side of a knot, of their weights and of weight times distance to the knot or
  // its square. From one knot to the next, every distance grows by the gap between the two, and the rows of
  // the bin in between are added.
  struct SideSums {
    double weight = 0;
    double distance = 0;
    double square = 0;
    void move(double gap) {
      square += gap * (2 * distance + gap * weight);
      distance += gap * weight;
    }
  };

  // Both sides in one loop, for each step of one waits for the last one.
  template <class Value>
  void for_each_side(const BinSums* sums, Value value) const {
    SideSums above;
    SideSums below;
    const std::size_t count = knots_.size();
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t from_top = count - 1 - k;
      if (k > 0) {
        above.move(knots_[from_top + 1] - knots_[from_top]);
        below.move(knots_[k] - knots_[k - 1]);
      }
      const BinSums& upper = sums[from_top + 1];
      above.weight += upper.weight;
      above.distance += upper.from_lower;
      above.square += upper.from_lower_squared;
      const BinSums& lower = sums[k];
      below.weight += lower.weight;
      below.distance += lower.to_upper;
      below.square += lower.to_upper_squared;
      value(2 * from_top, above);
      value(2 * k + 1, below);
    }
  }

  void add_hinges(const BinSums* sums, double* out) const {
    for_each_side(sums, [&](std::size_t i, const SideSums& side) { out[i] += factor_ * side.distance; });
  }
  void add_squared_hinges(const BinSums* sums, double* out) const {
    for_each_side(sums,
                  [&](std::size_t i, const SideSums& side) { out[i] += factor_ * factor_ * side.square; });
  }

  std::vector<Atom> atoms_;
  KnotShape shape_;
  Index input_;
  double factor_;
  std::vector<double> knots_;
  std::vector<BinEnds> ends_;  // of each bin
  std::vector<double> table_;  // see find_bins
};

// The same with the bins of all rows kept.
class KeptKnottedInput final : public CandidateFamily {
 public:
  KeptKnottedInput(const KnottedInput& input, Index rows)
      : input_(input), bins_(static_cast<std::size_t>(rows)) {}
  void keep(const RowBlock& block) { input_.set_bins(block, bins_.data() + block.first_row); }

  [[nodiscard]] Index size() const override { return input_.size(); }
  [[nodiscard]] Atom atom(Index candidate) const override { return input_.atom(candidate); }
  void correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                 double* out, Index out_stride, Arena& arena) const override {
    input_.correlate(block, bins_.data() + block.first_row, weights, weight_stride, columns, out, out_stride,
                     arena);
  }
  void add_square_norms(const RowBlock& block, double* out, Arena& arena) const override {
    input_.add_square_norms(block, bins_.data() + block.first_row, out, arena);
  }

 private:
  const KnottedInput& input_;
  std::vector<std::uint16_t> bins_;
};

// The atoms of some inputs after those of others.
class KnottedCandidates final : public CandidateFamily {
 public:
  void append(std::shared_ptr<const CandidateFamily> inputs) {
    offsets_.push_back(offsets_.back() + inputs->size());
    parts_.push_back(std::move(inputs));
  }

  [[nodiscard]] Index size() const override { return offsets_.back(); }
  [[nodiscard]] Atom atom(Index candidate) const override {
    const auto next = std::ranges::upper_bound(offsets_, candidate);
    const auto part = static_cast<std::size_t>(next - offsets_.begin() - 1);
    return parts_[part]->atom(candidate - offsets_[part]);
  }
  void correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                 double* out, Index out_stride, Arena& arena) const override {
    for (std::size_t p = 0; p < parts_.size(); ++p)
      parts_[p]->correlate(block, weights, weight_stride, columns, out + offsets_[p], out_stride, arena);
  }
  void add_square_norms(const RowBlock& block, double* out, Arena& arena) const override {
    for (std::size_t p = 0; p < parts_.size(); ++p)
      parts_[p]->add_square_norms(block, out + offsets_[p], arena);
  }
  [[nodiscard]] double kept_bytes(Index rows) const override {
    const auto with_bins =
        std::ranges::count_if(parts_, [](const auto& part) { return knotted(part) != nullptr; });
    return static_cast<double>(with_bins) * static_cast<double>(rows) * sizeof(std::uint16_t);
  }
  [[nodiscard]] std::unique_ptr<CandidateFamily> kept_for(const BlockedRows& rows,
                                                          Workers& workers) const override {
    auto result = std::make_unique<KnottedCandidates>();
    std::vector<KeptKnottedInput*> all_kept;
    for (const auto& part : parts_) {
      if (const KnottedInput* input = knotted(part)) {
        auto kept = std::make_shared<KeptKnottedInput>(*input, rows.rows());
        all_kept.push_back(kept.get());
        result->append(std::move(kept));
      } else {
        result->append(part);
      }
    }
    for_each_block(rows, workers, [&](const RowBlock& block, Arena& /*arena*/) {
      for (KeptKnottedInput* kept : all_kept) kept->keep(block);
    });
    return result;
  }

 private:
  // Null if its atoms are listed.
  [[nodiscard]] static const KnottedInput* knotted(const std::shared_ptr<const CandidateFamily>& part) {
    return dynamic_cast<const KnottedInput*>(part.get());
  }

  std::vector<std::shared_ptr<const CandidateFamily>> parts_;
  std::vector<Index> offsets_{0};  // the first candidate of each, and their number
};

}  // namespace

std::unique_ptr<CandidateFamily> knotted_candidates(const FeatureFamily& family,
                                                    const std::vector<Atom>& atoms, KnotShape shape) {
  constexpr std::ptrdiff_t kFew = 12;  // atoms of an input that take no longer one by one
  auto result = std::make_unique<KnottedCandidates>();
  std::vector<Atom> few;  // of the last inputs
  const auto append_few = [&] {
    if (few.empty()) return;
    result->append(std::make_unique<ListedCandidates>(family, std::exchange(few, {}), kUnivariateTile));
  };
  for (auto first = atoms.begin(); first != atoms.end();) {
    const auto end =
        std::find_if(first, atoms.end(), [&](const Atom& atom) { return atom.inputs != first->inputs; });
    if (end - first <= kFew) {
      few.insert(few.end(), first, end);
    } else {
      append_few();
      result->append(std::make_unique<KnottedInput>(std::vector<Atom>(first, end), shape));
    }
    first = end;
  }
  append_few();
  return result;
}

}  // namespace mfga
