#include "solve/problem.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/weight_unit.hpp"
#include "features/family.hpp"

namespace mfga {

std::vector<double> Problem::best_constants() const {
  if (intercept == Intercept::kNone) return std::vector<double>(static_cast<std::size_t>(outputs()));
  return loss.best_constants({targets, rows.weights(), target_columns()});
}

void archive(Archive& bytes, ActiveSet& active) {
  bytes(active.candidates, active.atoms, active.theta, active.intercepts);
}

bool are_candidates(std::span<const Index> list, Index candidates, Index least) {
  return std::ranges::all_of(list,
                             [&](Index candidate) { return candidate >= least && candidate < candidates; });
}

bool is_possible(const ActiveSet& active, const Problem& problem, Index candidates, Index terms) {
  const auto is_finite = [](double value) { return std::isfinite(value); };
  const auto is_valid = [&](const Atom& atom) { return is_possible(atom, problem.rows.inputs()); };
  constexpr Index kNone = -1;
  return std::ssize(active.intercepts) == problem.outputs() &&
         active.atoms.size() == active.candidates.size() && active.size() <= terms &&
         active.theta.size() == active.atoms.size() * active.outputs() &&
         are_candidates(active.candidates, candidates, kNone) &&
         std::ranges::all_of(active.theta, is_finite) && std::ranges::all_of(active.intercepts, is_finite) &&
         std::ranges::all_of(active.atoms, is_valid);
}

double loss_sum(const Problem& problem, const ScoreFunction& score) {
  double total = 0;
  sum_over_blocks(problem.rows, problem.workers, {&total, 1},
                  [&](const RowBlock& block, Arena& arena, double* sum) {
                    double* scores = arena.take(score.outputs() * block.stride);
                    score.evaluate(block, scores, arena);
                    *sum += problem.loss_of(block, scores);
                  });
  return total;
}

double mean_curvature(const Problem& problem, std::span<const double> scores_of_all) {
  if (const std::optional<double> constant = problem.loss.constant_curvature()) return *constant;
  double sum = 0;
  sum_over_blocks(
      problem.rows, problem.workers, {&sum, 1}, [&](const RowBlock& block, Arena& arena, double* out) {
        const auto outputs = std::ssize(scores_of_all);
        double* scores = arena.take(outputs * block.stride);
        double* first = arena.take(outputs * block.stride);
        double* second = arena.take(outputs * block.stride);
        for (Index k = 0; k < outputs; ++k)
          std::fill_n(scores + k * block.stride, block.rows, scores_of_all[static_cast<std::size_t>(k)]);
        static_cast<void>(problem.derivatives_of(block, scores, first, second));
        for (Index k = 0; k < outputs; ++k) {
          const double* own = second + k * block.stride;
          *out += std::accumulate(own, own + block.rows, 0.0);
        }
      });
  return sum / problem.count() / static_cast<double>(scores_of_all.size());
}

std::optional<double> curvature_of_all_rows(const Problem& problem) {
  if (const std::optional<double> constant = problem.loss.constant_curvature()) return constant;
  if (problem.outputs() == 1) return std::nullopt;
  return mean_curvature(problem, problem.best_constants());
}

std::vector<double> row_losses(const Problem& problem, const ScoreFunction& score) {
  std::vector<double> losses(static_cast<std::size_t>(problem.rows.rows()));
  for_each_block(problem.rows, problem.workers, [&](const RowBlock& block, Arena& arena) {
    double* scores = arena.take(score.outputs() * block.stride);
    score.evaluate(block, scores, arena);
    for (Index n = 0; n < block.rows; ++n) {
      ScoredRows row = problem.scored(block, scores);
      row.scores += n;
      row.targets += n;
      row.weights = nullptr;
      row.rows = 1;
      losses[static_cast<std::size_t>(block.first_row + n)] = problem.loss.sum(row);
    }
  });
  share_rows(problem.rows, problem.workers, losses);
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
