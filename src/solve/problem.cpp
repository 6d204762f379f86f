#include "solve/problem.hpp"

namespace mfga {

double loss_sum(const Problem& problem, const ScoreFunction& score) {
  double total = 0;
  sum_over_blocks(problem.rows, problem.workers, {&total, 1},
                  [&](const RowBlock& block, Arena& arena, double* sum) {
                    double* scores = arena.take(block.rows);
                    score.evaluate(block, scores, arena);
                    *sum += problem.loss.sum(scores, problem.targets.data() + block.first_row, block.rows);
                  });
  return total;
}

}  // namespace mfga
