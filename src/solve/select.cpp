#include "solve/select.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>

namespace mfga {

// Scores that overflow leave gradients that are no numbers, which have no place in an order.
std::vector<Index> largest_gradients(std::span<const double> gradient, const std::vector<bool>& excluded,
                                     Index count) {
  std::vector<Index> order;
  order.reserve(gradient.size());
  for (std::size_t j = 0; j < gradient.size(); ++j) {
    if (!excluded[j] && !std::isnan(gradient[j])) order.push_back(static_cast<Index>(j));
  }
  const auto size = [&](Index j) { return std::abs(gradient[static_cast<std::size_t>(j)]); };
  const auto larger = [&](Index a, Index b) { return size(a) != size(b) ? size(a) > size(b) : a < b; };
  count = std::min(count, static_cast<Index>(order.size()));
  if (count == 0) return {};
  std::nth_element(order.begin(), order.begin() + count - 1, order.end(), larger);
  const double largest = size(*std::min_element(order.begin(), order.begin() + count, larger));
  const double tie = kTieTolerance * largest;
  // Candidates that tie with the last one taken compete with it for the last places.
  const double last = size(order[static_cast<std::size_t>(count - 1)]);
  const auto end =
      std::partition(order.begin() + count, order.end(), [&](Index j) { return size(j) >= last - tie; });
  std::sort(order.begin(), end, larger);
  for (auto begin = order.begin(); begin != end;) {
    auto group_end = begin + 1;
    while (group_end != end && size(*(group_end - 1)) - size(*group_end) <= tie) ++group_end;
    std::sort(begin, group_end);
    begin = group_end;
  }
  order.resize(static_cast<std::size_t>(count));
  return order;
}

std::vector<Index> possibly_largest(const Gradient& gradient, const std::vector<bool>& excluded,
                                    Index count) {
  const auto error = [&](std::size_t j) { return gradient.exact() ? 0.0 : gradient.errors[j]; };
  std::vector<double> at_least;
  double largest = 0;
  for (std::size_t j = 0; j < excluded.size(); ++j) {
    const double size = std::abs(gradient.values[j]);
    if (excluded[j] || std::isnan(size)) continue;
    at_least.push_back(size - error(j));
    largest = std::max(largest, size + error(j));
  }
  count = std::min(count, static_cast<Index>(at_least.size()));
  if (count == 0) return {};
  // `count` candidates are certainly at least this large.
  std::nth_element(at_least.begin(), at_least.begin() + count - 1, at_least.end(), std::greater<>());
  const double threshold = at_least[static_cast<std::size_t>(count - 1)] - 2 * kTieTolerance * largest;
  std::vector<Index> result;
  for (std::size_t j = 0; j < excluded.size(); ++j) {
    if (!excluded[j] && std::abs(gradient.values[j]) + error(j) >= threshold)
      result.push_back(static_cast<Index>(j));
  }
  return result;
}

std::vector<bool> beside_larger(std::span<const double> gradient, const std::vector<bool>& excluded) {
  constexpr std::size_t kPlaces = 6;
  constexpr int kDroppedBits = 42;  // of a double: the exponent and ten bits of the fraction are left
  const std::size_t n = gradient.size();
  std::vector<std::uint32_t> sizes(n);
  for (std::size_t j = 0; j < n; ++j) {
    if (!excluded[j] && !std::isnan(gradient[j]))
      sizes[j] =
          1 + static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(std::abs(gradient[j])) >> kDroppedBits);
  }
  std::vector<bool> result(n);
  for (std::size_t j = 0; j < n; ++j) {
    bool is_peak = sizes[j] > 0;
    for (std::size_t i = j - std::min(j, kPlaces); is_peak && i < j; ++i) is_peak = sizes[i] < sizes[j];
    for (std::size_t i = j + 1; is_peak && i < std::min(n, j + kPlaces + 1); ++i)
      is_peak = sizes[i] <= sizes[j];
    result[j] = !is_peak;
  }
  return result;
}

}  // namespace mfga
