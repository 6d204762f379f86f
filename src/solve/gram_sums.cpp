#include "solve/gram_sums.hpp"

#include <cblas.h>

#include <algorithm>

#include "solve/gram_moments.hpp"

namespace mfga {
namespace {

constexpr Index kPanelBlocks = 4;  // row blocks whose features are held at once
constexpr Index kPanelRows = kPanelBlocks * kBlockRows;
constexpr Index kTile = 256;  // the Gram matrix is accumulated in tiles of this many rows and columns

// Features of some rows, feature by feature: [candidates x kPanelRows].
using Panel = std::vector<double>;

// out += the products of two tiles of features over some rows of the panel.
void add_tile(const Panel& panel, const GroupRows& part, Index i, Index j, Matrix& gram) {
  const double* features = panel.data() + part.first;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(std::min(kTile, gram.rows - i)),
              static_cast<int>(std::min(kTile, gram.rows - j)), static_cast<int>(part.rows), 1.0,
              features + i * kPanelRows, kPanelRows, features + j * kPanelRows, kPanelRows, 1.0,
              gram.row(i) + j, static_cast<int>(gram.cols));
}

void add_sums(const Panel& panel, const double* targets, const GroupRows& part, Index first, GramSums& to) {
  for (Index j = first; j < std::min(first + kTile, to.gram.rows); ++j) {
    const double* value = panel.data() + j * kPanelRows + part.first;
    double sum = 0;
    for (Index n = 0; n < part.rows; ++n) sum += value[n];
    to.sums[static_cast<std::size_t>(j)] += sum;
    to.target_products[static_cast<std::size_t>(j)] +=
        cblas_ddot(static_cast<int>(part.rows), value, 1, targets + part.first, 1);
  }
}

// Copies a tile above the diagonal to its place below it.
void mirror_tile(Matrix& gram, Index i, Index j) {
  for (Index row = i; row < std::min(i + kTile, gram.rows); ++row) {
    for (Index col = std::max(j, row + 1); col < std::min(j + kTile, gram.rows); ++col)
      gram(col, row) = gram(row, col);
  }
}

// Calls body(i, j) for the first row and column of every tile on and above the diagonal, in parallel.
template <class Body>
void for_each_tile(Index size, ThreadPool& pool, Body body) {
  const Index n_tiles = (size + kTile - 1) / kTile;
  pool.run(n_tiles * (n_tiles + 1) / 2, [&](Index task) {
    Index i = 0;
    for (Index row_tiles = n_tiles; task >= row_tiles; --row_tiles, ++i) task -= row_tiles;
    body(i * kTile, (i + task) * kTile);
  });
}

std::vector<std::shared_ptr<GramSums>> empty_groups(std::span<const double> targets, Index size,
                                                    std::span<const Index> group_ends) {
  std::vector<std::shared_ptr<GramSums>> groups;
  Index first = 0;
  for (const Index end : group_ends) {
    auto& group = groups.emplace_back(std::make_shared<GramSums>());
    group->gram = Matrix(size, size);
    group->sums.resize(static_cast<std::size_t>(size));
    group->target_products.resize(static_cast<std::size_t>(size));
    group->rows = end - first;
    for (; first < end; ++first) {
      const double y = targets[static_cast<std::size_t>(first)];
      group->target_sum += y;
      group->target_square += y * y;
    }
  }
  return groups;
}

// For any atoms: panels of features, and matrix products. Panels of rows in order; within a panel each tile
// belongs to one task, so the order of additions does not depend on the number of threads.
void sum_by_panels(const Problem& problem, std::span<const Atom> atoms, std::span<const Index> group_ends,
                   std::span<const std::shared_ptr<GramSums>> groups,
                   const std::function<void(double)>& on_part) {
  const AtomValues values(atoms);
  Panel panel(static_cast<std::size_t>(values.size() * kPanelRows));
  for (Index first_block = 0; first_block < problem.rows.blocks(); first_block += kPanelBlocks) {
    const Index n_blocks = std::min(kPanelBlocks, problem.rows.blocks() - first_block);
    problem.workers.pool.run(n_blocks, [&](Index b) {
      const auto lease = problem.workers.arenas.lend();
      const Arena::Scope scope(*lease);
      const RowBlock block = problem.rows.load(first_block + b, *lease);
      values.evaluate(block, 0, values.size(), panel.data() + b * kBlockRows, kPanelRows, *lease);
    });
    const Index first_row = first_block * kBlockRows;
    const Index n_rows = std::min(n_blocks * kBlockRows, problem.rows.rows() - first_row);
    const std::vector<GroupRows> parts = group_rows(group_ends, first_row, n_rows);
    for_each_tile(values.size(), problem.workers.pool, [&](Index i, Index j) {
      for (const GroupRows& part : parts) {
        GramSums& to = *groups[static_cast<std::size_t>(part.group)];
        add_tile(panel, part, i, j, to.gram);
        if (i == j) add_sums(panel, problem.targets.data() + first_row, part, i, to);
      }
    });
    on_part(static_cast<double>(first_row + n_rows) / static_cast<double>(problem.rows.rows()));
  }
}

}  // namespace

std::vector<GroupRows> group_rows(std::span<const Index> group_ends, Index first_row, Index n_rows) {
  std::vector<GroupRows> parts;
  Index first = 0;
  for (std::size_t g = 0; g < group_ends.size() && first < n_rows; ++g) {
    const Index end = std::min(group_ends[g] - first_row, n_rows);
    if (end <= first) continue;
    parts.push_back({static_cast<Index>(g), first, end - first});
    first = end;
  }
  return parts;
}

std::vector<std::shared_ptr<const GramSums>> gram_sums(const Problem& problem, const Candidates& candidates,
                                                       std::span<const Index> group_ends,
                                                       const std::function<void(double)>& on_part) {
  const auto report = [&](double part) {
    if (on_part) on_part(part);
  };
  std::vector<Atom> atoms;
  for (Index j = 0; j < candidates.size(); ++j) atoms.push_back(candidates.atom(j));
  const auto groups = empty_groups(problem.targets, candidates.size(), group_ends);
  if (!sum_by_moments(problem, atoms, group_ends, groups, report))
    sum_by_panels(problem, atoms, group_ends, groups, report);
  for_each_tile(candidates.size(), problem.workers.pool, [&](Index i, Index j) {
    for (const auto& group : groups) mirror_tile(group->gram, i, j);
  });
  return {groups.begin(), groups.end()};
}

double gram_sums_bytes(double candidates, double groups) {
  // Moments or a panel beside the matrices.
  return sizeof(double) * candidates *
         (groups * candidates + std::max(groups * kMomentsPerProduct * candidates, 1.0 * kPanelRows));
}

}  // namespace mfga
