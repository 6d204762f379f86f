#include "solve/gram_sums.hpp"

#include <cblas.h>

#include <algorithm>
#include <iterator>

namespace mfga {
namespace {

constexpr Index kPanelBlocks = 4;  // row blocks whose features are held at once
constexpr Index kPanelRows = kPanelBlocks * kBlockRows;
constexpr Index kTile = 256;  // the Gram matrix is accumulated in tiles of this many rows and columns

// The values of all candidates on some rows, candidate by candidate.
struct Panel {
  std::vector<double> values;  // [candidates x kPanelRows]
  const double* targets = nullptr;

  [[nodiscard]] const double* row(Index candidate) const { return values.data() + candidate * kPanelRows; }
};

// Consecutive rows of a panel that belong to one group.
struct Piece {
  GramSums* sums;
  Index first;
  Index rows;
};

void add_tile(const Panel& panel, const Piece& piece, Index i, Index j) {
  Matrix& gram = piece.sums->gram;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(std::min(kTile, gram.rows - i)),
              static_cast<int>(std::min(kTile, gram.rows - j)), static_cast<int>(piece.rows), 1.0,
              panel.row(i) + piece.first, kPanelRows, panel.row(j) + piece.first, kPanelRows, 1.0,
              gram.row(i) + j, static_cast<int>(gram.cols));
}

void add_sums(const Panel& panel, const Piece& piece, Index first) {
  GramSums& to = *piece.sums;
  for (Index j = first; j < std::min(first + kTile, to.gram.rows); ++j) {
    const double* value = panel.row(j) + piece.first;
    double sum = 0;
    for (Index n = 0; n < piece.rows; ++n) sum += value[n];
    to.sums[static_cast<std::size_t>(j)] += sum;
    to.target_products[static_cast<std::size_t>(j)] +=
        cblas_ddot(static_cast<int>(piece.rows), value, 1, panel.targets + piece.first, 1);
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

std::vector<Piece> pieces_of(const std::vector<std::shared_ptr<GramSums>>& groups, Index first_row,
                             Index n_rows) {
  std::vector<Piece> pieces;
  Index group_first = -first_row;  // relative to the panel
  for (const auto& group : groups) {
    const Index begin = std::max<Index>(group_first, 0);
    group_first += group->rows;
    const Index end = std::min(group_first, n_rows);
    if (begin < end) pieces.push_back({group.get(), begin, end - begin});
  }
  return pieces;
}

}  // namespace

std::vector<std::shared_ptr<const GramSums>> gram_sums(const Problem& problem, const Candidates& candidates,
                                                       std::span<const Index> group_ends,
                                                       const std::function<void(Index)>& on_rows) {
  const Index size = candidates.size();
  const auto groups = empty_groups(problem.targets, size, group_ends);
  std::vector<Atom> atoms;
  atoms.reserve(static_cast<std::size_t>(size));
  for (Index j = 0; j < size; ++j) atoms.push_back(candidates.atom(j));
  const AtomValues values(atoms);
  Panel panel{std::vector<double>(static_cast<std::size_t>(size * kPanelRows))};
  // Panels of rows in order; within a panel each tile belongs to one task, so the order of additions does
  // not depend on the number of threads.
  for (Index first_block = 0; first_block < problem.rows.blocks(); first_block += kPanelBlocks) {
    const Index n_blocks = std::min(kPanelBlocks, problem.rows.blocks() - first_block);
    problem.workers.pool.run(n_blocks, [&](Index b) {
      const auto lease = problem.workers.arenas.lend();
      const Arena::Scope scope(*lease);
      const RowBlock block = problem.rows.load(first_block + b, *lease);
      values.evaluate(block, 0, size, panel.values.data() + b * kBlockRows, kPanelRows, *lease);
    });
    const Index first_row = first_block * kBlockRows;
    const Index n_rows = std::min(n_blocks * kBlockRows, problem.rows.rows() - first_row);
    panel.targets = problem.targets.data() + first_row;
    const std::vector<Piece> pieces = pieces_of(groups, first_row, n_rows);
    for_each_tile(size, problem.workers.pool, [&](Index i, Index j) {
      for (const Piece& piece : pieces) {
        add_tile(panel, piece, i, j);
        if (i == j) add_sums(panel, piece, i);
      }
    });
    if (on_rows) on_rows(first_row + n_rows);
  }
  for_each_tile(size, problem.workers.pool, [&](Index i, Index j) {
    for (const auto& group : groups) mirror_tile(group->gram, i, j);
  });
  return {groups.begin(), groups.end()};
}

double gram_sums_bytes(double candidates, double groups) {
  return sizeof(double) * candidates * (groups * candidates + static_cast<double>(kPanelRows));
}

}  // namespace mfga
