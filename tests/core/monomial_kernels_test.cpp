#include "core/monomial_kernels.hpp"

#include "on_every_target.hpp"

namespace mfga {
namespace {

using MonomialKernels = OnEveryTarget;

// No factor, one, several, and the same twice; sums of nothing but a constant.
std::vector<SumTimesRows> some_sums() {
  return {{2, {}, {}, {}},
          {0, {0, 3}, {1.5, -2}, {}},
          {-1, {4, 1, 2}, {1, 0.5, 3}, {2}},
          {3, {5}, {-1}, {0, 4, 4}},
          {7, {}, {}, {1, 3}}};
}

TEST_F(MonomialKernels, SumsTimesRowsEqualTheNaiveLoop) {
  const std::vector<SumTimesRows> sums = some_sums();
  run([&] {
    for (const Index count : {0, 1, 3, 8, 15, 64, 65, 200}) {
      const Matrix rows = whole_numbers(6, count + 3, 4);
      std::vector<double> out(static_cast<std::size_t>(count) + 1, -1);
      set_sums_times_rows(sums, rows.values.data(), rows.cols, count, out.data());
      for (Index n = 0; n < count; ++n) {
        double expected = 0;
        for (const SumTimesRows& sum : sums) {
          double value = sum.constant;
          for (std::size_t k = 0; k < sum.summands.size(); ++k)
            value += sum.coefficients[k] * rows(sum.summands[k], n);
          for (const Index factor : sum.factors) value *= rows(factor, n);
          expected += value;
        }
        ASSERT_EQ(out[static_cast<std::size_t>(n)], expected) << n << " of " << count;
      }
      EXPECT_EQ(out.back(), -1) << "beyond the end";
    }
  });
}

TEST_F(MonomialKernels, SumsTimesRowsDoNotDependOnThePlace) {
  const std::vector<SumTimesRows> sums = some_sums();
  constexpr Index kCount = 100;
  const Matrix rows = reference::random_matrix(6, kCount, 5);
  run([&] {
    std::vector<double> together(kCount);
    set_sums_times_rows(sums, rows.values.data(), rows.cols, kCount, together.data());
    for (Index n = 0; n < kCount; ++n) {
      double alone = 0;
      set_sums_times_rows(sums, rows.values.data() + n, rows.cols, 1, &alone);
      ASSERT_EQ(alone, together[static_cast<std::size_t>(n)]) << n;
    }
  });
}

TEST_F(MonomialKernels, PairProductsEqualTheNaiveLoop) {
  run([] {
    for (const Index n_pairs : {0, 1, 2, 3, 4, 7, 48}) {
      for (const Index b_rows : {1, 3, 4, 5, 8, 9, 13, 20}) {
        for (const Index count : {0, 1, 7, 8, 64, 67}) {
          const Matrix rows = whole_numbers(5, count, 1);
          const Matrix b = whole_numbers(b_rows, count + 1, 2);
          Matrix c = whole_numbers(n_pairs, b_rows + 2, 3);
          Matrix expected = c;
          std::vector<const double*> first;
          std::vector<const double*> second;
          for (Index i = 0; i < n_pairs; ++i) {
            first.push_back(rows.row(i % 5));
            second.push_back(rows.row((3 * i + 1) % 5));
            for (Index j = 0; j < b_rows; ++j) {
              for (Index n = 0; n < count; ++n)
                expected(i, j) += rows(i % 5, n) * rows((3 * i + 1) % 5, n) * b(j, n);
            }
          }
          add_pair_products(first.data(), second.data(), n_pairs, b.values.data(), b_rows, b.cols, count,
                            c.values.data(), c.cols);
          ASSERT_EQ(c.values, expected.values) << n_pairs << " x " << b_rows << " x " << count;
        }
      }
    }
  });
}

}  // namespace
}  // namespace mfga
