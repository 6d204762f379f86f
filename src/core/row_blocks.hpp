// Rows in fixed blocks: everything that looks at all rows is a loop over blocks of kBlockRows rows whose
// partial results add up in an order that depends on the number of rows only. So the answer is the same for
// any number of threads, and blocks may come from anywhere.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/arena.hpp"
#include "core/ranks.hpp"
#include "core/row_kernels.hpp"
#include "core/warped_input.hpp"
#include "core/workers.hpp"
#include "mfga/views.hpp"

namespace mfga {

class RowsElsewhere;  // core/ranked_rows.hpp

// Measured at 90 inputs on a core with 1 MiB of L2: 384 to 512 rows are 10 % faster than 256, which spend
// more of their time on adding up vector lanes; larger blocks leave the second-level cache.
inline constexpr Index kBlockRows = 512;

// How far apart the inputs of a block of so many rows lie: whole tiles, and a little more. An odd number of
// cache lines per input, in both precisions, so that they do not evict each other from the first-level cache
// as those a power of two apart would.
constexpr Index padded_rows(Index rows) {
  constexpr Index kLines = 16;  // numbers in a cache line of floats, in two of doubles
  const Index lines = (rows + kLines - 1) / kLines;
  return (lines % 2 == 0 ? lines + 1 : lines) * kLines;
}
inline constexpr Index kBlockStride = padded_rows(kBlockRows);

// Where one model input comes from and how it is standardised: (x - mean) / deviation, then the warp, and at
// last times the stretch. A value that is missing, NaN, becomes 0; or the input tells of it: x is then 1
// where the value of the column is missing, and else 0.
struct InputColumn {
  Index column = 0;
  double mean = 0;
  double deviation = 1;
  Warp warp = {};
  double stretch = 1;
  bool is_missing = false;
};

// The standardised inputs of a few rows, input by input, so that loops over rows are contiguous.
struct RowBlock {
  Index first_row = 0;
  Index rows = 0;
  Index inputs = 0;
  const double* values = nullptr;        // [inputs x stride]
  Index stride = 0;                      // at least `rows`
  const double* square_norms = nullptr;  // [rows]: |x_n|^2
  const double* weights = nullptr;       // [rows]: how much each counts; null: 1
  const float* single = nullptr;         // the values in single precision, if asked for

  [[nodiscard]] const double* input(Index j) const { return values + j * stride; }
};

// out[n] = values[n] times the weight of row n, where rows have weights: then `out`, else `values`.
[[nodiscard]] const double* times_weights(const RowBlock& block, const double* values, double* out);
// The sum over the block's rows of weight * values[n]^2.
[[nodiscard]] double weighted_square_norm(const RowBlock& block, const double* values);

// The block with its values in single precision beside it, in the arena.
[[nodiscard]] RowBlock with_single(const RowBlock& block, Arena& arena);

// Rounds weights to single precision, divided by the power of two that is returned so that they are at most 1
// and the range of single precision does not matter; 0 if all of them are 0.
[[nodiscard]] double round_scaled(const double* weights, Index count, float* out);

// A table, or some of its rows in any order, seen through the standardisation. Blocks are converted whenever
// they are needed, so the table is in memory once; or, if asked for, all of them once. Rows may have weights,
// which go with them wherever they go. Where ranks have different rows, each loads its own blocks only, and
// subset and gather are for all ranks together.
class BlockedRows {
 public:
  BlockedRows(const TableView& table, const std::vector<InputColumn>& inputs);
  // The columns of a table as they are, missing values as well.
  [[nodiscard]] static BlockedRows unscaled(const TableView& table);
  // These rows with weights, one for each; none: 1.
  [[nodiscard]] BlockedRows weighted(std::vector<double> weights) const;
  // Some of these rows, by their positions. Their warped inputs are kept, unless they are very many: warps
  // take longer than all else that is done to a row, and subsets are looked at often. For the same reason a
  // few rows of a table that is not in memory are copied. Without workers one thread does it.
  [[nodiscard]] BlockedRows subset(std::span<const Index> positions, Workers* workers = nullptr) const;
  // The same rows with all blocks converted now, unless they are very many: for those who look at them often.
  [[nodiscard]] BlockedRows kept(Workers& workers) const;
  // The same rows, and their weights, but no inputs: for sums of what is known of each row already.
  [[nodiscard]] BlockedRows without_inputs() const;
  // These rows with input j times factors[j].
  [[nodiscard]] BlockedRows stretched(std::span<const double> factors) const;
  // These rows with combinations of the inputs in their places: matrix [inputs x inputs] times each.
  [[nodiscard]] BlockedRows mixed(const Matrix& matrix) const;
  // The combinations, with all stretches since; null: the inputs themselves.
  [[nodiscard]] const Matrix* mixing() const { return mixing_.get(); }

  [[nodiscard]] Index rows() const { return rows_; }
  // Empty: all are 1.
  [[nodiscard]] std::span<const double> weights() const {
    return weights_ == nullptr ? std::span<const double>() : std::span<const double>(*weights_);
  }
  [[nodiscard]] double total_weight() const { return total_weight_; }
  [[nodiscard]] Index inputs() const { return static_cast<Index>(standardiser_.columns.size()); }
  // What a number in the column of an input becomes, where inputs are not mixed.
  [[nodiscard]] double standardised(Index input, double value) const;
  [[nodiscard]] Index blocks() const { return (rows_ + kBlockRows - 1) / kBlockRows; }
  // The block lives in the arena until the caller's scope ends.
  [[nodiscard]] RowBlock load(Index block, Arena& arena) const;
  // Some of these rows, by their positions, as one block.
  [[nodiscard]] RowBlock gather(std::span<const Index> rows, Arena& arena) const;
  // A row that need not be one of these, with numbers as far apart, as a block of its own; the same to the
  // last bit as among others.
  [[nodiscard]] RowBlock single_row(const double* row, Arena& arena) const;

