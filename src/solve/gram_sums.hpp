// All that the squared loss of any combination of candidates depends on, summed over rows.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "solve/problem.hpp"

namespace mfga {

// With Phi the values of all candidates, [rows x candidates], and every row as often as its weight says:
struct GramSums {
  Matrix gram;                          // Phi^T Phi
  std::vector<double> sums;             // Phi^T 1
  std::vector<double> target_products;  // Phi^T y
  double target_sum = 0;
  double target_square = 0;
  double rows = 0;  // the sum of their weights
};

// The sums of each group of consecutive rows, in one pass over all rows; a group ends before the row
// group_ends[g]. `on_part` is told the part that is done.
[[nodiscard]] std::vector<std::shared_ptr<const GramSums>> gram_sums(
    const Problem& problem, const Candidates& candidates, std::span<const Index> group_ends,
    const std::function<void(double)>& on_part = {});

// Consecutive rows of one group, counted from the first of some rows.
struct GroupRows {
  Index group = 0;
  Index first = 0;
  Index rows = 0;
};
[[nodiscard]] std::vector<GroupRows> group_rows(std::span<const Index> group_ends, Index first_row,
                                                Index n_rows);

// Blocks of rows, one for each arena; where ranks have different rows, on all of them.
[[nodiscard]] std::vector<RowBlock> load_panel(const Problem& problem, Index first_block,
                                               std::span<Arena> arenas);
// Tasks over the same rows are divided among ranks: whether one is this rank's. What each adds up, beside
// zeros where the tasks of others would, comes to all by join_tasks.
[[nodiscard]] bool is_own_task(const Workers& workers, Index task);
void join_tasks(const Workers& workers, std::span<double> numbers);

// Memory for this many groups.
[[nodiscard]] double gram_sums_bytes(double candidates, double groups);

}  // namespace mfga
