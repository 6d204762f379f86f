#include "solve/problem.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/weight_unit.hpp"

namespace mfga {

double loss_sum(const Problem& problem, const ScoreFunction& score) {
  double total = 0;
  sum_over_blocks(problem.rows, problem.workers, {&total, 1},
                  [&](const RowBlock& block, Arena& arena, double* sum) {
                    double* scores = arena.take(block.rows);
                    score.evaluate(block, scores, arena);
                    *sum += problem.loss_of(block, scores);
                  });
  return total;
}

double mean_curvature(const Problem& problem, double score) {
  if (const std::optional<double> constant = problem.loss.constant_curvature()) return *constant;
  double sum = 0;
  sum_over_blocks(problem.rows, problem.workers, {&sum, 1},
                  [&](const RowBlock& block, Arena& arena, double* out) {
                    double* scores = arena.take(block.rows);
                    double* first = arena.take(block.rows);
                    double* second = arena.take(block.rows);
                    std::fill_n(scores, block.rows, score);
                    static_cast<void>(problem.derivatives_of(block, scores, first, second));
                    *out += std::accumulate(second, second + block.rows, 0.0);
                  });
  return sum / problem.count();
}

std::vector<double> row_losses(const Problem& problem, const ScoreFunction& score) {
  std::vector<double> losses(static_cast<std::size_t>(problem.rows.rows()));
  for_each_block(problem.rows, problem.workers, [&](const RowBlock& block, Arena& arena) {
    double* scores = arena.take(block.rows);
    score.evaluate(block, scores, arena);
    for (Index n = 0; n < block.rows; ++n) {
      const auto row = static_cast<std::size_t>(block.first_row + n);
      losses[row] = problem.loss.sum(scores + n, &problem.targets[row], nullptr, 1);
    }
  });
  return losses;
}

PairedLosses paired_losses(std::span<const double> first, std::span<const double> second,
                           std::span<const double> weights) {
  const auto weight = [&](std::size_t i) { return weights.empty() ? 1.0 : weights[i]; };
  double total = 0;
  for (std::size_t i = 0; i < first.size(); ++i) total += weight(i);
  PairedLosses result;
  double square = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    result.first += weight(i) * first[i] / total;
    result.second += weight(i) * second[i] / total;
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double apart = first[i] - second[i] - (result.first - result.second);
    square += weight(i) * apart * apart;
  }
  result.standard_error = std::sqrt(square / total / (total / weight_unit(weights) - 1));
  return result;
}

}  // namespace mfga
