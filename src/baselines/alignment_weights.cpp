// For a multiplier m > 0 the best weights are the projection of s / m on the simplex, q = max(0, (s -
// threshold) / m). The divergence falls as m grows, so the multiplier at which it meets the radius is found
// by bisection.
#include "baselines/alignment_weights.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace mfga {
namespace {

// The threshold t with sum over m of max(0, (s_m - t) / multiplier) = 1, for scores sorted from the largest.
double simplex_threshold(std::span<const double> sorted, double multiplier) {
  double sum = 0;
  double threshold = 0;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    sum += sorted[k];
    const double candidate = (sum - multiplier) / static_cast<double>(k + 1);
    if (sorted[k] <= candidate) break;
    threshold = candidate;
  }
  return threshold;
}

double divergence(std::span<const double> sorted, double multiplier) {
  const double threshold = simplex_threshold(sorted, multiplier);
  double square = 0;
  for (const double s : sorted) {
    if (s <= threshold) break;
    square += (s - threshold) / multiplier * ((s - threshold) / multiplier);
  }
  return static_cast<double>(sorted.size()) * square - 1;
}

}  // namespace

std::vector<double> alignment_weights(std::span<const double> scores, double radius) {
  std::vector<double> weights(scores.size(), scores.empty() ? 0 : 1 / static_cast<double>(scores.size()));
  if (scores.empty() || !(radius > 0)) return weights;
  const auto [lowest, highest] = std::minmax_element(scores.begin(), scores.end());
  if (*lowest == *highest) return weights;
  // Relative to the best score and in units of their spread: neither changes the weights, and a multiplier
  // that is small beside the scores is not lost to rounding.
  std::vector<double> relative;
  for (const double s : scores) relative.push_back((s - *highest) / (*highest - *lowest));
  std::vector<double> sorted(relative);
  std::sort(sorted.begin(), sorted.end(), std::greater<>());

  // Bracket: at a tiny multiplier the weights lie on the largest scores; at a large one they are nearly
  // uniform.
  double low = 1e-12;
  double high = 1;
  if (divergence(sorted, low) > radius) {
    while (divergence(sorted, high) > radius) high *= 2;
    for (int i = 0; i < 200; ++i) {
      const double middle = std::sqrt(low * high);
      const double found = divergence(sorted, middle);
      (found > radius ? low : high) = middle;
      if (found <= radius && radius - found <= 1e-10 * radius) break;
    }
  } else {
    high = low;
  }
  const double threshold = simplex_threshold(sorted, high);
  for (std::size_t m = 0; m < scores.size(); ++m)
    weights[m] = std::max(0.0, (relative[m] - threshold) / high);
  return weights;
}

}  // namespace mfga
