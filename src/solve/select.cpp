#include "solve/select.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>

namespace mfga {
namespace {

// The `count` largest numbers of a list, seen one by one. Of many numbers nearly all are only compared with
// the smallest of these.
class Largest {
 public:
  explicit Largest(Index count) : count_(static_cast<std::size_t>(count)) {}

  void see(double number) {
    if (numbers_.size() == count_) {
      if (!(number > numbers_.front())) return;
      std::ranges::pop_heap(numbers_, std::greater<>());
      numbers_.pop_back();
    }
    numbers_.push_back(number);
    std::ranges::push_heap(numbers_, std::greater<>());
  }
  [[nodiscard]] bool empty() const { return numbers_.empty(); }
  [[nodiscard]] double smallest() const { return numbers_.front(); }
  [[nodiscard]] double largest() const { return std::ranges::max(numbers_); }

 private:
  std::size_t count_;
  std::vector<double> numbers_;  // a heap, the smallest first
};

}  // namespace

// Scores that overflow leave gradients that are no numbers, which have no place in an order.
std::vector<Index> largest_gradients(std::span<const double> gradient, const std::vector<bool>& excluded,
                                     Index count) {
  if (count == 0) return {};
  const auto size = [&](Index j) { return std::abs(gradient[static_cast<std::size_t>(j)]); };
  Largest found(count);
  for (std::size_t j = 0; j < gradient.size(); ++j) {
    if (!excluded[j] && !std::isnan(gradient[j])) found.see(std::abs(gradient[j]));
  }
  if (found.empty()) return {};
  const double tie = kTieTolerance * found.largest();
  // Candidates that tie with the last one taken compete with it for the last places.
  const double last = found.smallest();
  std::vector<Index> order;
  for (std::size_t j = 0; j < gradient.size(); ++j) {
    const double own = std::abs(gradient[j]);
    if ((own >= last || own >= last - tie) && !excluded[j]) order.push_back(static_cast<Index>(j));
  }
  std::ranges::stable_sort(order, std::greater<>(), size);
  for (auto begin = order.begin(); begin != order.end();) {
    auto group_end = begin + 1;
    while (group_end != order.end() && size(*(group_end - 1)) - size(*group_end) <= tie) ++group_end;
    std::sort(begin, group_end);
    begin = group_end;
  }
  if (std::ssize(order) > count) order.resize(static_cast<std::size_t>(count));
  return order;
}

std::vector<Index> possibly_largest(const Gradient& gradient, const std::vector<bool>& excluded,
                                    Index count) {
  if (count == 0) return {};
  const auto error = [&](std::size_t j) { return gradient.exact() ? 0.0 : gradient.errors[j]; };
  Largest at_least(count);
  double largest = 0;
  for (std::size_t j = 0; j < excluded.size(); ++j) {
    const double size = std::abs(gradient.values[j]);
    if (excluded[j] || std::isnan(size)) continue;
    at_least.see(size - error(j));
    largest = std::max(largest, size + error(j));
  }
  if (at_least.empty()) return {};
  // `count` candidates are certainly at least this large.
  const double last = at_least.smallest();
  const double threshold = last - 2 * kTieTolerance * largest;
  std::vector<Index> result;
  for (std::size_t j = 0; j < excluded.size(); ++j) {
    const double at_most = std::abs(gradient.values[j]) + error(j);
    if (!excluded[j] && (at_most >= last || at_most >= threshold)) result.push_back(static_cast<Index>(j));
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
          static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(std::abs(gradient[j])) >> kDroppedBits);
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
