#include "model/automatic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "mfga/dictionary.hpp"

namespace mfga {
namespace {

// How many inputs take more than two values.
Index count_numbers(const BlockedRows& rows, Workers& workers) {
  const auto n_inputs = static_cast<std::size_t>(rows.inputs());
  const double none = std::numeric_limits<double>::quiet_NaN();
  // Of each input the first values that differ, at most three.
  constexpr std::size_t kMost = 3;
  const auto add = [](double value, double* seen) {
    for (std::size_t i = 0; i < kMost; ++i) {
      if (value == seen[i]) return;
      if (std::isnan(seen[i])) {
        seen[i] = value;
        return;
      }
    }
  };
  std::vector<double> seen(kMost * n_inputs);
  reduce_over_blocks(
      rows, workers, seen, none,
      [&](const RowBlock& block, Arena& /*arena*/, double* out) {
        for (Index j = 0; j < block.inputs; ++j) {
          double* own = out + static_cast<Index>(kMost) * j;
          for (Index n = 0; n < block.rows && std::isnan(own[kMost - 1]); ++n) add(block.input(j)[n], own);
        }
      },
      [&](double* out, const double* partial) {
        for (std::size_t i = 0; i < kMost * n_inputs; ++i) {
          if (!std::isnan(partial[i])) add(partial[i], out + i / kMost * kMost);
        }
      });
  Index count = 0;
  for (std::size_t j = 0; j < n_inputs; ++j) count += std::isnan(seen[kMost * j + kMost - 1]) ? 0 : 1;
  return count;
}

// Functions of single inputs, with as many knots as there are rows and time for; without any if all inputs
// have two values, or if there are so many inputs that a few knots of each are candidates without end.
std::string univariate_features(const BlockedRows& rows, Workers& workers) {
  constexpr Index kKnotsOfAll = 2000;
  constexpr Index kRowsPerKnot = 10;
  constexpr Index kFewest = 32;
  constexpr Index kMost = 200;
  constexpr Index kMostOfAll = 20000;
  constexpr Index kTooFew = 4;
  const Index numbers = count_numbers(rows, workers);
  if (numbers == 0) return "linear";
  const Index wanted =
      std::clamp(std::min(kKnotsOfAll / numbers, rows.rows() / kRowsPerKnot), kFewest, kMost);
  const Index knots = std::min(wanted, kMostOfAll / numbers);
  if (knots < kTooFew) return "linear";
  return fmt::format("linear + step(knots={}) + hinge(knots={})", knots, knots);
}

Index automatic_landmarks(const BlockedRows& rows) {
  constexpr Index kMostLandmarks = 500;
  constexpr Index kRowsPerLandmark = 4;
  return std::min(kMostLandmarks, rows.rows() / kRowsPerLandmark);
}

// Products of two inputs as they are.
constexpr std::string_view kProducts = "polynomial(degree=2, offset=0)";

// Passes over more pairs would take long.
bool has_few_pairs(const BlockedRows& rows) {
  constexpr Index kMostPairs = 25000;
  return rows.inputs() * (rows.inputs() + 1) / 2 <= kMostPairs;
}

// Products of two inputs' hinges, with as many knots as keep them from being very many; empty: they would
// have too few.
std::string hinge_products(const BlockedRows& rows) {
  constexpr Index kMostProducts = 10000;
  constexpr Index kMostKnots = 6;
  constexpr Index kFewestKnots = 2;
  const Index pairs = rows.inputs() * (rows.inputs() - 1) / 2;
  Index knots = kMostKnots;
  while (knots >= kFewestKnots && 4 * knots * knots * pairs > kMostProducts) --knots;
  return knots < kFewestKnots ? "" : fmt::format("hinge(knots={}, interactions=2)", knots);
}

}  // namespace

std::string automatic_features(const BlockedRows& rows, Workers& workers) {
  std::string features = univariate_features(rows, workers);
  if (rows.inputs() == 1) return features;  // steps and hinges of one input leave nothing to products
  features +=
      has_few_pairs(rows) ? fmt::format(" + {} + gaussian(order=2)", kProducts) : " + gaussian(order=1)";
  if (const Index count = automatic_landmarks(rows); count > 0)
    features += fmt::format(" + landmark(count={})", count);
  return features;
}

AutomaticDictionaries automatic_dictionaries(const BlockedRows& rows, Workers& workers) {
  const std::string whole = automatic_features(rows, workers);
  if (rows.inputs() == 1) return {{whole}, 0};
  std::vector<std::string> dictionaries;
  const std::string univariate = univariate_features(rows, workers);
  if (univariate != "linear") dictionaries.push_back(univariate);
  if (has_few_pairs(rows)) dictionaries.push_back(fmt::format("{} + {}", univariate, kProducts));
  if (const std::string products = hinge_products(rows); !products.empty() && univariate != "linear")
    dictionaries.push_back(fmt::format("{} + {}", univariate, products));
  const Index landmarks = automatic_landmarks(rows);
  // Narrow ones as well: tuning widens a bump, but hardly finds to where a narrow one is missed.
  if (landmarks > 0)
    dictionaries.push_back(
        fmt::format("{} + landmark(count={}, sigma=[auto*0.3, auto])", univariate, landmarks));
  const std::size_t place = dictionaries.size();
  dictionaries.push_back(whole);
  if (landmarks > 0) dictionaries.push_back(fmt::format("linear + landmark(count={})", landmarks));
  return {std::move(dictionaries), place};
}

std::string summed_features(const BlockedRows& rows, Workers& workers) {
  constexpr double kMostCandidates = 1000;
  constexpr Index kMostKnots = 32;
  constexpr Index kFewestKnots = 2;
  const Index inputs = rows.inputs();
  std::string features = "linear";
  const std::string with_products = fmt::format("{} + {}", features, kProducts);
  if (inputs > 1 && Dictionary(with_products).candidates(inputs) <= kMostCandidates / 2)
    features = with_products;
  const Index numbers = count_numbers(rows, workers);
  if (numbers == 0) return features;
  const double left = kMostCandidates - Dictionary(features).candidates(inputs);
  for (Index knots = kMostKnots; knots >= kFewestKnots; --knots) {
    const std::string hinges = fmt::format("hinge(knots={})", knots);
    if (Dictionary(hinges).candidates(numbers) <= left) return fmt::format("{} + {}", features, hinges);
  }
  return features;
}

Index affordable_rows(Index most, Index candidates, Index steps) {
  constexpr double kMostWork =
      2.5e10;  // rows times candidates times steps: minutes, with tuning, on two cores
  constexpr Index kFewest = 2000;
  const double work_of_a_row = static_cast<double>(candidates) * static_cast<double>(steps);
  const double rows = std::min(static_cast<double>(most), kMostWork / std::max(1.0, work_of_a_row));
  return std::min(most, std::max(kFewest, static_cast<Index>(rows)));
}

std::vector<ScaleKind> automatic_scales(const BlockedRows& standardised, Workers& workers) {
  constexpr double kHeavy =
      6;  // fourth moment; that of a normal distribution is 3, of a Laplace distribution 6
  // The sum of the squares is the weight of the rows that have a value: deviations are those of these.
  const auto inputs = static_cast<std::size_t>(standardised.inputs());
  std::vector<double> moments(2 * inputs);
  sum_over_blocks(standardised, workers, moments, [](const RowBlock& block, Arena& /*arena*/, double* sums) {
    for (Index j = 0; j < block.inputs; ++j) {
      const double* x = block.input(j);
      for (Index n = 0; n < block.rows; ++n) {
        const double weighted_square = (block.weights == nullptr ? 1 : block.weights[n]) * x[n] * x[n];
        sums[j] += weighted_square * x[n] * x[n];
        sums[block.inputs + j] += weighted_square;
      }
    }
  });
  std::vector<ScaleKind> scales;
  for (std::size_t j = 0; j < inputs; ++j) {
    const bool heavy = moments[j] > kHeavy * moments[inputs + j];
    scales.push_back(heavy ? ScaleKind::kQuantile : ScaleKind::kStandard);
  }
  return scales;
}

}  // namespace mfga
