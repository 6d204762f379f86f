#include "data/number_codec.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace mfga {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// How many bytes the numbers take, which must come back to the last bit.
std::size_t bytes_of(const std::vector<double>& numbers) {
  std::string encoded;
  encode_numbers(numbers, encoded);
  std::vector<double> decoded(numbers.size());
  std::string_view left = encoded;
  EXPECT_TRUE(decode_numbers(left, decoded));
  EXPECT_TRUE(left.empty());
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    const bool are_nan = std::isnan(numbers[n]) && std::isnan(decoded[n]);
    EXPECT_TRUE(are_nan ||
                std::bit_cast<std::uint64_t>(numbers[n]) == std::bit_cast<std::uint64_t>(decoded[n]))
        << numbers[n] << " became " << decoded[n];
  }
  // Every shorter text is refused.
  std::string_view cut(encoded.data(), encoded.size() - 1);
  EXPECT_FALSE(decode_numbers(cut, decoded));
  return encoded.size();
}

std::vector<double> some(const std::vector<double>& numbers, std::size_t count = 512) {
  std::vector<double> result;
  for (std::size_t n = 0; n < count; ++n) result.push_back(numbers[n % numbers.size()]);
  return result;
}

TEST(NumberCodec, TakesFewBytes) {
  EXPECT_EQ(bytes_of(some({3.7})), 9U);
  EXPECT_LT(bytes_of(some({0, 1})), 512U + 20);
  EXPECT_LT(bytes_of(some({0, kNaN, 1e300, -1e-300})), 512U + 40);
  std::vector<double> whole;
  std::vector<double> decimal;
  std::vector<double> longer;
  std::vector<double> single;
  std::vector<double> any;
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (int n = 0; n < 512; ++n) {
    whole.push_back(n * 61 - 16000);
    decimal.push_back(static_cast<double>(n * 113 - 30000) / 100);
    longer.push_back(std::round(normal(random) * 1e6) / 1e6);
    single.push_back(static_cast<float>(normal(random)));
    any.push_back(normal(random));
  }
  whole[7] = decimal[8] = longer[9] = single[10] = any[11] = kNaN;
  EXPECT_EQ(bytes_of(whole), 2 + 2 * 512U);
  EXPECT_EQ(bytes_of(decimal), 2 + 2 * 512U);
  EXPECT_EQ(bytes_of(longer), 2 + 4 * 512U);
  EXPECT_EQ(bytes_of(single), 1 + 4 * 512U);
  EXPECT_EQ(bytes_of(any), 1 + 8 * 512U);
}

TEST(NumberCodec, LosesNothing) {
  std::mt19937_64 random(2);
  const std::vector<double> special = {0.0,          -0.0,
                                       0.1,          kNaN,
                                       1e22,         -1e-300,
                                       32767,        -32768,
                                       2e9,          -2147483648.0,
                                       2147483647.0, 0.3 - 0.1,
                                       5e-324,       std::numeric_limits<double>::max(),
                                       1e9 + 0.1,    123456.789};
  for (std::size_t count = 1; count <= 600; count += 37) {
    for (int round = 0; round < 30; ++round) {
      std::vector<double> numbers;
      const int kind = round % 5;
      for (std::size_t n = 0; n < count; ++n) {
        const std::uint64_t bits = random();
        const double whole = static_cast<double>(bits >> 33U);
        numbers.push_back(kind == 0   ? std::bit_cast<double>(bits)
                          : kind == 1 ? special[bits % special.size()]
                          : kind == 2 ? whole / 1e4
                          : kind == 3 ? static_cast<double>(bits % 40000) / 1e3
                                      : std::ldexp(whole, -10));
      }
      bytes_of(numbers);
    }
  }
}

}  // namespace
}  // namespace mfga