 private:
  // The row of the table that a row of all ranks is, where that is another.
  [[nodiscard]] Index row_of_all(Index position) const {
    return all_chosen_ == nullptr ? row_of_table(position)
                                  : (*all_chosen_)[static_cast<std::size_t>(position)];
  }
  [[nodiscard]] Index row_of_table(Index position) const {
    return chosen_ == nullptr ? position : (*chosen_)[static_cast<std::size_t>(position)];
  }
  // Where its numbers begin, `col_stride` apart; only if `is_direct`.
  [[nodiscard]] const double* row(Index position) const {
    const Index i = row_of_table(position);
    const TableView::Piece& piece = table_->piece_of(i);
    return piece.doubles + (i - piece.first_row) * piece.row_stride;
  }
  // A block of `count` rows; position(r) for r < count + kRowsAhead says which.
  template <class Position>
  [[nodiscard]] RowBlock convert(Index count, Arena& arena, Position position) const;

  [[nodiscard]] bool sums_squares_again() const {
    return !warped_.empty() || !missing_marks_.empty() || mixing_ != nullptr;
  }
  void keep_warped_values(Workers* workers);
  void copy_into_memory();
  // Where ranks have different rows: has those of its own blocks brought here.
  void bring_own_rows();
  void look_at_pieces();
  // The rows that are here.
  [[nodiscard]] Index first_own_row() const;
  [[nodiscard]] Index end_of_own_rows() const;
  [[nodiscard]] RowBlock gather_from_ranks(std::span<const Index> rows, Arena& arena) const;
  // The numbers of a row of the table that are inputs, each at the place of its column.
  void copy_row(Index row, double* out) const;
  // Standardised numbers of `count` rows, before they are warped: puts 0, or what tells of them, where
  // numbers are missing. The norms are those with these numbers.
  void fill_missing(double* values, Index stride, Index count, double* norms) const;

  std::shared_ptr<const TableView> table_;
  std::shared_ptr<const Matrix> copied_rows_;  // if the table is a copy of some rows: these
  const RowsElsewhere* elsewhere_ = nullptr;   // if other ranks have some rows of the table
  // Then, where rows were brought here, the table and its rows as all ranks know them.
  std::shared_ptr<const TableView> all_table_;
  std::shared_ptr<const std::vector<Index>> all_chosen_;
  bool is_direct_ = true;     // doubles with one distance of columns; others are copied block by block
  bool has_sources_ = false;  // some are not in memory
  Index col_stride_ = 1;
  Standardiser standardiser_;
  std::vector<WarpedInput> warped_;
  std::vector<Index> missing_marks_;  // the inputs that tell of missing values
  std::vector<bool> is_plain_;        // of each input: neither warped nor one of these
  bool fills_missing_ = true;
  // [warped inputs x rows]: before they are stretched; null: found again for every block.
  std::shared_ptr<const Matrix> warped_values_;
  std::shared_ptr<const Matrix> mixing_;
  std::shared_ptr<const double> kept_blocks_;  // [inputs and square norms x stride] of each; null: not kept
  std::shared_ptr<const std::vector<Index>> chosen_;  // rows of the table; null: all, in their order
  std::shared_ptr<const std::vector<double>> weights_;
  Index rows_;
  double total_weight_;
};

// The blocks that loops look at here: all, or those of this rank.
[[nodiscard]] BlockRange own_blocks(const BlockedRows& rows, const Workers& workers);

// Calls body(block, arena) for every block, in parallel; with several ranks, for the blocks of this one.
void for_each_block(const BlockedRows& rows, Workers& workers,
                    const std::function<void(const RowBlock&, Arena&)>& body);

// The one way over the rows: partial results of fixed groups of consecutive blocks, the shards, each an array
// of `out.size()` numbers that is `initial` everywhere at first, then taken together in the order of the
// shards. `merge` takes the numbers of a later shard into those of the earlier ones.
void reduce_over_blocks(const BlockedRows& rows, Workers& workers, std::span<double> out, double initial,
                        const std::function<void(const RowBlock&, Arena&, double* partial)>& body,
                        const std::function<void(double* out, const double* partial)>& merge);

// Sums over all blocks: body adds the block's share to an accumulator of `out.size()` numbers that starts
// at zero. Blocks are grouped into shards of consecutive blocks, each with its own accumulator; shards are
// added in order. What ends it early leaves `out` as it may be.
void sum_over_blocks(const BlockedRows& rows, Workers& workers, std::span<double> out,
                     const std::function<void(const RowBlock&, Arena&, double* accumulator)>& body);

// Where for_each_block has set numbers for the rows of its blocks, one for each of all rows: sets those of
// the other ranks' blocks.
void share_rows(const BlockedRows& rows, const Workers& workers, std::span<double> numbers);

// The number of shards, and so of accumulators, for this many blocks and numbers per accumulator.
[[nodiscard]] Index shard_count(Index blocks, Index accumulator_size);

}  // namespace mfga
