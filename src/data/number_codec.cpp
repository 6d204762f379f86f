#include "data/number_codec.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "core/vectorise.hpp"

namespace mfga {
namespace {

static_assert(std::endian::native == std::endian::little);

enum class Way : char { kConstant, kListed, kShortDecimal, kLongDecimal, kSingle, kDouble };

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostListed = 256;
constexpr std::array<double, 10> kPowers = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

bool are_same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

template <class T>
void append(const T* values, std::size_t count, std::string& out) {
  out.append(reinterpret_cast<const char*>(values), count * sizeof(T));  // NOLINT
}

template <class T>
bool take(std::string_view& bytes, T* values, std::size_t count) {
  if (bytes.size() < count * sizeof(T)) return false;
  std::memcpy(values, bytes.data(), count * sizeof(T));
  bytes.remove_prefix(count * sizeof(T));
  return true;
}

// The lowest whole number stands for NaN.
template <class Whole>
bool fits_decimal(double number, double power) {
  if (std::isnan(number)) return true;
  const double whole = std::nearbyint(number * power);
  constexpr auto kMost = static_cast<double>(std::numeric_limits<Whole>::max());
  return std::abs(whole) <= kMost && are_same(static_cast<double>(static_cast<Whole>(whole)) / power, number);
}

// The number of decimals with which all numbers are whole ones of this size.
template <class Whole>
std::optional<std::size_t> decimals_of(std::span<const double> numbers) {
  std::size_t decimals = 0;
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    if (fits_decimal<Whole>(numbers[n], kPowers[decimals])) continue;
    // More decimals for this one may be too many for an earlier one.
    do {
      if (++decimals == kPowers.size()) return std::nullopt;
    } while (!fits_decimal<Whole>(numbers[n], kPowers[decimals]));
    for (std::size_t i = 0; i < n; ++i) {
      if (!fits_decimal<Whole>(numbers[i], kPowers[decimals])) return std::nullopt;
    }
  }
  return decimals;
}

template <class Whole>
void encode_decimals(std::span<const double> numbers, std::size_t decimals, std::string& out) {
  out += static_cast<char>(decimals);
  std::vector<Whole> wholes;
  for (const double number : numbers) {
    wholes.push_back(std::isnan(number) ? std::numeric_limits<Whole>::lowest()
                                        : static_cast<Whole>(std::nearbyint(number * kPowers[decimals])));
  }
  append(wholes.data(), wholes.size(), out);
}

MFGA_VECTORISED void divide(const std::int16_t* wholes, std::size_t count, double power, double* out) {
  for (std::size_t n = 0; n < count; ++n) {
    const double number = static_cast<double>(wholes[n]) / power;
    out[n] = wholes[n] == std::numeric_limits<std::int16_t>::lowest() ? kNaN : number;
  }
}

MFGA_VECTORISED void divide(const std::int32_t* wholes, std::size_t count, double power, double* out) {
  for (std::size_t n = 0; n < count; ++n) {
    const double number = static_cast<double>(wholes[n]) / power;
    out[n] = wholes[n] == std::numeric_limits<std::int32_t>::lowest() ? kNaN : number;
  }
}

template <class Whole>
bool decode_decimals(std::string_view& bytes, std::span<double> numbers) {
  char decimals = 0;
  if (!take(bytes, &decimals, 1) || decimals < 0 || static_cast<std::size_t>(decimals) >= kPowers.size())
    return false;
  constexpr std::size_t kAtOnce = 512;
  std::array<Whole, kAtOnce> wholes;
  for (std::size_t first = 0; first < numbers.size(); first += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, numbers.size() - first);
    if (!take(bytes, wholes.data(), count)) return false;
    divide(wholes.data(), count, kPowers[static_cast<std::size_t>(decimals)], numbers.data() + first);
  }
  return true;
}

