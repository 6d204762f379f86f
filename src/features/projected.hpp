// Atoms that are functions of projections <w, x> of all inputs: what the Fourier, landmark and
// Maclaurin families share.
//
// The projections of a block on many directions are one matrix product; a family turns them into values.
#pragma once

#include <span>
#include <vector>

#include "features/family.hpp"

namespace mfga {

// A list of directions with one number beside each (a phase, a square norm).
struct Directions {
  Matrix vectors;  // [count x inputs]
  std::vector<double> offsets;

  [[nodiscard]] Index size() const { return vectors.rows; }
};

// out[i * out_stride + n] = <vector first + i, row n of the block>, i < count.
void project(const Matrix& vectors, const RowBlock& block, Index first, Index count, double* out,
             Index out_stride);

// Turns the projections of the block on directions [first, first + count), [count x stride], into values.
class ProjectionValues {
 public:
  virtual ~ProjectionValues() = default;
  virtual void finish(const RowBlock& block, Index first, Index count, double* projections,
                      Index stride) const = 0;
};

// Values of the directions [first, first + count): projections, then `values.finish`.
void evaluate_directions(const Directions& directions, const ProjectionValues& values, const RowBlock& block,
                         Index first, Index count, double* out, Index out_stride);

// out[c * out_stride + j] += sum over rows of weights[c * weight_stride + n] * value of direction j on row n,
// in tiles of directions.
void correlate_directions(const Directions& directions, const ProjectionValues& values, const RowBlock& block,
                          const double* weights, Index weight_stride, Index columns, double* out,
                          Index out_stride, Arena& arena);

// out[j] += sum over rows of the square of the value of direction j.
void add_squares_of_directions(const Directions& directions, const ProjectionValues& values,
                               const RowBlock& block, double* out, Arena& arena);

// A family of `count` atoms with a kernel width, whose atoms use all inputs.
class ProjectedFamily : public FeatureFamily {
 public:
  void check(const FamilyOptionValues& values) const override;
  [[nodiscard]] bool needs_sigma(const FamilyOptionValues& values) const override;
  [[nodiscard]] double candidates(const FamilyOptionValues& values, Index n_inputs) const override;
  void validate(const Atom& atom, Index n_inputs) const override;

 protected:
  // The options of such a family begin with these two.
  static constexpr FamilyOption kSigmaOption = {
      "sigma", "auto|NUMBER|auto*NUMBER", "auto",
      "kernel width; auto: mean distance to the 50th nearest neighbour on the training rows"};
  [[nodiscard]] static Index count_of(const FamilyOptionValues& values);
  [[nodiscard]] static SigmaChoice sigma_of(const FamilyOptionValues& values);
};

// `0.31 a - 0.2 b + ...` with the largest entries of a vector over the inputs.
[[nodiscard]] std::string largest_entries_text(std::span<const double> vector,
                                               std::span<const std::string> names);

}  // namespace mfga
