#include "features/knotted_candidates.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/vectorise.hpp"
#include "features/knot_bins.hpp"
#include "features/listed_candidates.hpp"
#include "features/univariate.hpp"

namespace mfga {
namespace {

std::size_t atoms_per_knot(KnotShape shape) { return shape == KnotShape::kStep ? 1 : 2; }

// Sums over the rows of a bin of their weight, and of weight times distance to the knot below. Distances are
// taken here, where they are small, and not as differences of sums of x.
struct BinSums {
  Two weight = {};
  Two from_lower = {};
};

// The same for the squares of distances.
struct SquareSums {
  double weight = 0;
  double from_lower = 0;
  double from_lower_squared = 0;
  double to_upper_squared = 0;
};

MFGA_VECTORISED void add_weights(const std::uint16_t* bins, const double* weights, const double* more_weights,
                                 Index rows, BinSums* sums) {
  for (Index n = 0; n < rows; ++n) sums[bins[n]].weight += Two{weights[n], more_weights[n]};
}

MFGA_VECTORISED void add_distances(const std::uint16_t* bins, const double* lower, const double* x,
                                   const double* weights, const double* more_weights, Index rows,
                                   BinSums* sums) {
  for (Index n = 0; n < rows; ++n) {
    BinSums& sum = sums[bins[n]];
    const Two both = {weights[n], more_weights[n]};
    sum.weight += both;
    sum.from_lower += both * (x[n] - lower[bins[n]]);
  }
}

// The atoms of one input.
class KnottedInput final : public CandidateFamily {
 public:
  KnottedInput(std::vector<Atom> atoms, KnotShape shape)
      : atoms_(std::move(atoms)),
        shape_(shape),
        input_(atoms_.front().inputs[0]),
        factor_(std::sqrt(atoms_.front().nu)),
        bins_(knots_of(atoms_, shape)) {}

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
    bins_.find(block.input(input_), block.rows, out);
  }
  // The same as above, where they are known.
  void correlate(const RowBlock& block, const std::uint16_t* bins, const double* weights, Index weight_stride,
                 Index columns, double* out, Index out_stride, Arena& arena) const {
    const Arena::Scope scope(arena);
    auto* sums = arena.take_array<BinSums>(bins_.count());
    for (Index c = 0; c < columns; c += 2) {
      const double* first = weights + c * weight_stride;
      const bool is_last = c + 1 == columns;
      const double* second = is_last ? first : first + weight_stride;
      std::fill_n(sums, bins_.count(), BinSums{});
      double* own = out + c * out_stride;
      double* next = is_last ? arena.take(size()) : own + out_stride;  // what nobody asks for goes nowhere
      if (is_last) std::fill_n(next, size(), 0.0);
      if (shape_ == KnotShape::kStep) {
        add_weights(bins, first, second, block.rows, sums);
        add_steps(sums, own, next);
      } else {
        add_distances(bins, bins_.lower(), block.input(input_), first, second, block.rows, sums);
        add_hinges(sums, own, next);
      }
    }
  }

  void add_square_norms(const RowBlock& block, const std::uint16_t* bins, double* out, Arena& arena) const {
    const Arena::Scope scope(arena);
    const double* x = block.input(input_);
    auto* sums = arena.take_array<SquareSums>(bins_.count());
    for (Index n = 0; n < block.rows; ++n) {
      const std::size_t bin = bins[n];
      const double weight = block.weights == nullptr ? 1 : block.weights[n];
      const double from_lower = x[n] - bins_.lower()[bin];
      const double to_upper = bins_.width(bin) - from_lower;
      sums[bin].weight += weight;
      sums[bin].from_lower += weight * from_lower;
      sums[bin].from_lower_squared += weight * from_lower * from_lower;
      sums[bin].to_upper_squared += weight * to_upper * to_upper;
    }
    if (shape_ == KnotShape::kStep) {
      add_counts(sums, out);
    } else {
      add_squared_hinges(sums, out);
    }
  }

 private:
  [[nodiscard]] static std::vector<double> knots_of(const std::vector<Atom>& atoms, KnotShape shape) {
    std::vector<double> knots;
    for (std::size_t i = 0; i < atoms.size(); i += atoms_per_knot(shape))
      knots.push_back(atoms[i].parameters[0]);
    return knots;
  }

  [[nodiscard]] const std::uint16_t* bins_of(const RowBlock& block, Arena& arena) const {
    auto* bins = arena.take_array<std::uint16_t>(block.rows);
    set_bins(block, bins);
    return bins;
  }

  void add_steps(const BinSums* sums, double* out, double* more_out) const {
    Two above = {};
    for (std::size_t k = bins_.knots().size(); k-- > 0;) {
      above += sums[k + 1].weight;
      out[k] += factor_ * above[0];
      more_out[k] += factor_ * above[1];
    }
  }

  void add_hinges(const BinSums* sums, double* out, double* more_out) const {
    for_each_hinge(
        bins_, Two{}, [&](std::size_t bin) { return sums[bin].weight; },
        [&](std::size_t bin) { return sums[bin].from_lower; },
        [&](std::size_t i, const Two& sum) {
          out[i] += factor_ * sum[0];
          more_out[i] += factor_ * sum[1];
        });
  }

  void add_counts(const SquareSums* sums, double* out) const {
    double above = 0;
    for (std::size_t k = bins_.knots().size(); k-- > 0;) {
      above += sums[k + 1].weight;
      out[k] += factor_ * factor_ * above;
    }
  }

  // As for_each_hinge does it for distances.
  struct SideSums {
    double weight = 0;
    double distance = 0;
    double square = 0;
    void move(double gap) {
      square += gap * (2 * distance + gap * weight);
      distance += gap * weight;
    }
    void add(double more_weight, double more_distance, double more_square) {
      weight += more_weight;
      distance += more_distance;
      square += more_square;
    }
  };

  void add_squared_hinges(const SquareSums* sums, double* out) const {
    const std::vector<double>& knots = bins_.knots();
    SideSums above;
    SideSums below;
    for (std::size_t k = 0; k < knots.size(); ++k) {
      const std::size_t from_top = knots.size() - 1 - k;
      if (k > 0) {
        above.move(knots[from_top + 1] - knots[from_top]);
        below.move(knots[k] - knots[k - 1]);
      }
      const SquareSums& upper = sums[from_top + 1];
      above.add(upper.weight, upper.from_lower, upper.from_lower_squared);
      const SquareSums& lower = sums[k];
      below.add(lower.weight, bins_.width(k) * lower.weight - lower.from_lower, lower.to_upper_squared);
      out[2 * from_top] += factor_ * factor_ * above.square;
      out[2 * k + 1] += factor_ * factor_ * below.square;
    }
  }

  std::vector<Atom> atoms_;
  KnotShape shape_;
  Index input_;
  double factor_;
  KnotBins bins_;
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