// The distinct numbers by their bits, sorted; empty if they are too many.
std::vector<std::uint64_t> distinct(std::span<const double> numbers) {
  constexpr std::uint64_t kMixing = 0x9E3779B97F4A7C15U;
  constexpr unsigned kPlaceBits = 10;  // of a hash table that is at most a quarter full
  std::array<std::uint64_t, std::size_t{1} << kPlaceBits> found;
  std::array<bool, found.size()> is_taken{};
  std::vector<std::uint64_t> list;
  for (const double number : numbers) {
    const auto bits = std::bit_cast<std::uint64_t>(std::isnan(number) ? kNaN : number);
    std::size_t place = (bits * kMixing) >> (64U - kPlaceBits);
    while (is_taken[place] && found[place] != bits) place = (place + 1) % found.size();
    if (is_taken[place]) continue;
    if (list.size() == kMostListed) return {};
    is_taken[place] = true;
    found[place] = bits;
    list.push_back(bits);
  }
  std::ranges::sort(list);
  return list;
}

}  // namespace

void encode_numbers(std::span<const double> numbers, std::string& out) {
  const std::vector<std::uint64_t> list = distinct(numbers);
  if (list.size() == 1) {
    out += static_cast<char>(Way::kConstant);
    append(list.data(), 1, out);
    return;
  }
  const std::size_t as_list = list.empty() ? std::numeric_limits<std::size_t>::max()
                                           : 1 + list.size() * sizeof(std::uint64_t) + numbers.size();
  const auto short_decimals = decimals_of<std::int16_t>(numbers);
  const bool is_short = short_decimals && 1 + numbers.size() * sizeof(std::int16_t) <= as_list;
  if (is_short) {
    out += static_cast<char>(Way::kShortDecimal);
    encode_decimals<std::int16_t>(numbers, *short_decimals, out);
    return;
  }
  if (as_list <= 1 + numbers.size() * sizeof(std::int32_t)) {
    out += static_cast<char>(Way::kListed);
    out += static_cast<char>(list.size() - 1);
    append(list.data(), list.size(), out);
    for (const double number : numbers) {
      const auto bits = std::bit_cast<std::uint64_t>(std::isnan(number) ? kNaN : number);
      out += static_cast<char>(std::ranges::lower_bound(list, bits) - list.begin());
    }
    return;
  }
  if (std::ranges::all_of(numbers, [](double x) { return are_same(static_cast<float>(x), x); })) {
    out += static_cast<char>(Way::kSingle);
    const std::vector<float> singles(numbers.begin(), numbers.end());
    append(singles.data(), singles.size(), out);
  } else if (const auto decimals = decimals_of<std::int32_t>(numbers)) {
    out += static_cast<char>(Way::kLongDecimal);
    encode_decimals<std::int32_t>(numbers, *decimals, out);
  } else {
    out += static_cast<char>(Way::kDouble);
    append(numbers.data(), numbers.size(), out);
  }
}

bool decode_numbers(std::string_view& bytes, std::span<double> numbers) {
  char way = 0;
  if (!take(bytes, &way, 1)) return false;
  switch (static_cast<Way>(way)) {
    case Way::kConstant: {
      double number = 0;
      if (!take(bytes, &number, 1)) return false;
      std::ranges::fill(numbers, number);
      return true;
    }
    case Way::kListed: {
      unsigned char last = 0;
      std::array<double, kMostListed> list{};
      if (!take(bytes, &last, 1) || !take(bytes, list.data(), std::size_t{last} + 1)) return false;
      if (bytes.size() < numbers.size()) return false;
      for (std::size_t n = 0; n < numbers.size(); ++n)
        numbers[n] = list[static_cast<unsigned char>(bytes[n])];
      bytes.remove_prefix(numbers.size());
      return true;
    }
    case Way::kShortDecimal:
      return decode_decimals<std::int16_t>(bytes, numbers);
    case Way::kLongDecimal:
      return decode_decimals<std::int32_t>(bytes, numbers);
    case Way::kSingle: {
      if (bytes.size() < numbers.size() * sizeof(float)) return false;
      for (double& number : numbers) {
        float single = 0;
        if (!take(bytes, &single, 1)) return false;
        number = single;
      }
      return true;
    }
    case Way::kDouble:
      return take(bytes, numbers.data(), numbers.size());
  }
  return false;
}

}  // namespace mfga
