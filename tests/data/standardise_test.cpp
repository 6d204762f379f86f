#include "data/standardise.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "mfga/error.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

TEST(Standardisation, IsMeanAndPopulationDeviationOfTheColumnsThatVary) {
  Matrix x = reference::random_matrix(1234, 4, 1);
  for (Index i = 0; i < x.rows; ++i) {
    x(i, 1) = 7.25;                  // constant
    x(i, 2) = 1e9 + 1e-2 * x(i, 2);  // a large mean must not cost the deviation its digits
    x(i, 3) = 0.1 + 0.2;             // constant, and not a round number
  }
  Workers workers(2);
  const Standardisation result = fit_standardisation(x.view(), workers);
  EXPECT_EQ(result.constant_columns, (std::vector<Index>{1, 3}));
  ASSERT_EQ(result.inputs.size(), 2U);
  for (const InputColumn& input : result.inputs) {
    long double mean = 0;
    for (Index i = 0; i < x.rows; ++i) mean += x(i, input.column);
    mean /= static_cast<long double>(x.rows);
    long double variance = 0;
    for (Index i = 0; i < x.rows; ++i) variance += (x(i, input.column) - mean) * (x(i, input.column) - mean);
    const double deviation = static_cast<double>(std::sqrt(variance / static_cast<long double>(x.rows)));
    EXPECT_NEAR(input.mean, static_cast<double>(mean), 1e-12 * std::abs(static_cast<double>(mean)) + 1e-12);
    EXPECT_NEAR(input.deviation / deviation, 1, 1e-8);
  }
}

TEST(Standardisation, IsTheSameForAnyThreadsAndLayout) {
  const Matrix x = reference::random_matrix(40'000, 5, 3);
  Matrix transposed(5, 40'000);
  for (Index i = 0; i < x.rows; ++i) {
    for (Index j = 0; j < 5; ++j) transposed(j, i) = x(i, j);
  }
  Workers one(1);
  const Standardisation expected = fit_standardisation(x.view(), one);
  for (const int threads : {2, 5}) {
    Workers workers(threads);
    for (const ConstMatrixView view :
         {x.view(), ConstMatrixView{transposed.values.data(), x.rows, x.cols, 1, x.rows}}) {
      const Standardisation found = fit_standardisation(view, workers);
      ASSERT_EQ(found.inputs.size(), 5U);
      for (std::size_t j = 0; j < 5; ++j) {
        EXPECT_EQ(found.inputs[j].mean, expected.inputs[j].mean);
        EXPECT_EQ(found.inputs[j].deviation, expected.inputs[j].deviation);
      }
    }
  }
}

TEST(Standardisation, ColumnsOfAnyScaleVary) {
  const Matrix x = reference::random_matrix(1300, 1, 5);
  Workers workers(2);
  const InputColumn plain = fit_standardisation(x.view(), workers).inputs.at(0);
  for (const int exponent : {-1000, -600, 600, 1000}) {
    Matrix scaled = x;
    for (double& value : scaled.values) value = std::ldexp(value, exponent);
    const Standardisation result = fit_standardisation(scaled.view(), workers);
    ASSERT_EQ(result.inputs.size(), 1U) << exponent;
    EXPECT_NEAR(std::ldexp(result.inputs[0].mean, -exponent) / plain.mean, 1, 1e-9);
    EXPECT_NEAR(std::ldexp(result.inputs[0].deviation, -exponent) / plain.deviation, 1, 1e-12);
  }
  Matrix constant(5, 1);
  for (double& value : constant.values) value = 1e300;
  EXPECT_EQ(fit_standardisation(constant.view(), workers).constant_columns.size(), 1U);
}

TEST(Standardisation, NamesTheColumnThatIsTooLarge) {
  Matrix x = reference::random_matrix(600, 3, 2);
  x(5, 1) = -1.7e308;
  x(9, 1) = 1.7e308;
  Workers workers(1);
  const std::vector<std::string> names = {"a", "b", "c"};
  try {
    static_cast<void>(fit_standardisation(x.view(), workers, names));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    EXPECT_NE(std::string(error.what()).find("column \"b\""), std::string::npos) << error.what();
  }
}

TEST(Standardisation, NamesTheValueThatIsNotFinite) {
  Matrix x = reference::random_matrix(600, 3, 2);
  x(554, 1) = std::numeric_limits<double>::quiet_NaN();  // missing
  x(555, 1) = std::numeric_limits<double>::infinity();
  Workers workers(1);
  try {
    static_cast<void>(fit_standardisation(x.view(), workers));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    EXPECT_NE(std::string(error.what()).find("row 555, column 1"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace mfga
