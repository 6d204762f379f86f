#include "solve/gram_sums.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/rank_messages.hpp"
#include "solve/device_problem.hpp"
#include "solve/gram_moments.hpp"

namespace mfga {
namespace {

constexpr Index kFeatureBlocks = 4;  // row blocks whose features are held at once
constexpr Index kFeatureRows = kFeatureBlocks * kBlockRows;
constexpr Index kGramTile = 256;  // the Gram matrix is accumulated in tiles of this many rows and columns

// Features of some rows, feature by feature: [candidates x kFeatureRows].
using Panel = std::vector<double>;

// out += the products of two tiles of features over some rows of the panel.
void add_tile(const Panel& panel, const GroupRows& part, Index i, Index j, Matrix& gram) {
  const double* features = panel.data() + part.first;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(std::min(kGramTile, gram.rows - i)),
              static_cast<int>(std::min(kGramTile, gram.rows - j)), static_cast<int>(part.rows), 1.0,
              features + i * kFeatureRows, kFeatureRows, features + j * kFeatureRows, kFeatureRows, 1.0,
              gram.row(i) + j, static_cast<int>(gram.cols));
}

// `ones` and `targets` of the rows of the panel, both times the root of the rows' weights.
void add_sums(const Panel& panel, const double* ones, const double* targets, const GroupRows& part,
              Index first, GramSums& to) {
  for (Index j = first; j < std::min(first + kGramTile, to.gram.rows); ++j) {
    const double* value = panel.data() + j * kFeatureRows + part.first;
    double sum = 0;
    for (Index n = 0; n < part.rows; ++n) sum += ones[part.first + n] * value[n];
    to.sums[static_cast<std::size_t>(j)] += sum;
    to.target_products[static_cast<std::size_t>(j)] +=
        cblas_ddot(static_cast<int>(part.rows), value, 1, targets + part.first, 1);
  }
}

// Copies a tile above the diagonal to its place below it.
void mirror_tile(Matrix& gram, Index i, Index j) {
  for (Index row = i; row < std::min(i + kGramTile, gram.rows); ++row) {
    for (Index col = std::max(j, row + 1); col < std::min(j + kGramTile, gram.rows); ++col)
      gram(col, row) = gram(row, col);
  }
}

// Calls body(i, j) for the first row and column of every tile on and above the diagonal, in parallel.
template <class Body>
void for_each_tile(Index size, const Workers& workers, Body body) {
  const Index n_tiles = (size + kGramTile - 1) / kGramTile;
  workers.run(n_tiles * (n_tiles + 1) / 2, [&](Index task) {
    Index i = 0;
    for (Index row_tiles = n_tiles; task >= row_tiles; --row_tiles, ++i) task -= row_tiles;
    body(i * kGramTile, (i + task) * kGramTile);
  });
}

std::vector<std::shared_ptr<GramSums>> empty_groups(const Problem& problem, Index size,
                                                    std::span<const Index> group_ends) {
  const std::span<const double> weights = problem.rows.weights();
  std::vector<std::shared_ptr<GramSums>> groups;
  Index first = 0;
  for (const Index end : group_ends) {
    auto& group = groups.emplace_back(std::make_shared<GramSums>());
    group->gram = Matrix(size, size);
    group->sums.resize(static_cast<std::size_t>(size));
    group->target_products.resize(static_cast<std::size_t>(size));
    for (; first < end; ++first) {
      const double y = problem.targets[static_cast<std::size_t>(first)];
      const double weight = weights.empty() ? 1 : weights[static_cast<std::size_t>(first)];
      group->rows += weight;
      group->target_sum += weight * y;
      group->target_square += weight * y * y;
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
  Panel panel(static_cast<std::size_t>(values.size() * kFeatureRows));
  // Features, ones and targets are multiplied by the roots of the weights, so that products have the weights.
  std::vector<double> roots(kFeatureRows, 1.0);
  std::vector<double> targets(kFeatureRows);
  for (Index first_block = 0; first_block < problem.rows.blocks(); first_block += kFeatureBlocks) {
    const Index n_blocks = std::min(kFeatureBlocks, problem.rows.blocks() - first_block);
    std::vector<Arena> arenas(static_cast<std::size_t>(n_blocks));
    const std::vector<RowBlock> blocks = load_panel(problem, first_block, arenas);
    problem.workers.run(n_blocks, [&](Index b) {
      const auto lease = problem.workers.arenas.lend();
      const Arena::Scope scope(*lease);
      const RowBlock& block = blocks[static_cast<std::size_t>(b)];
      double* const features = panel.data() + b * kBlockRows;
      values.evaluate(block, 0, values.size(), features, kFeatureRows, *lease);
      double* const root = roots.data() + b * kBlockRows;
      for (Index n = 0; n < block.rows; ++n) {
        if (block.weights != nullptr) root[n] = std::sqrt(block.weights[n]);
        targets[static_cast<std::size_t>(b * kBlockRows + n)] =
            root[n] * problem.targets[static_cast<std::size_t>(block.first_row + n)];
      }
      if (block.weights == nullptr) return;
      for (Index j = 0; j < values.size(); ++j)
        for (Index n = 0; n < block.rows; ++n) features[j * kFeatureRows + n] *= root[n];
    });
    const Index first_row = first_block * kBlockRows;
    const Index n_rows = std::min(n_blocks * kBlockRows, problem.rows.rows() - first_row);
    const std::vector<GroupRows> parts = group_rows(group_ends, first_row, n_rows);
    for_each_tile(values.size(), problem.workers, [&](Index i, Index j) {
      if (!is_own_task(problem.workers, i / kGramTile + j / kGramTile)) return;
      for (const GroupRows& part : parts) {
        GramSums& to = *groups[static_cast<std::size_t>(part.group)];
        add_tile(panel, part, i, j, to.gram);
        if (i == j) add_sums(panel, roots.data(), targets.data(), part, i, to);
      }
    });
    on_part(static_cast<double>(first_row + n_rows) / static_cast<double>(problem.rows.rows()));
  }
  for (const auto& group : groups) {
    join_tasks(problem.workers, group->gram.values);
    join_tasks(problem.workers, group->sums);
    join_tasks(problem.workers, group->target_products);
  }
}

// Group after group on a device. Returns false, and does nothing, if there is none for this problem, or if
// the values of all atoms on the rows of a group do not fit there.
bool sum_on_device(const Problem& problem, std::span<const Atom> atoms, std::span<const Index> group_ends,
                   std::span<const std::shared_ptr<GramSums>> groups,
                   const std::function<void(double)>& on_part) {
  const auto size = static_cast<Index>(atoms.size());
  Index first = 0;
  Index most_rows = 0;
  for (const Index end : group_ends) most_rows = std::max(most_rows, end - std::exchange(first, end));
  if (!DeviceProblem::is_worthwhile(problem, size) || !DeviceProblem::has_room(problem, most_rows, size))
    return false;
  first = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<Index> positions(static_cast<std::size_t>(group_ends[g] - first));
    std::iota(positions.begin(), positions.end(), first);
    if (positions.empty()) continue;
    const BlockedRows rows = problem.rows.subset(positions, &problem.workers);
    DeviceProblem on_device(
        *problem.workers.device(),
        problem.with_rows(rows, problem.targets.subspan(static_cast<std::size_t>(first), positions.size())));
    const Matrix products = on_device.products(atoms);
    GramSums& to = *groups[g];
    for (Index i = 0; i < size; ++i) {
      to.sums[static_cast<std::size_t>(i)] = products(i, 0);
      to.target_products[static_cast<std::size_t>(i)] = products(i, 1);
      std::copy_n(products.row(i) + 2, size, to.gram.row(i));
    }
    first = group_ends[g];
    on_part(static_cast<double>(first) / static_cast<double>(problem.rows.rows()));
  }
  return true;
}

}  // namespace

std::vector<RowBlock> load_panel(const Problem& problem, Index first_block, std::span<Arena> arenas) {
  std::vector<RowBlock> blocks(arenas.size());
  if (problem.workers.ranks() == nullptr) {
    problem.workers.run(std::ssize(blocks), [&](Index b) {
      const auto i = static_cast<std::size_t>(b);
      blocks[i] = problem.rows.load(first_block + b, arenas[i]);
    });
    return blocks;
  }
  std::vector<Index> rows;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Index first = (first_block + static_cast<Index>(i)) * kBlockRows;
    rows.resize(static_cast<std::size_t>(std::min(kBlockRows, problem.rows.rows() - first)));
    std::iota(rows.begin(), rows.end(), first);
    blocks[i] = problem.rows.gather(rows, arenas[i]);
    blocks[i].first_row = first;
  }
  return blocks;
}

