#include "core/row_blocks.hpp"

#include <algorithm>

namespace mfga {
namespace {

// Converts `count` rows, given by their positions, to [inputs x stride] and adds up their square norms.
template <class RowPointer>
RowBlock convert(Index count, Index stride, const ConstMatrixView& table,
                 const std::vector<InputColumn>& inputs, Arena& arena, RowPointer row_pointer) {
  const auto n_inputs = static_cast<Index>(inputs.size());
  double* values = arena.take(std::max<Index>(n_inputs * stride, 1));
  double* norms = arena.take(std::max<Index>(stride, 1));
  std::fill(norms, norms + stride, 0.0);
  // Eight rows at a time: the stores fill whole cache lines while the loads walk along eight rows.
  constexpr Index kTile = 8;
  for (Index first = 0; first < count; first += kTile) {
    const Index tile = std::min(kTile, count - first);
    const double* source[kTile];
    for (Index r = 0; r < kTile; ++r) source[r] = row_pointer(first + std::min(r, tile - 1));
    double square[kTile] = {};
    for (Index j = 0; j < n_inputs; ++j) {
      const InputColumn& input = inputs[static_cast<std::size_t>(j)];
      const Index offset = input.column * table.col_stride;
      const double inverse = 1.0 / input.deviation;
      double x[kTile];
      for (Index r = 0; r < kTile; ++r) x[r] = (source[r][offset] - input.mean) * inverse;
      for (Index r = 0; r < kTile; ++r) square[r] += x[r] * x[r];
      std::copy_n(x, tile, values + j * stride + first);
    }
    std::copy_n(square, tile, norms + first);
  }
  RowBlock block;
  block.rows = count;
  block.inputs = n_inputs;
  block.values = values;
  block.stride = stride;
  block.square_norms = norms;
  return block;
}

}  // namespace

BlockedRows::BlockedRows(ConstMatrixView table, std::vector<InputColumn> inputs)
    : table_(table), inputs_(std::move(inputs)) {}

RowBlock BlockedRows::load(Index block, Arena& arena) const {
  const Index first = block * kBlockRows;
  RowBlock result = convert(std::min(kBlockRows, table_.rows - first), kBlockRows, table_, inputs_, arena,
                            [&](Index r) { return table_.data + (first + r) * table_.row_stride; });
  result.first_row = first;
  return result;
}

RowBlock BlockedRows::gather(std::span<const Index> rows, Arena& arena) const {
  const auto count = static_cast<Index>(rows.size());
  return convert(count, count, table_, inputs_, arena, [&](Index r) {
    return table_.data + rows[static_cast<std::size_t>(r)] * table_.row_stride;
  });
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
