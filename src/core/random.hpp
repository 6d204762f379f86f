// Counter-based random numbers (Philox, Random123): a number is a pure function of (seed, stream, index), so
// any of them can be made again anywhere, in any order, on any thread.
#pragma once

#include <Random123/philox.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "mfga/views.hpp"

namespace mfga {

// Who draws. Streams keep two uses of one seed apart.
enum class RandomStream : std::uint32_t {
  kSplit = 1,
  kSigmaQueries,
  kGeneratorInputs,
  kGeneratorNoise,
  kGeneratorModel,
  kFourier,
  kLandmarks,
  kSubsample,
  kFolds,
  kKernelProbes,
  kColumnSamples,
  kMaclaurin,
  kFourierSigns,
  kFourierDigits,
  kLandmarkSampling,
  kScale,
  kLeverage,
  kSummands,
  kCurvatureSigns,
};

class CounterRandom {
 public:
  CounterRandom(std::uint64_t seed, RandomStream stream)
      : key_{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)}},
        stream_(static_cast<std::uint32_t>(stream)) {}

  // Two independent uniform numbers in (0, 1) for each index.
  [[nodiscard]] std::pair<double, double> uniform_pair(std::uint64_t index) const {
    const auto words = words_of(index);
    return {to_unit(words[0], words[1]), to_unit(words[2], words[3])};
  }
  [[nodiscard]] double uniform(std::uint64_t index) const { return uniform_pair(index).first; }

  // 64 random bits for each index, such as the seed of a part.
  [[nodiscard]] std::uint64_t bits(std::uint64_t index) const {
    const auto words = words_of(index);
    return static_cast<std::uint64_t>(words[0]) << 32U | words[1];
  }

  // A standard normal number for each index (Box and Muller).
  [[nodiscard]] double normal(std::uint64_t index) const {
    const auto [u, v] = uniform_pair(index);
    return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
  }

 private:
  [[nodiscard]] r123::Philox4x32::ctr_type words_of(std::uint64_t index) const {
    const r123::Philox4x32::ctr_type counter = {
        {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32U), stream_, 0}};
    return r123::Philox4x32()(counter, key_);
  }
  static double to_unit(std::uint32_t high, std::uint32_t low) {
    const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32U | low) >> 11U;  // 53 bits
    return (static_cast<double>(bits) + 0.5) * 0x1p-53;
  }

  r123::Philox4x32::key_type key_;
  std::uint32_t stream_;
};

// `count` different rows out of `rows`, in random order.
[[nodiscard]] inline std::vector<Index> random_rows(Index rows, Index count, std::uint64_t seed,
                                                    RandomStream stream) {
  const CounterRandom random(seed, stream);
  std::vector<Index> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), Index{0});
  for (Index i = 0; i < count; ++i) {  // the front of a Fisher-Yates shuffle
    const double u = random.uniform(static_cast<std::uint64_t>(i));
    const Index j = i + static_cast<Index>(u * static_cast<double>(rows - i));
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]);
  }
  order.resize(static_cast<std::size_t>(count));
  return order;
}

}  // namespace mfga
