// What is special to the families of functions of single inputs, and of pairs of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "features/candidates.hpp"
#include "features/expressions.hpp"
#include "reference_matrices.hpp"

namespace mfga {
namespace {

// Rows whose columns have few values, one far more often than others.
Matrix skewed_matrix() {
  Matrix x(40, 3);
  for (Index n = 0; n < x.rows; ++n) {
    x(n, 0) = n % 2 == 0 ? 0 : 1;                   // two values
    x(n, 1) = n < 30 ? 0 : n < 38 ? 1 : 2;          // 0 thirty times, 1 eight times, 2 twice
    x(n, 2) = n < 25 ? 7 : static_cast<double>(n);  // 7 twenty-five times, then all different
  }
  return x;
}

TEST(StepFamily, EveryKnotSplitsTheRows) {
  const Matrix x = skewed_matrix();
  const BlockedRows rows(x.view(), reference::plain_inputs(3));
  const Candidates candidates(Dictionary("step(knots=4)"), {3, 1, 0, &rows});
  std::vector<std::vector<double>> knots(3);
  for (Index j = 0; j < candidates.size(); ++j) {
    const Atom atom = candidates.atom(j);
    knots[static_cast<std::size_t>(atom.inputs[0])].push_back(atom.parameters[0]);
    // Divided by the number of knots of its input.
    EXPECT_EQ(atom.nu, atom.inputs[0] == 0 ? 1 : atom.inputs[0] == 1 ? 0.5 : 0.25);
  }
  EXPECT_EQ(knots[0], (std::vector{0.5}));
  EXPECT_EQ(knots[1], (std::vector{0.5, 1.5}));
  EXPECT_EQ(knots[2], (std::vector{16.0, 27.5, 31.5, 35.5}));  // 7 counts as one part of five
}

TEST(StepFamily, InnerProductsConvergeToTheSmallerDistributionFunction) {
  const BoundCandidates bound("step(knots=2000)", 2001, 1);
  std::vector<double> sorted(bound.x.values.begin(), bound.x.values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto distribution = [&](double x) {
    return static_cast<double>(std::upper_bound(sorted.begin(), sorted.end(), x) - sorted.begin()) / 2001;
  };
  const Matrix x = reference::random_matrix(9, 1, 31);
  EXPECT_LT(
      kernel_error(bound.candidates, x,
                   [&](Index i, Index j) { return std::min(distribution(x(i, 0)), distribution(x(j, 0))); }),
      1e-3);
}

TEST(HingeFamily, InnerProductsConvergeToTheMeanOverKnots) {
  const BoundCandidates bound("hinge(knots=1000)", 4000, 1);
  const Matrix x = reference::random_matrix(9, 1, 31);
  EXPECT_LT(kernel_error(bound.candidates, x,
                         [&](Index i, Index j) {
                           double sum = 0;
                           for (const double t : bound.x.values) {
                             sum += std::max(0.0, x(i, 0) - t) * std::max(0.0, x(j, 0) - t) +
                                    std::max(0.0, t - x(i, 0)) * std::max(0.0, t - x(j, 0));
                           }
                           return sum / 4000;
                         }),
            0.02);
}

TEST(HingeFamily, PairsAreTheProductsOfTheKernelsOfTwoInputs) {
  const BoundCandidates bound("hinge(knots=5, interactions=2)", 200, 3);
  std::vector<Eigen::MatrixXd> kernels(3, Eigen::MatrixXd::Zero(9, 9));  // by input
  const Matrix x = reference::random_matrix(9, 3, 31);
  const Index singles = 3 * 2 * 5;
  for (Index h = 0; h < singles; ++h) {
    const Atom atom = bound.candidates.atom(h);
    for (Index i = 0; i < x.rows; ++i) {
      for (Index j = 0; j < x.rows; ++j) {
        kernels[static_cast<std::size_t>(atom.inputs[0])](i, j) +=
            reference::atom_value(atom, x.row(i), 3) * reference::atom_value(atom, x.row(j), 3);
      }
    }
  }
  EXPECT_EQ(bound.candidates.size(), singles + 3 * 10 * 10);
  EXPECT_LT(kernel_error(bound.candidates, x,
                         [&](Index i, Index j) {
                           const double a = kernels[0](i, j);
                           const double b = kernels[1](i, j);
                           const double c = kernels[2](i, j);
                           return a + b + c + a * b + a * c + b * c;
                         }),
            1e-10);
}

TEST(HingeFamily, FormulasAreReadable) {
  const std::vector<std::string> names = {"age", "income"};
  EXPECT_EQ(describe({"hinge", 1, {0}, {1}, {-0.5, 1}}, names).text, "max(0, age + 0.5)");
  EXPECT_EQ(describe({"hinge", 1, {0, 1}, {1, 1}, {0.25, 1, 1.5, -1}}, names).text,
            "max(0, age - 0.25) * max(0, 1.5 - income)");
}

TEST(SplineFamily, FunctionsSumToOneOnTheTrainingRows) {
  for (const int degree : {0, 1, 2, 3, 4, 5}) {
    const BoundCandidates bound("spline(knots=6, degree=" + std::to_string(degree) + ")", 100, 2);
    EXPECT_EQ(bound.candidates.size(), 2 * (7 + degree));
    const Eigen::MatrixXd features = reference::materialise(bound.candidates, bound.x);
    for (Index n = 0; n < bound.x.rows; ++n) EXPECT_NEAR(features.row(n).sum(), 2, 1e-12);  // one per input
  }
}

TEST(SplineFamily, HasNoMoreFunctionsThanAColumnHasValues) {
  const Matrix x = skewed_matrix();
  const BlockedRows rows(x.view(), reference::plain_inputs(3));
  const Candidates candidates(Dictionary("spline(knots=6)"), {3, 1, 0, &rows});
  std::vector<int> functions(3);
  for (Index j = 0; j < candidates.size(); ++j)
    ++functions[static_cast<std::size_t>(candidates.atom(j).inputs[0])];
  EXPECT_EQ(functions[0], 2);
  EXPECT_EQ(functions[1], 3);
  EXPECT_LE(functions[2], 10);
}

TEST(PeriodicFamily, InnerProductsAreTheSumOfCosines) {
  const Matrix x = reference::random_matrix(9, 2, 31);
  const Candidates candidates(Dictionary("periodic(count=5, period=3)"), {2, 1});
  EXPECT_LT(kernel_error(candidates, x,
                         [&](Index i, Index j) {
                           double sum = 0;
                           for (int k = 1; k <= 5; ++k) {
                             for (Index input = 0; input < 2; ++input)
                               sum += std::cos(2 * std::numbers::pi * k * (x(i, input) - x(j, input)) / 3);
                           }
                           return sum;
                         }),
            1e-12);
}

TEST(PeriodicFamily, ThePeriodIsTwiceTheRange) {
  const Matrix x = skewed_matrix();
  const BlockedRows rows(x.view(), reference::plain_inputs(3));
  const Candidates candidates(Dictionary("periodic(count=1)"), {3, 1, 0, &rows});
  EXPECT_EQ(candidates.atom(2).parameters, (std::vector<double>{4, 1, 0}));
  EXPECT_EQ(describe(candidates.atom(3), std::vector<std::string>{"a", "age", "c"}).text,
            "sin(2 pi age / 4)");
}

TEST(AdditiveFamily, InnerProductsApproachTheKernels) {
  Matrix x(40, 2);
  for (Index n = 0; n < x.rows; ++n) {
    x(n, 0) = 0.1 * static_cast<double>(n);
    x(n, 1) = 3 + std::sin(static_cast<double>(n));
  }
  const BlockedRows rows(x.view(), reference::plain_inputs(2));
  const double means[] = {1.95, 3 + 1.0 / 40 * [] {
                            double sum = 0;
                            for (int n = 0; n < 40; ++n) sum += std::sin(n);
                            return sum;
                          }()};
  const auto chi2 = [](double u, double v) { return u + v > 0 ? 2 * u * v / (u + v) : 0; };
  const auto intersection = [](double u, double v) { return std::min(u, v); };
  const auto jensen_shannon = [](double u, double v) {
    return (u > 0 ? u / 2 * std::log2((u + v) / u) : 0) + (v > 0 ? v / 2 * std::log2((u + v) / v) : 0);
  };
  const auto check = [&](const std::string& name, const std::vector<double>& most, auto kernel) {
    const std::vector<int> orders = {1, 3, 10};
    for (std::size_t i = 0; i < orders.size(); ++i) {
      const Candidates candidates(
          Dictionary("additive(kernel=" + name + ", order=" + std::to_string(orders[i]) + ")"),
          {2, 1, 0, &rows});
      const double error = kernel_error(candidates, x, [&](Index a, Index b) {
        return kernel(x(a, 0) / means[0], x(b, 0) / means[0]) +
               kernel(x(a, 1) / means[1], x(b, 1) / means[1]);
      });
      EXPECT_LT(error, most[i]) << name << " " << orders[i];
    }
  };
  check("chi2", {0.15, 0.03, 0.005}, chi2);
  check("jensen-shannon", {0.15, 0.03, 0.005}, jensen_shannon);
  check("intersection", {0.6, 0.4, 0.2}, intersection);
}

TEST(AdditiveFamily, ZeroIsZeroOrTheSmallestValue) {
  Matrix x = skewed_matrix();
  x(3, 1) = -4;
  const std::vector<InputColumn> inputs = {{0, 0.5, 2}, {1, 1, 1}, {2, 10, 5}};
  const BlockedRows rows(x.view(), inputs);
  const Candidates candidates(Dictionary("additive(order=0)"), {3, 1, 0, &rows});
  EXPECT_EQ(candidates.atom(0).parameters[0], -0.25);
  EXPECT_EQ(candidates.atom(1).parameters[0], -5);
  EXPECT_EQ(candidates.atom(2).parameters[0], -2);
}

}  // namespace
}  // namespace mfga
