#include "model/fit_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/ranked_rows.hpp"
#include "mfga/table.hpp"
#include "model/target.hpp"
#include "solve/atom_products.hpp"

namespace mfga {
namespace {

// Of the rows of each class, the part whose label has a probability above 0.999; the smaller one of the two.
double certain_part(const Problem& problem, const ScoreFunction& score) {
  const double certain = std::log(0.999 / 0.001);
  std::vector<double> counts(4);  // certain rows and all, of either class
  sum_over_blocks(problem.rows, problem.workers, counts,
                  [&](const RowBlock& block, Arena& arena, double* out) {
                    double* scores = arena.take(block.rows);
                    score.evaluate(block, scores, arena);
                    for (Index n = 0; n < block.rows; ++n) {
                      const double target = problem.targets[static_cast<std::size_t>(block.first_row + n)];
                      double* of_class = out + (target > 0 ? 2 : 0);
                      const double weight = block.weights == nullptr ? 1 : block.weights[n];
                      of_class[0] += target * scores[n] > certain ? weight : 0;
                      of_class[1] += weight;
                    }
                  });
  return std::min(counts[0] / counts[1], counts[2] / counts[3]);
}

// The mean loss of the constant score that fits best.
double base_risk(const Problem& problem) {
  const double constant = problem.loss.best_constant({problem.targets, problem.rows.weights()});
  return loss_sum(problem, ScoreFunction({}, {}, {&constant, 1})) / problem.count();
}

}  // namespace

std::vector<std::string> leverage_warnings(const std::vector<RowLeverage>& rows, const TrainingData& data,
                                           const std::vector<InputColumn>& inputs) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> warnings;
  for (std::size_t i = 0; i < std::min(rows.size(), kMostNamed); ++i) {
    const Index row = rows[i].row;
    std::vector<double> numbers(static_cast<std::size_t>(data.x.cols));
    read_rows(data.x, {&row, 1}, 1, numbers.data());
    const auto number = [&](const InputColumn& input) {
      return numbers[static_cast<std::size_t>(input.column)];
    };
    const auto deviations = [&](const InputColumn& input) {
      const double value = number(input);
      return input.is_missing || std::isnan(value) ? 0 : std::abs(value - input.mean) / input.deviation;
    };
    const InputColumn& extreme = *std::ranges::max_element(inputs, {}, deviations);
    warnings.push_back(fmt::format(
        "the row {} decides its own fit (leverage {:.3f} of at most 1); its {} is {:.4g}, {:.1f} standard "
        "deviations from the mean. Check the row and leave it out if it is wrong, or use `scale=robust`",
        data.lines != nullptr ? fmt::format("in line {}", data.lines->line_of_row(row))
                              : fmt::format("{} (counted from 0)", row),
        rows[i].leverage, column_name(data, extreme.column), number(extreme), deviations(extreme)));
  }
  if (rows.size() > kMostNamed) {
    warnings.push_back(fmt::format("{} more rows have a leverage above one half", rows.size() - kMostNamed));
  }
  return warnings;
}

std::vector<std::string> separation_warnings(const Problem& problem, const ScoreFunction& score, double risk,
                                             bool converged) {
  // What a constant leaves of the loss is little where one class is rare, so losses are compared with that.
  constexpr double kSmallPart = 0.015;
  constexpr double kPartWithoutConvergence = 0.5;
  constexpr double kCertainPart = 0.99;
  const double base = base_risk(problem);
  std::string found;
  if (!converged && risk >= kPartWithoutConvergence * base) {
    return {"the coefficients did not converge: other values of them would fit better. Use a larger `ridge`"};
  }
  if (!converged) {
    found = "the coefficients did not converge";
  } else if (risk < kSmallPart * base) {
    found = fmt::format("the training log-loss is {:.2g}, where a constant has {:.2g}", risk, base);
  } else if (const double certain = certain_part(problem, score); certain >= kCertainPart) {
    found = fmt::format("{:.1f} % of the training rows of either class have a probability above 0.999",
                        100 * certain);
  } else {
    return {};
  }
  return {found +
          ": the classes can be separated almost perfectly, and the coefficients are as large as the "
          "ridge allows; probabilities will be too sure of themselves. Use a larger `ridge`, or "
          "`ridge=cv`"};
}

std::vector<double> atom_means(std::span<const Atom> atoms, const BlockedRows& rows, Workers& workers) {
  const AtomValues values(atoms);
  std::vector<double> means(atoms.size());
  const std::vector<double> ones(kBlockRows, 1.0);
  sum_over_blocks(rows, workers, means, [&](const RowBlock& block, Arena& arena, double* out) {
    values.correlate(block, block.weights != nullptr ? block.weights : ones.data(), kBlockRows, 1, out,
                     arena);
  });
  for (double& mean : means) mean /= rows.total_weight();
  return means;
}

double share_found_again(const Problem& problem, std::vector<Atom> atoms, const std::vector<Atom>& others) {
  constexpr double kAlike = 0.9;
  const auto n_first = static_cast<Index>(atoms.size());
  atoms.insert(atoms.end(), others.begin(), others.end());
  const auto n = static_cast<Index>(atoms.size());
  const Matrix products = atom_products(problem.rows, problem.targets, atoms, n, problem.workers);
  const Index first_atom = 1 + problem.target_columns();
  const auto covariance = [&](Index i, Index j) {
    return products(i, first_atom + j) - products(i, 0) * products(j, 0) / problem.count();
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

std::vector<std::string> stability_warnings(double share, Index terms) {
  constexpr double kUnstable = 0.5;
  if (share >= kUnstable) return {};
  return {fmt::format(
      "the choice of terms is not stable: of the first {} terms learned from one half of the rows, and "
      "from the other, {:.0f} % are found again in the other half's. Read the formula with care; more "
      "rows, fewer terms or a larger `ridge` help",
      terms, 100 * share)};
}

}  // namespace mfga
