// Loops over the blocks of rows, on the threads of this process and, where there are several ranks, on
// theirs.
#include <algorithm>

#include "core/row_blocks.hpp"

namespace mfga {

Index shard_count(Index blocks, Index accumulator_size) {
  constexpr Index kMostShards = 32;
  constexpr Index kFewestShards = 8;
  constexpr Index kAccumulatorBudget = Index{8} << 20;  // numbers, 64 MiB
  const Index affordable = kAccumulatorBudget / std::max<Index>(accumulator_size, 1);
  return std::min(blocks, std::clamp(affordable, kFewestShards, kMostShards));
}

BlockRange own_blocks(const BlockedRows& rows, const Workers& workers) {
  if (workers.ranks() != nullptr) return workers.ranks()->own_blocks(rows.blocks());
  return {0, rows.blocks()};
}

void for_each_block(const BlockedRows& rows, Workers& workers,
                    const std::function<void(const RowBlock&, Arena&)>& body) {
  workers.check();
  const BlockRange own = own_blocks(rows, workers);
  const Index blocks = own.end - own.first;
  const Index shards = shard_count(blocks, 1);
  workers.run(shards, [&](Index shard) {
    const auto lease = workers.arenas.lend();
    for (Index b = shard * blocks / shards; b < (shard + 1) * blocks / shards; ++b) {
      workers.check();
      const Arena::Scope scope(*lease);
      body(rows.load(own.first + b, *lease), *lease);
    }
  });
}

void share_rows(const BlockedRows& rows, const Workers& workers, std::span<double> numbers) {
  if (workers.ranks() == nullptr) return;
  workers.ranks()->share(rows.blocks(), numbers,
                         [&](Index block) { return std::min(block * kBlockRows, rows.rows()); });
}

namespace {

// The partial results of all shards, [shards x size].
struct Partials {
  Index shards;
  const double* values;
};

Partials partials_over_blocks(const BlockedRows& rows, Workers& workers, Index size, double initial,
                              const std::function<void(const RowBlock&, Arena&, double*)>& body,
                              Arena& arena) {
  const Index shards = shard_count(rows.blocks(), size);
  double* partials = arena.take(std::max<Index>(shards * size, 1));
  const auto add = [&](Index first, Index end, double* partial) {
    const auto task_lease = workers.arenas.lend();
    for (Index b = first; b < end; ++b) {
      workers.check();
      const Arena::Scope scope(*task_lease);
      body(rows.load(b, *task_lease), *task_lease, partial);
    }
  };
  if (workers.ranks() != nullptr) {
    std::fill_n(partials, shards * size, initial);
    workers.ranks()->run(workers, rows.blocks(), shards, size, partials, add);
  } else {
    workers.run(shards, [&](Index shard) {
      double* const partial = partials + shard * size;
      std::fill_n(partial, size, initial);
      add(shard * rows.blocks() / shards, (shard + 1) * rows.blocks() / shards, partial);
    });
  }
  return {shards, partials};
}

}  // namespace

void reduce_over_blocks(const BlockedRows& rows, Workers& workers, std::span<double> out, double initial,
                        const std::function<void(const RowBlock&, Arena&, double*)>& body,
                        const std::function<void(double*, const double*)>& merge) {
  const auto size = static_cast<Index>(out.size());
  const auto lease = workers.arenas.lend();
  const Arena::Scope scope(*lease);
  const Partials partials = partials_over_blocks(rows, workers, size, initial, body, *lease);
  std::fill(out.begin(), out.end(), initial);
  for (Index shard = 0; shard < partials.shards; ++shard) merge(out.data(), partials.values + shard * size);
}

void sum_over_blocks(const BlockedRows& rows, Workers& workers, std::span<double> out,
                     const std::function<void(const RowBlock&, Arena&, double*)>& body) {
  const auto size = static_cast<Index>(out.size());
  const auto lease = workers.arenas.lend();
  const Arena::Scope scope(*lease);
  const Partials partials = partials_over_blocks(rows, workers, size, 0, body, *lease);
  // The shards of thousands of candidates are many numbers: each thread adds up a part of them.
  constexpr Index kTogether = 2048;
  workers.run((size + kTogether - 1) / kTogether, [&](Index part) {
    const Index first = part * kTogether;
    const Index count = std::min(kTogether, size - first);
    double* sums = out.data() + first;
    std::fill_n(sums, count, 0.0);
    for (Index shard = 0; shard < partials.shards; ++shard) {
      const double* partial = partials.values + shard * size + first;
      for (Index i = 0; i < count; ++i) sums[i] += partial[i];
    }
  });
}

}  // namespace mfga
