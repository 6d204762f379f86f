#include "model/fit_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mfga/table.hpp"
#include "model/target.hpp"
#include "solve/atom_products.hpp"

namespace mfga {
namespace {

// Of the rows, those whose probability is within 0.001 of 0 or 1.
double saturated_part(const Problem& problem, const ScoreFunction& score) {
  const double saturated = std::log(0.999 / 0.001);
  std::vector<double> count(1);
  sum_over_blocks(problem.rows, problem.workers, count,
                  [&](const RowBlock& block, Arena& arena, double* out) {
                    double* scores = arena.take(block.rows);
                    score.evaluate(block, scores, arena);
                    for (Index n = 0; n < block.rows; ++n) *out += std::abs(scores[n]) > saturated ? 1 : 0;
                  });
  return count[0] / static_cast<double>(problem.rows.rows());
}

}  // namespace

std::vector<std::string> leverage_warnings(const std::vector<RowLeverage>& rows, const TrainingData& data,
                                           const std::vector<InputColumn>& inputs) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> warnings;
  for (std::size_t i = 0; i < std::min(rows.size(), kMostNamed); ++i) {
    const Index row = rows[i].row;
    const auto deviations = [&](const InputColumn& input) {
      return std::abs(data.x(row, input.column) - input.mean) / input.deviation;
    };
    const InputColumn& extreme = *std::ranges::max_element(inputs, {}, deviations);
    warnings.push_back(fmt::format(
        "the row {} decides its own fit (leverage {:.3f} of at most 1); its {} is {:.4g}, {:.1f} standard "
        "deviations from the mean. Check the row and leave it out if it is wrong, or use --scale robust",
        data.lines != nullptr ? fmt::format("in line {}", data.lines->line_of_row(row))
                              : fmt::format("{} (counted from 0)", row),
        rows[i].leverage, column_name(data, extreme.column), data.x(row, extreme.column),
        deviations(extreme)));
  }
  if (rows.size() > kMostNamed) {
    warnings.push_back(fmt::format("{} more rows have a leverage above one half", rows.size() - kMostNamed));
  }
  return warnings;
}

std::vector<std::string> separation_warnings(const Problem& problem, const ScoreFunction& score, double risk,
                                             bool converged) {
  constexpr double kSmallRisk = 0.01;
  constexpr double kSaturatedPart = 0.99;
  std::string found;
  if (!converged) {
    found = "the coefficients did not converge";
  } else if (risk < kSmallRisk) {
    found = fmt::format("the training log-loss is {:.2g}", risk);
  } else if (const double saturated = saturated_part(problem, score); saturated >= kSaturatedPart) {
    found = fmt::format("{:.1f} % of the training rows have a probability within 0.001 of 0 or 1",
                        100 * saturated);
  } else {
    return {};
  }
  return {found +
          ": the classes can be separated almost perfectly, and the coefficients are as large as the "
          "ridge allows; probabilities will be too sure of themselves. Use a larger --ridge, or "
          "--ridge cv"};
}

double share_found_again(const Problem& problem, std::vector<Atom> atoms, const std::vector<Atom>& others) {
  constexpr double kAlike = 0.9;
  const auto n_first = static_cast<Index>(atoms.size());
  atoms.insert(atoms.end(), others.begin(), others.end());
  const auto n = static_cast<Index>(atoms.size());
  const Matrix products = atom_products(problem.rows, problem.targets, atoms, n, problem.workers);
  const auto covariance = [&](Index i, Index j) {
    return products(i, 2 + j) - products(i, 0) * products(j, 0) / static_cast<double>(problem.rows.rows());
  };
  Index found = 0;
  for (Index i = 0; i < n; ++i) {
    bool is_alike = false;
    for (Index j = 0; j < n && !is_alike; ++j) {
      if ((i < n_first) == (j < n_first)) continue;
      is_alike = std::abs(covariance(i, j)) >= kAlike * std::sqrt(covariance(i, i) * covariance(j, j));
    }
    if (is_alike) ++found;
  }
  return static_cast<double>(found) / static_cast<double>(n);
}

}  // namespace mfga
