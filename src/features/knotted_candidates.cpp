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
    const double* x = block.input(input_);
    const std::uint16_t* bins = bins_of(block, arena);
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

  void add_square_norms(const RowBlock& block, double* out, Arena& arena) const override {
    const Arena::Scope scope(arena);
    const double* x = block.input(input_);
    const std::uint16_t* bins = bins_of(block, arena);
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
    find_bins(block.input(input_), block.rows, table_.data(), static_cast<std::uint32_t>(table_.size()),
              bins);
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

  // From one knot to the next, the sum grows by the gap times the weight of all rows that it had, and by the
  // rows of the bin between the two.
  void add_hinges(const BinSums* sums, double* out) const {
    double weight = 0;
    double sum = 0;
    double gap = 0;
    for (std::size_t k = knots_.size(); k-- > 0;) {
      if (k + 1 < knots_.size()) gap = knots_[k + 1] - knots_[k];
      sum += gap * weight + sums[k + 1].from_lower;
      weight += sums[k + 1].weight;
      out[2 * k] += factor_ * sum;
    }
    weight = sum = gap = 0;
    for (std::size_t k = 0; k < knots_.size(); ++k) {
      if (k > 0) gap = knots_[k] - knots_[k - 1];
      sum += gap * weight + sums[k].to_upper;
      weight += sums[k].weight;
      out[2 * k + 1] += factor_ * sum;
    }
  }

  // The same of squares, (distance + gap)^2 = distance^2 + 2 gap distance + gap^2.
  void add_squared_hinges(const BinSums* sums, double* out) const {
    double weight = 0;
    double sum = 0;
    double square = 0;
    double gap = 0;
    for (std::size_t k = knots_.size(); k-- > 0;) {
      if (k + 1 < knots_.size()) gap = knots_[k + 1] - knots_[k];
      square += 2 * gap * sum + gap * gap * weight + sums[k + 1].from_lower_squared;
      sum += gap * weight + sums[k + 1].from_lower;
      weight += sums[k + 1].weight;
      out[2 * k] += factor_ * factor_ * square;
    }
    weight = sum = square = gap = 0;
    for (std::size_t k = 0; k < knots_.size(); ++k) {
      if (k > 0) gap = knots_[k] - knots_[k - 1];
      square += 2 * gap * sum + gap * gap * weight + sums[k].to_upper_squared;
      sum += gap * weight + sums[k].to_upper;
      weight += sums[k].weight;
      out[2 * k + 1] += factor_ * factor_ * square;
    }
  }

  std::vector<Atom> atoms_;
  KnotShape shape_;
  Index input_;
  double factor_;
  std::vector<double> knots_;
  std::vector<BinEnds> ends_;  // of each bin
  std::vector<double> table_;  // see find_bins
};

// Some candidates after others.
class JoinedCandidates final : public CandidateFamily {
 public:
  void append(std::unique_ptr<CandidateFamily> part) {
    offsets_.push_back(offsets_.back() + part->size());
    parts_.push_back(std::move(part));
  }

  [[nodiscard]] Index size() const override { return offsets_.back(); }
  [[nodiscard]] Atom atom(Index candidate) const override {
    const auto part = std::ranges::upper_bound(offsets_, candidate) - offsets_.begin() - 1;
    return parts_[static_cast<std::size_t>(part)]->atom(candidate - offsets_[static_cast<std::size_t>(part)]);
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

 private:
  std::vector<std::unique_ptr<CandidateFamily>> parts_;
  std::vector<Index> offsets_{0};  // the first candidate of each, and their number
};

}  // namespace

std::unique_ptr<CandidateFamily> knotted_candidates(const FeatureFamily& family,
                                                    const std::vector<Atom>& atoms, KnotShape shape) {
  constexpr std::ptrdiff_t kFew = 12;  // atoms of an input that take no longer one by one
  auto result = std::make_unique<JoinedCandidates>();
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
