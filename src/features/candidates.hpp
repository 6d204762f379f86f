// All candidates of a dictionary for a known number of inputs, numbered summand by summand; and the values
// and combinations of chosen atoms, whatever families they come from.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "features/family.hpp"

namespace mfga {

class Candidates {
 public:
  // `weights`, if given, multiply those of the summands.
  Candidates(const Dictionary& dictionary, const CandidateContext& context,
             std::span<const double> weights = {});
  // Of a dictionary that was written down: all of its atoms, how many of them each summand has, one at
  // least, and the weights of the summands.
  Candidates(std::span<const Atom> atoms, std::span<const Index> counts, std::span<const double> weights);

  [[nodiscard]] Index size() const { return offsets_.back(); }
  [[nodiscard]] Atom atom(Index candidate) const;
  // The first candidate of each summand, and the total.
  [[nodiscard]] std::span<const Index> offsets() const { return offsets_; }
  // The weight nu of each summand.
  [[nodiscard]] std::span<const double> weights() const { return weights_; }
  // The width of each kernel that has one.
  [[nodiscard]] std::vector<double> sigmas() const;
  // Scales every candidate to a root mean square of 1 on the rows, after centring if `centred`. One that is
  // constant there is scaled to 0. From then on `sums` and `square_norms` are those of the scaled ones.
  void normalise(const BlockedRows& rows, bool centred, Workers& workers);
  // Whether the candidate was found to be constant by `normalise`.
  [[nodiscard]] bool is_constant(Index candidate) const;

  // The same candidates for sums over these rows only, with what takes long to compute kept in memory, as far
  // as `most_bytes` go. They refer to these.
  [[nodiscard]] Candidates kept_for(const BlockedRows& rows, Workers& workers, double most_bytes) const;

  // Columns of numbers for the rows of a block, `stride` apart.
  struct BlockColumns {
    const double* values;
    Index stride;
  };
  // For a block, columns that the candidates are multiplied with; it may also add to some more sums. The
  // weights of rows are its own business.
  using ColumnsOfBlock = std::function<BlockColumns(const RowBlock& block, Arena& arena, double* more)>;
  // The sums over all rows of each of `n_columns` columns times every candidate, [n_columns x size()], and
  // then `n_more` other sums. Those of the first column are in single precision where families have it, if
  // `single`.
  [[nodiscard]] std::vector<double> sums(const BlockedRows& rows, Workers& workers, Index n_columns,
                                         Index n_more, const ColumnsOfBlock& columns_of,
                                         bool single = false) const;
  // |phi_j|^2 over all rows, by their weights.
  [[nodiscard]] std::vector<double> square_norms(const BlockedRows& rows, Workers& workers) const;

  // Whether some of the candidates can be multiplied in single precision.
  [[nodiscard]] bool have_single() const;
  // What such a sum is off by at most, per unit of the length of the column; 0 where it is computed in double
  // precision.
  [[nodiscard]] std::vector<double> single_errors(const BlockedRows& rows, Workers& workers) const;

 private:
  void scale(std::span<double> sums) const;

  std::vector<std::shared_ptr<const CandidateFamily>> families_;
  std::vector<double> weights_;    // of each, sum 1
  std::vector<Index> offsets_{0};  // first candidate of each family, and the total
  std::vector<double> scales_;     // [candidates]; empty: all 1
};

// Values of a list of atoms, in the order of the list.
class AtomValues {
 public:
  explicit AtomValues(std::span<const Atom> atoms);

  [[nodiscard]] Index size() const { return size_; }
  // out[i * out_stride + n] = atom i on row n of the block, for the atoms [first, first + count).
  void evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                Arena& arena) const;
  // out[i * columns + c] += sum over the block's rows n of atom i on row n * weights[c * weight_stride + n],
  // for every atom.
  void correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                 double* out, Arena& arena) const;

 private:
  // Consecutive atoms of one family are evaluated together.
  struct Run {
    Index first;
    Index count;
    std::unique_ptr<AtomEvaluator> evaluator;
  };
  std::vector<Run> runs_;
  Index size_;
};

// The scores of a model, one per output: intercept + sum of coefficient * atom.
class ScoreFunction {
 public:
  // Coefficients are [atoms x outputs].
  ScoreFunction(std::span<const Atom> atoms, std::span<const double> coefficients,
                std::span<const double> intercepts);

  [[nodiscard]] Index outputs() const { return std::ssize(intercepts_); }
  // scores[k * block.stride + n] of output k for the rows of the block.
  void evaluate(const RowBlock& block, double* scores, Arena& arena) const;

 private:
  // One output: the atoms of a family together. Several: atom after atom, each by itself.
  std::vector<std::unique_ptr<AtomCombination>> combinations_;
  std::vector<double> intercepts_;
  Matrix by_output_;  // several outputs: [outputs x (1 + atoms)], the intercept and the coefficients
};

}  // namespace mfga
