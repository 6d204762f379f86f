// Vector code against plain loops, on any numbers. The first byte chooses the function, the second how the
// numbers lie.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/row_kernels.hpp"
#include "fuzz/targets.hpp"

namespace mfga::fuzz {
namespace {

constexpr double kRelative = 1e-14;

bool are_near(double a, double b, double size) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b);
  return a == b || std::abs(a - b) <= kRelative * size + 1e-300;
}

// What can be summed without an overflow.
double moderate(double number) { return std::isfinite(number) ? std::clamp(number, -1e100, 1e100) : 1; }

void check_products(const std::vector<double>& numbers, Index rows) {
  const Index count = std::ssize(numbers) / rows;
  const double* const a = numbers.data();
  std::vector<double> products(static_cast<std::size_t>(rows * rows), 0.5);
  add_row_products(a, rows, count, a, rows, count, count, products.data(), rows);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < rows; ++j) {
      double sum = 0.5;
      double size = 0.5;
      for (Index n = 0; n < count; ++n) {
        sum += a[i * count + n] * a[j * count + n];
        size += std::abs(a[i * count + n] * a[j * count + n]);
      }
      require(are_near(products[static_cast<std::size_t>(i * rows + j)], sum, size), "products are sums");
    }
  }
}

void check_hadamard(const std::vector<double>& numbers) {
  constexpr Index kOrder = 4;
  const Index count = std::ssize(numbers) / kOrder;
  std::vector<double> values(numbers.begin(), numbers.begin() + kOrder * count);
  hadamard_transform(values.data(), kOrder, count);
  for (Index n = 0; n < count; ++n) {
    for (unsigned i = 0; i < kOrder; ++i) {
      double sum = 0;
      double size = 0;
      for (unsigned j = 0; j < kOrder; ++j) {
        const double number = numbers[static_cast<std::size_t>(j) * static_cast<std::size_t>(count) +
                                      static_cast<std::size_t>(n)];
        sum += __builtin_parity(i & j) != 0 ? -number : number;
        size += std::abs(number);
      }
      require(are_near(values[static_cast<std::size_t>(i) * static_cast<std::size_t>(count) +
                              static_cast<std::size_t>(n)],
                       sum, size),
              "the transform is the matrix");
    }
  }
}

void run(std::string_view bytes) {
  const unsigned what = take_byte(bytes) % 8;
  const unsigned how = take_byte(bytes);
  std::vector<double> numbers(bytes.size() / sizeof(double));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(double));
  const auto count = static_cast<Index>(numbers.size());
  std::vector<double> out(numbers.size());
  const auto each = [&](const auto& expected, auto size, const char* promise) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      require(are_near(out[i], expected(numbers[i]), size(numbers[i])), promise);
  };
  const auto of_result = [](const auto& function) {
    return [&](double x) { return std::max(std::abs(function(x)), 1e-290); };
  };
  switch (what) {
    case 0: {
      const double factor = how % 2 == 0 ? 1 : -0.37;
      for (double& number : numbers) number = std::clamp(moderate(number), -600.0, 600.0);
      exponentials(numbers.data(), factor, count, out.data());
      const auto expected = [&](double x) { return std::exp(factor * x); };
      // A rounding of the exponent is one of the result, as often as the exponent is large.
      each(
          expected, [&](double x) { return expected(x) * (1 + std::abs(x) / 50) + 1e-290; }, "exponentials");
      return;
    }
    case 1: {
      for (double& number : numbers) number = std::abs(moderate(number));
      square_roots(numbers.data(), count, out.data());
      const auto expected = [](double x) { return std::sqrt(x); };
      each(expected, of_result(expected), "square roots");
      return;
    }
    case 2: {
      for (double& number : numbers) number = std::max(std::abs(moderate(number)), 1e-300);
      logarithms(numbers.data(), count, out.data());
      const auto expected = [](double x) { return std::log(x); };
      each(
          expected, [](double x) { return 1 + std::abs(std::log(x)); }, "logarithms");
      return;
    }
    case 3: {
      for (double& number : numbers) number = std::clamp(moderate(number), -1e5, 1e5);
      cosines(numbers.data(), 3, count, out.data());
      each([](double x) { return 3 * std::cos(x); }, [](double x) { return 3 + std::abs(x); }, "cosines");
      return;
    }
    case 4: {
      for (double& number : numbers) number = moderate(number);
      double sum = 0;
      double size = 0;
      for (const double number : numbers) {
        sum += number;
        size += std::abs(number);
      }
      require(are_near(row_sum(numbers.data(), count), sum, size), "a sum is the sum");
      return;
    }
    case 5:
      for (double& number : numbers) number = moderate(number);
      check_products(numbers, 1 + how % 7);
      return;
    case 6:
      for (double& number : numbers) number = moderate(number);
      check_hadamard(numbers);
      return;
    default: {
      for (double& number : numbers) number = moderate(number);
      const Index rows = 1 + how % 5;
      const Index columns = count / (rows + 1);
      const double* const centre = numbers.data() + rows * columns;
      absolute_distances(numbers.data(), std::min(rows, columns), columns, centre, columns, out.data());
      for (Index n = 0; n < columns; ++n) {
        double sum = 0;
        for (Index j = 0; j < std::min(rows, columns); ++j)
          sum += std::abs(numbers[static_cast<std::size_t>(j * columns + n)] - centre[j]);
        require(are_near(out[static_cast<std::size_t>(n)], sum, sum), "distances");
      }
    }
  }
}

}  // namespace

constexpr Target kKernels = {"kernels", 600, run};

}  // namespace mfga::fuzz
