#include "model/automatic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace mfga {
namespace {

// Whether some input takes more than two values.
bool has_numbers(const BlockedRows& rows) {
  std::vector<std::array<std::optional<double>, 2>> seen(static_cast<std::size_t>(rows.inputs()));
  Arena arena;
  for (Index b = 0; b < rows.blocks(); ++b) {
    const Arena::Scope scope(arena);
    const RowBlock block = rows.load(b, arena);
    for (Index j = 0; j < block.inputs; ++j) {
      auto& [first, second] = seen[static_cast<std::size_t>(j)];
      const double* x = block.input(j);
      for (Index n = 0; n < block.rows; ++n) {
        if (!first) {
          first = x[n];
        } else if (x[n] != *first && !second) {
          second = x[n];
        } else if (x[n] != *first && x[n] != *second) {
          return true;
        }
      }
    }
  }
  return false;
}

}  // namespace

std::string automatic_features(const BlockedRows& rows) {
  constexpr Index kMostPairs = 25000;
  constexpr Index kMostLandmarks = 500;
  constexpr Index kRowsPerLandmark = 4;
  std::string features = "linear";
  if (has_numbers(rows)) features += " + step(knots=32) + hinge(knots=32)";
  if (rows.inputs() == 1) return features;  // steps and hinges of one input leave nothing to products
  const Index pairs = rows.inputs() * (rows.inputs() + 1) / 2;
  features += fmt::format(" + gaussian(order={})", pairs <= kMostPairs ? 2 : 1);
  const Index landmarks = std::min(kMostLandmarks, rows.rows() / kRowsPerLandmark);
  if (landmarks > 0) features += fmt::format(" + landmark(count={})", landmarks);
  return features;
}

std::vector<ScaleKind> automatic_scales(const BlockedRows& standardised, Workers& workers) {
  constexpr double kHeavy =
      6;  // fourth moment; that of a normal distribution is 3, of a Laplace distribution 6
  std::vector<double> fourth_moments(static_cast<std::size_t>(standardised.inputs()));
  sum_over_blocks(standardised, workers, fourth_moments,
                  [](const RowBlock& block, Arena& /*arena*/, double* sums) {
                    for (Index j = 0; j < block.inputs; ++j) {
                      const double* x = block.input(j);
                      for (Index n = 0; n < block.rows; ++n) sums[j] += x[n] * x[n] * x[n] * x[n];
                    }
                  });
  std::vector<ScaleKind> scales;
  for (const double moment : fourth_moments) {
    const bool heavy = moment > kHeavy * static_cast<double>(standardised.rows());
    scales.push_back(heavy ? ScaleKind::kQuantile : ScaleKind::kStandard);
  }
  return scales;
}

}  // namespace mfga
