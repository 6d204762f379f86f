#include "solve/problem.hpp"

#include <cmath>

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

std::vector<double> row_losses(const Problem& problem, const ScoreFunction& score) {
  std::vector<double> losses(static_cast<std::size_t>(problem.rows.rows()));
  for_each_block(problem.rows, problem.workers, [&](const RowBlock& block, Arena& arena) {
    double* scores = arena.take(block.rows);
    score.evaluate(block, scores, arena);
    for (Index n = 0; n < block.rows; ++n) {
      const auto row = static_cast<std::size_t>(block.first_row + n);
      losses[row] = problem.loss.sum(scores + n, &problem.targets[row], 1);
    }
  });
  return losses;
}

PairedLosses paired_losses(std::span<const double> first, std::span<const double> second) {
  const auto n = static_cast<double>(first.size());
  PairedLosses result;
  double square = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    result.first += first[i] / n;
    result.second += second[i] / n;
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double apart = first[i] - second[i] - (result.first - result.second);
    square += apart * apart;
  }
  result.standard_error = std::sqrt(square / n / (n - 1));
  return result;
}

}  // namespace mfga