bool is_own_task(const Workers& workers, Index task) {
  return workers.ranks() == nullptr || task % workers.ranks()->size() == workers.ranks()->rank();
}

void join_tasks(const Workers& workers, std::span<double> numbers) {
  if (workers.ranks() == nullptr) return;
  const std::string_view bytes = bytes_of(numbers);
  const std::vector<std::string> all = workers.ranks()->talk(bytes);
  std::ranges::fill(numbers, 0.0);
  for (int rank = 0; rank < workers.ranks()->size(); ++rank) {
    Ranks::expect(all, rank, bytes.size());
    const char* place = all[static_cast<std::size_t>(rank)].data();
    for (double& number : numbers) {
      double theirs = 0;
      std::memcpy(&theirs, place, sizeof theirs);
      number += theirs;
      place += sizeof theirs;
    }
  }
}

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
  const auto groups = empty_groups(problem, candidates.size(), group_ends);
  if (!sum_on_device(problem, atoms, group_ends, groups, report) &&
      !sum_by_moments(problem, atoms, group_ends, groups, report))
    sum_by_panels(problem, atoms, group_ends, groups, report);
  for_each_tile(candidates.size(), problem.workers, [&](Index i, Index j) {
    for (const auto& group : groups) mirror_tile(group->gram, i, j);
  });
  return {groups.begin(), groups.end()};
}

double gram_sums_bytes(double candidates, double groups) {
  // Moments or a panel beside the matrices.
  return sizeof(double) * candidates *
         (groups * candidates + std::max(groups * kMomentsPerProduct * candidates, 1.0 * kFeatureRows));
}

}  // namespace mfga
