#include "core/row_blocks.hpp"

#include <algorithm>

#include "core/vectorise.hpp"

namespace mfga {
namespace {

// Eight rows at a time: the stores fill whole cache lines while the loads walk along eight rows.
constexpr Index kTile = 8;

// values[j * stride + r] = (source[r][offset_j] - mean_j) / deviation_j and the rows' square norms, r <
// kTile.
void convert_tile(const double* const* source, const InputColumn* inputs, Index n_inputs, Index col_stride,
                  double* values, Index stride, double* norms) {
  double square[kTile] = {};
  for (Index j = 0; j < n_inputs; ++j) {
    const Index offset = inputs[j].column * col_stride;
    const double mean = inputs[j].mean;
    const double inverse = 1.0 / inputs[j].deviation;
    double x[kTile];
    for (Index r = 0; r < kTile; ++r) x[r] = (source[r][offset] - mean) * inverse;
    for (Index r = 0; r < kTile; ++r) square[r] += x[r] * x[r];
    for (Index r = 0; r < kTile; ++r) values[j * stride + r] = x[r];
  }
  for (Index r = 0; r < kTile; ++r) norms[r] = square[r];
}

// Rows up to a whole tile, and one more tile: columns that lie a power of two apart would evict each other
// from the first-level cache.
Index padded(Index rows) { return (rows + kTile - 1) / kTile * kTile + kTile; }

// Converts `count` rows, given by their positions.
template <class RowPointer>
RowBlock convert(Index count, const ConstMatrixView& table, const std::vector<InputColumn>& inputs,
                 Arena& arena, RowPointer row_pointer) {
  RowBlock block;
  block.rows = count;
  block.inputs = static_cast<Index>(inputs.size());
  block.stride = padded(count);
  double* values = arena.take(std::max<Index>(block.inputs, 1) * block.stride);
  double* norms = arena.take(block.stride);
  for (Index first = 0; first < count; first += kTile) {
    const double* source[kTile];
    for (Index r = 0; r < kTile; ++r) source[r] = row_pointer(std::min(first + r, count - 1));
    convert_tile(source, inputs.data(), block.inputs, table.col_stride, values + first, block.stride,
                 norms + first);
  }
  block.values = values;
  block.square_norms = norms;
  return block;
}

}  // namespace

BlockedRows::BlockedRows(ConstMatrixView table, std::vector<InputColumn> inputs)
    : table_(table), inputs_(std::move(inputs)), rows_(table.rows) {}

BlockedRows BlockedRows::subset(std::span<const Index> positions) const {
  BlockedRows result(table_, inputs_);
  result.rows_ = static_cast<Index>(positions.size());
  for (const Index position : positions) result.chosen_.push_back(row_of_table(position));
  return result;
}

void BlockedRows::keep_converted(Workers& workers) {
  std::vector<RowBlock> kept(static_cast<std::size_t>(blocks()));
  const Index stride = padded(kBlockRows);
  const Index block_size = (inputs() + 1) * stride;
  double* memory = kept_memory_.take(std::max<Index>(blocks() * block_size, 1));
  for_each_block(*this, workers, [&](const RowBlock& block, Arena& /*arena*/) {
    const Index b = block.first_row / kBlockRows;
    double* values = memory + b * block_size;
    double* norms = values + inputs() * block.stride;
    std::copy_n(block.values, inputs() * block.stride, values);
    std::copy_n(block.square_norms, block.rows, norms);
    RowBlock& copy = kept[static_cast<std::size_t>(b)] = block;
    copy.values = values;
    copy.square_norms = norms;
  });
  kept_ = std::move(kept);
}

RowBlock BlockedRows::load(Index block, Arena& arena) const {
  if (!kept_.empty()) return kept_[static_cast<std::size_t>(block)];
  const Index first = block * kBlockRows;
  RowBlock result = convert(std::min(kBlockRows, rows_ - first), table_, inputs_, arena,
                            [&](Index r) { return row(first + r); });
  result.first_row = first;
  return result;
}

RowBlock BlockedRows::gather(std::span<const Index> rows, Arena& arena) const {
  const auto count = static_cast<Index>(rows.size());
  return convert(count, table_, inputs_, arena,
                 [&](Index r) { return row(rows[static_cast<std::size_t>(r)]); });
}

void for_each_block(const BlockedRows& rows, Workers& workers,
                    const std::function<void(const RowBlock&, Arena&)>& body) {
  const Index shards = shard_count(rows.blocks(), 1);
  workers.pool.run(shards, [&](Index shard) {
    const auto lease = workers.arenas.lend();
    for (Index b = shard * rows.blocks() / shards; b < (shard + 1) * rows.blocks() / shards; ++b) {
      const Arena::Scope scope(*lease);
      body(rows.load(b, *lease), *lease);
    }
  });
}

Index shard_count(Index blocks, Index accumulator_size) {
  constexpr Index kMostShards = 32;
  constexpr Index kFewestShards = 8;
  constexpr Index kAccumulatorBudget = Index{8} << 20;  // numbers, 64 MiB
  const Index affordable = kAccumulatorBudget / std::max<Index>(accumulator_size, 1);
  return std::min(blocks, std::clamp(affordable, kFewestShards, kMostShards));
}

void sum_over_blocks(const BlockedRows& rows, Workers& workers, std::span<double> out,
                     const std::function<void(const RowBlock&, Arena&, double*)>& body) {
  const auto size = static_cast<Index>(out.size());
  const Index shards = shard_count(rows.blocks(), size);
  const auto lease = workers.arenas.lend();
  const Arena::Scope partial_scope(*lease);
  double* partials = (*lease).take(std::max<Index>(shards * size, 1));
  workers.pool.run(shards, [&](Index shard) {
    double* accumulator = partials + shard * size;
    std::fill(accumulator, accumulator + size, 0.0);
    const auto task_lease = workers.arenas.lend();
    for (Index b = shard * rows.blocks() / shards; b < (shard + 1) * rows.blocks() / shards; ++b) {
      const Arena::Scope scope(*task_lease);
      body(rows.load(b, *task_lease), *task_lease, accumulator);
    }
  });
  std::fill(out.begin(), out.end(), 0.0);
  for (Index shard = 0; shard < shards; ++shard) {
    const double* accumulator = partials + shard * size;
    for (Index i = 0; i < size; ++i) out[static_cast<std::size_t>(i)] += accumulator[i];
  }
}

}  // namespace mfga
