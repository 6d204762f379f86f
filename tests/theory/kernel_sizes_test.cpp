// B for every family: never below what the features of a dictionary come to on the rows.
#include "theory/kernel_sizes.hpp"

#include <gtest/gtest.h>

#include "features/expressions.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

// Of each summand: the largest sum of squares of its features on a row, as the sums are without weights.
std::vector<double> materialised_sizes(const BoundCandidates& bound) {
  const Eigen::MatrixXd features = reference::materialise(bound.candidates, bound.x);
  std::vector<double> sizes;
  for (std::size_t p = 0; p < bound.candidates.weights().size(); ++p) {
    const Index first = bound.candidates.offsets()[p];
    const Index count = bound.candidates.offsets()[p + 1] - first;
    sizes.push_back(features.middleCols(first, count).rowwise().squaredNorm().maxCoeff() /
                    bound.candidates.weights()[p]);
  }
  return sizes;
}

TEST(KernelSizes, AreNeverBelowWhatTheFeaturesComeTo) {
  Workers workers(2);
  for (const std::string& expression : kExpressions) {
    if (expression.starts_with("maclaurin")) continue;  // measured with another draw
    const BoundCandidates bound(expression, 100, 3);
    const std::vector<KernelSize> sizes = kernel_sizes(Dictionary(expression), bound.rows, workers);
    const std::vector<double> expected = materialised_sizes(bound);
    ASSERT_EQ(sizes.size(), expected.size()) << expression;
    for (std::size_t p = 0; p < sizes.size(); ++p) {
      EXPECT_GE(sizes[p].largest, expected[p] * (1 - 1e-6)) << expression << ": " << sizes[p].kernel;
      EXPECT_TRUE(std::isfinite(sizes[p].largest)) << expression;
      EXPECT_FALSE(sizes[p].basis.empty()) << expression;
    }
  }
}

TEST(KernelSizes, AreThoseOfTheFeaturesWhereTheyAreExact) {
  Workers workers(2);
  for (const std::string expression :
       {"linear", "polynomial", "polynomial(degree=3, offset=0)", "hinge(knots=3)", "additive",
        "additive(kernel=jensen-shannon, order=3)", "periodic(count=2, period=2.5)"}) {
    const BoundCandidates bound(expression, 100, 3);
    const double expected = materialised_sizes(bound)[0];
    EXPECT_NEAR(kernel_sizes(Dictionary(expression), bound.rows, workers)[0].largest, expected,
                1e-9 * expected)
        << expression;
  }
}

TEST(KernelSizes, AnotherDrawOfMaclaurinFeaturesIsOfTheSameSize) {
  Workers workers(1);
  const std::string expression = "maclaurin(count=20000, kernel=polynomial, degree=2, sigma=2)";
  const BoundCandidates bound(expression, 50, 3);
  const double expected = materialised_sizes(bound)[0];
  EXPECT_NEAR(kernel_sizes(Dictionary(expression), bound.rows, workers)[0].largest, expected, 0.1 * expected);
}

}  // namespace
}  // namespace mfga
