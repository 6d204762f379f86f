// Functions of all inputs, many of them at a time: what the Fourier, landmark, Nystrom and Maclaurin families
// share.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "features/family.hpp"

namespace mfga {

// A list of functions, known by their values on the rows of a block; their sums over rows are computed from
// the values of a tile of functions at a time.
class FunctionTiles {
 public:
  virtual ~FunctionTiles() = default;
  [[nodiscard]] virtual Index size() const = 0;
  // How many functions are evaluated at a time: their values stay in the second-level cache.
  [[nodiscard]] virtual Index tile() const { return 64; }
  // out[i * out_stride + n] = function first + i on row n, i < count.
  virtual void evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                        Arena& arena) const = 0;
  // The same in single precision; the block has single-precision values.
  virtual void evaluate_single(const RowBlock& block, Index first, Index count, float* out, Index out_stride,
                               Arena& arena) const = 0;

  // See CandidateFamily and SingleCorrelator.
  void correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                 double* out, Index out_stride, Arena& arena) const;
  void correlate_single(const RowBlock& block, const double* weights, double* out, Arena& arena) const;
  void add_square_norms(const RowBlock& block, double* out, Arena& arena) const;

  // Calls use(first, count, values) with the values of tiles of functions, [count x block.stride].
  template <class Use>
  void for_each_tile(const RowBlock& block, Arena& arena, Use use) const {
    const Arena::Scope scope(arena);
    double* values = arena.take(tile() * block.stride);
    for (Index first = 0; first < size(); first += tile()) {
      const Index count = std::min(tile(), size() - first);
      evaluate(block, first, count, values, block.stride, arena);
      use(first, count, values);
    }
  }
};

// Of a sum of products of weights and values in single precision, besides the errors of the values.
[[nodiscard]] double single_sum_error();

// The projections of the rows on directions [count x inputs]: out[i * out_stride + n] = <direction i, x_n>.
void project(const RowBlock& block, const double* directions, Index count, double* out, Index out_stride);
void project(const RowBlock& block, const float* directions, Index count, float* out, Index out_stride);
// For an F with the derivatives by_projections[i * block.stride + n] by projection i of row n: adds those by
// the directions, by_directions[i * direction_stride + j], and by the inputs, see AtomDerivatives. Either may
// be null.
void pull_back_projections(const RowBlock& block, const double* directions, Index count,
                           const double* by_projections, double* by_directions, Index direction_stride,
                           double* inputs);
// What one in single precision is off by at most, in units of |direction|_2 |x_n|_2: rounding of both, and a
// rounding for each product and sum.
[[nodiscard]] double single_projection_error(Index n_inputs);

// out = values, rounded.
[[nodiscard]] std::vector<float> rounded_to_single(const Matrix& values);

// The candidates of a family whose features are functions of such a list.
class TiledCandidates : public CandidateFamily, public SingleCorrelator {
 public:
  [[nodiscard]] Index size() const override { return tiles().size(); }
  void correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                 double* out, Index out_stride, Arena& arena) const override {
    tiles().correlate(block, weights, weight_stride, columns, out, out_stride, arena);
  }
  void add_square_norms(const RowBlock& block, double* out, Arena& arena) const override {
    tiles().add_square_norms(block, out, arena);
  }
  void correlate_single(const RowBlock& block, const double* weights, double* out,
                        Arena& arena) const override {
    tiles().correlate_single(block, weights, out, arena);
  }
  [[nodiscard]] double kept_bytes(Index rows) const override;
  [[nodiscard]] std::unique_ptr<CandidateFamily> kept_for(const BlockedRows& rows,
                                                          Workers& workers) const override;
  // All errors are in add_square_errors.
  [[nodiscard]] double relative_error() const override { return 0; }

 protected:
  [[nodiscard]] virtual const FunctionTiles& tiles() const = 0;
};

// A family of `count` atoms with a kernel width, whose atoms use all inputs.
class ProjectedFamily : public FeatureFamily {
 public:
  void check(const FamilyOptionValues& values) const override;
  [[nodiscard]] bool needs_sigma(const FamilyOptionValues& values) const override;
  [[nodiscard]] double candidates(const FamilyOptionValues& values, Index n_inputs) const override;
  void validate(const Atom& atom, Index n_inputs) const override;

 protected:
  // The options of such a family begin with its count and kSigmaOption.
  [[nodiscard]] static Index count_of(const FamilyOptionValues& values);
  [[nodiscard]] static SigmaChoice sigma_of(const FamilyOptionValues& values);
};

}  // namespace mfga
