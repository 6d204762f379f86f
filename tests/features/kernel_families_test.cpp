// What is special to the families of kernels of all inputs.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <numbers>

#include "core/random.hpp"
#include "features/candidates.hpp"
#include "features/expressions.hpp"
#include "mfga/error.hpp"
#include "reference_matrices.hpp"

namespace mfga {
namespace {

TEST(GaussianFamily, InnerProductsConvergeToTheKernel) {
  const Index d = 3;
  const double sigma = 2.5;
  const Matrix x = reference::random_matrix(8, d, 5);
  double last_error = 1;
  for (const int order : {0, 2, 4, 8, 12}) {
    const Candidates candidates(Dictionary("gaussian(sigma=2.5, order=" + std::to_string(order) + ")"),
                                {d, 1});
    const Eigen::MatrixXd features = reference::materialise(candidates, x);
    double error = 0;
    for (Index i = 0; i < x.rows; ++i) {
      for (Index j = 0; j < x.rows; ++j) {
        double square = 0;
        for (Index k = 0; k < d; ++k) square += (x(i, k) - x(j, k)) * (x(i, k) - x(j, k));
        error = std::max(
            error, std::abs(features.row(i).dot(features.row(j)) - std::exp(-square / (2 * sigma * sigma))));
      }
    }
    EXPECT_LT(error, last_error);
    last_error = error;
  }
  EXPECT_LT(last_error, 1e-6);
}

// The same for a kernel by its name.
double kernel_error(const Candidates& candidates, const Matrix& x, const std::string& kernel,
                    double parameter, double sigma) {
  return kernel_error(candidates, x, [&](Index i, Index j) {
    return reference::kernel_value(kernel, parameter, sigma, x.row(i), x.row(j), x.cols);
  });
}

TEST(FourierFamily, InnerProductsConvergeToTheKernel) {
  const Matrix x = reference::random_matrix(6, 3, 5);
  const auto error = [&](const std::string& kernel, double parameter, const std::string& draw, int count) {
    const std::string call = parameter > 0 ? kernel + "(" + std::to_string(parameter) + ")" : kernel;
    return kernel_error(Candidates(Dictionary("fourier(count=" + std::to_string(count) +
                                              ", sigma=1.5, kernel=" + call + ", draw=" + draw + ")"),
                                   {3, 1, 11}),
                        x, kernel, parameter, 1.5);
  };
  for (const std::string draw : {"iid", "orthogonal", "structured", "halton", "sobol"}) {
    // A structure with few inputs is close to the kernel, but not arbitrarily.
    EXPECT_LT(error("gaussian", 0, draw, 40000), 0.025) << draw;
    EXPECT_LT(error("matern", 0.5, draw, 40000), 0.025) << draw;
    EXPECT_LT(error("matern", 2.25, draw, 40000), 0.025) << draw;
    if (draw == "orthogonal" || draw == "structured") continue;
    EXPECT_LT(error("laplace", 0, draw, 40000), 0.025) << draw;
    EXPECT_LT(error("cauchy", 0, draw, 40000), 0.025) << draw;
  }
}

TEST(FourierFamily, QuasiRandomPointsConvergeFaster) {
  const Matrix x = reference::random_matrix(6, 3, 5);
  const auto error = [&](const std::string& draw) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      sum += kernel_error(
          Candidates(Dictionary("fourier(count=4096, sigma=1.5, draw=" + draw + ")"), {3, 1, seed}), x,
          "gaussian", 0, 1.5);
    }
    return sum;
  };
  const double random = error("iid");
  EXPECT_LT(error("halton"), random / 2);
  EXPECT_LT(error("sobol"), random / 2);
}

TEST(FourierFamily, OrthogonalFrequenciesAreOrthogonalInBlocks) {
  const Candidates candidates(Dictionary("fourier(count=13, sigma=1.5, draw=orthogonal)"), {5, 1, 3});
  const Candidates independent(Dictionary("fourier(count=13, sigma=1.5)"), {5, 1, 3});
  const auto frequency = [](const Candidates& from, Index i) {
    const Atom atom = from.atom(i);
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(atom.parameters.data() + 1, 5));
  };
  for (Index i = 0; i < 13; ++i) {
    EXPECT_NEAR(frequency(candidates, i).norm(), frequency(independent, i).norm(), 1e-12);
    for (Index j = i / 5 * 5; j < i; ++j)
      EXPECT_NEAR(frequency(candidates, i).dot(frequency(candidates, j)), 0, 1e-12);
  }
}

// Models that were learned stay what they are: frequencies are normal numbers of the counter generator.
TEST(FourierFamily, IndependentGaussianFrequenciesAreThoseOfTheGenerator) {
  const Candidates candidates(Dictionary("fourier(count=3, sigma=1.7)"), {4, 1, 6});
  const CounterRandom random(6, RandomStream::kFourier);
  const Atom atom = candidates.atom(2);
  const std::uint64_t first = std::uint64_t{2} << 24U;
  EXPECT_EQ(atom.parameters[0], 2 * std::numbers::pi * random.uniform(first));
  for (std::uint64_t j = 0; j < 4; ++j) EXPECT_EQ(atom.parameters[1 + j], random.normal(first + 1 + j) / 1.7);
}

TEST(FourierFamily, LargeFrequenciesAreNotSearchedInSinglePrecision) {
  EXPECT_TRUE(Candidates(Dictionary("fourier(sigma=3)"), {5, 1, 3}).have_single());
  EXPECT_TRUE(Candidates(Dictionary("fourier(sigma=3, draw=structured)"), {5, 1, 3}).have_single());
  EXPECT_FALSE(Candidates(Dictionary("fourier(sigma=1e-4)"), {5, 1, 3}).have_single());
}

TEST(FourierFamily, SaysWhichDrawsAreNotPossible) {
  const auto error = [](const std::string& options) {
    try {
      const Dictionary dictionary("fourier(" + options + ")");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(error("kernel=laplace, draw=orthogonal").find("right angles"), std::string::npos);
  EXPECT_NE(error("kernel=cauchy, draw=structured").find("right angles"), std::string::npos);
  EXPECT_NE(error("draw=random").find("halton"), std::string::npos);
  EXPECT_NE(error("kernel=matern").find("matern(1.5)"), std::string::npos);
  EXPECT_NE(error("kernel=matern(0)").find("positive"), std::string::npos);
  EXPECT_NE(error("kernel=matern(1,2)").find("positive"), std::string::npos);
  EXPECT_NE(error("kernel=gaussian(1)").find("one of"), std::string::npos);
  EXPECT_NE(error("kernel=polynomial(2)").find("one of"), std::string::npos);
  EXPECT_THROW(Candidates(Dictionary("fourier(count=2, draw=sobol)"), {5000, 1, 3}), Error);
}

TEST(FourierFamily, AShorterListIsTheFrontOfALongerOne) {
  const Candidates few(Dictionary("fourier(count=10, sigma=2)"), {4, 1, 3});
  const Candidates many(Dictionary("fourier(count=100, sigma=2)"), {4, 1, 3});
  const Candidates other(Dictionary("fourier(count=10, sigma=2)"), {4, 1, 4});
  EXPECT_EQ(few.atom(9).parameters, many.atom(9).parameters);
  EXPECT_NE(few.atom(9).parameters, other.atom(9).parameters);
  for (const std::string draw : {"orthogonal", "structured", "halton", "sobol"}) {
    const auto atom = [&](int count, std::uint64_t seed) {
      return Candidates(Dictionary("fourier(count=" + std::to_string(count) +
                                   ", sigma=2, kernel=matern(2), draw=" + draw + ")"),
                        {4, 1, seed})
          .atom(9);
    };
    const std::vector<double> front = atom(10, 3).parameters;
    const std::vector<double> same = atom(100, 3).parameters;
    for (std::size_t i = 0; i < front.size(); ++i) EXPECT_NEAR(front[i], same[i], 1e-12) << draw;
    EXPECT_NE(front, atom(10, 4).parameters) << draw;
  }
}

TEST(FourierFamily, SummandsAndSeedsShareNoDraws) {
  std::vector<Atom> atoms;
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    const Candidates candidates(Dictionary("fourier(count=5) + fourier(count=5) + fourier(count=5)"),
                                {3, 1, seed});
    for (Index j = 0; j < candidates.size(); ++j) atoms.push_back(candidates.atom(j));
  }
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(atoms[i].parameters, atoms[j].parameters) << i << ", " << j;
  }
}

TEST(LandmarkFamily, AtomsAreKernelColumnsAtDifferentTrainingRows) {
  const BoundCandidates bound("landmark(count=1000, sigma=1.5)", 60, 3);
  EXPECT_EQ(bound.candidates.size(), 60);  // there are no more rows
  const Eigen::MatrixXd features = reference::materialise(bound.candidates, bound.x);
  // Each row is the centre of exactly one atom: the value there is 1, the largest.
  for (Index i = 0; i < 60; ++i) {
    EXPECT_NEAR(features.row(i).maxCoeff(), 1, 1e-12);
    EXPECT_NEAR(features.col(i).maxCoeff(), 1, 1e-12);
  }
}

double inner_product(const Matrix& x, Index i, Index j) {
  double sum = 0;
  for (Index k = 0; k < x.cols; ++k) sum += x(i, k) * x(j, k);
  return sum;
}

TEST(PolynomialFamily, InnerProductsAreTheKernel) {
  const Matrix x = reference::random_matrix(8, 3, 5);
  for (const int degree : {1, 2, 3, 7}) {
    for (const double offset : {0.0, 1.0, 2.5}) {
      const Candidates candidates(Dictionary("polynomial(degree=" + std::to_string(degree) +
                                             ", offset=" + std::to_string(offset) + ")"),
                                  {3, 1});
      const double largest = std::pow(offset + 20, degree);
      EXPECT_LT(
          kernel_error(candidates, x,
                       [&](Index i, Index j) { return std::pow(offset + inner_product(x, i, j), degree); }),
          1e-13 * largest);
    }
  }
}

TEST(LandmarkFamily, ColumnsAreExactAtTheirCentres) {
  for (const std::string kernel : {"laplace", "matern(0.5)", "matern(1.5)"}) {
    const BoundCandidates bound("landmark(count=20, sigma=1.5, kernel=" + kernel + ")", 20, 3);
    std::vector<Atom> atoms;
    for (Index j = 0; j < 20; ++j) atoms.push_back(bound.candidates.atom(j));
    const AtomValues values(atoms);
    Arena arena;
    const RowBlock block = bound.rows.load(0, arena);
    std::vector<double> out(static_cast<std::size_t>(20 * block.stride));
    values.evaluate(block, 0, 20, out.data(), block.stride, arena);
    for (Index j = 0; j < 20; ++j) {
      const double* value = out.data() + j * block.stride;
      EXPECT_NEAR(*std::max_element(value, value + 20), 1, 1e-12) << kernel;
    }
  }
}

TEST(PolynomialFamily, FormulasAreReadable) {
  const std::vector<std::string> names = {"age", "income"};
  const Candidates candidates(Dictionary("polynomial"), {2, 1});
  std::vector<std::string> formulas;
  for (Index j = 0; j < candidates.size(); ++j) formulas.push_back(describe(candidates.atom(j), names).text);
  EXPECT_EQ(formulas, (std::vector<std::string>{"1", "age", "income", "age^2", "age * income", "income^2"}));
  EXPECT_NEAR(describe(candidates.atom(4), names).factor, std::sqrt(2.0), 1e-15);
}

TEST(MaclaurinFamily, InnerProductsConvergeToTheKernel) {
  Matrix x = reference::random_matrix(6, 3, 5);
  for (double& value : x.values) value *= 0.5;
  const Candidates exponential(Dictionary("maclaurin(count=60000, sigma=1.5)"), {3, 1, 11});
  EXPECT_LT(
      kernel_error(exponential, x, [&](Index i, Index j) { return std::exp(inner_product(x, i, j) / 2.25); }),
      0.05);
  const Candidates polynomial(Dictionary("maclaurin(count=60000, sigma=1.5, kernel=polynomial)"), {3, 1, 11});
  EXPECT_LT(kernel_error(polynomial, x,
                         [&](Index i, Index j) { return std::pow(1 + inner_product(x, i, j) / 2.25, 3); }),
            0.1);
  EXPECT_LT(polynomial.size(), 60);  // few products of signs of three inputs differ
}

TEST(MaclaurinFamily, SinglePrecisionIsExactEnoughToSearch) {
  const Matrix x = reference::random_matrix(600, 20, 3);
  const BlockedRows rows(x.view(), reference::plain_inputs(20));
  const Candidates candidates(Dictionary("maclaurin(count=200, sigma=5)"), {20, 1, 3});
  ASSERT_TRUE(candidates.have_single());
  Workers workers(2);
  const std::vector<double> errors = candidates.single_errors(rows, workers);
  const std::vector<double> squares = candidates.square_norms(rows, workers);
  for (std::size_t j = 0; j < errors.size(); ++j) EXPECT_LT(errors[j], 1e-3 * std::sqrt(squares[j])) << j;
}

// Two far groups of rows, one of them small: spread landmarks find both, and greedy ones leave less of the
// kernel unexplained than random ones.
TEST(LandmarkFamily, ChoicesSpreadOverTheRows) {
  Matrix x = reference::random_matrix(1000, 2, 9);
  for (Index i = 0; i < 5; ++i) x(i * 200, 0) += 100;
  const BlockedRows rows(x.view(), reference::plain_inputs(2));
  const auto unexplained = [&](const std::string& choose) {
    const Candidates candidates(Dictionary("nystrom(count=30, sigma=1, choose=" + choose + ")"),
                                {2, 1, 4, &rows});
    const Eigen::MatrixXd features = reference::materialise(candidates, x);
    return static_cast<double>(x.rows) - features.squaredNorm();  // the trace of what is left
  };
  const double random = unexplained("random");
  EXPECT_LT(unexplained("kmeans++"), random);
  EXPECT_LT(unexplained("greedy"), random);
  for (const std::string choose : {"kmeans++", "greedy"}) {
    const Candidates candidates(Dictionary("landmark(count=30, sigma=1, choose=" + choose + ")"),
                                {2, 1, 4, &rows});
    ASSERT_EQ(candidates.size(), 30);
    bool found = false;
    for (Index j = 0; j < 30; ++j) found = found || candidates.atom(j).parameters[3] > 50;
    EXPECT_TRUE(found) << choose;
  }
}

TEST(LandmarkFamily, CopiesOfRowsAreChosenOnce) {
  Matrix x(100, 1);
  for (Index i = 0; i < 100; ++i) x(i, 0) = static_cast<double>(i % 7);
  const BlockedRows rows(x.view(), reference::plain_inputs(1));
  for (const std::string choose : {"kmeans++", "greedy"}) {
    const Candidates candidates(
        Dictionary("landmark(count=30, sigma=0.5, kernel=laplace, choose=" + choose + ")"), {1, 1, 4, &rows});
    EXPECT_EQ(candidates.size(), 7) << choose;
  }
}

TEST(LandmarkFamily, SaysWhichKernelsThereAre) {
  const auto error = [](const std::string& options) {
    try {
      const Dictionary dictionary("landmark(" + options + ")");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(error("kernel=matern(2)").find("matern(2.5)"), std::string::npos);
  EXPECT_NE(error("kernel=cauchy").find("polynomial(DEGREE)"), std::string::npos);
  EXPECT_NE(error("kernel=polynomial(2.5)").find("whole number"), std::string::npos);
  EXPECT_NE(error("choose=kmeans").find("kmeans++"), std::string::npos);
}

TEST(NystromFamily, InnerProductsAreTheNystromApproximation) {
  for (const std::string kernel : {"gaussian", "laplace", "matern(2.5)", "polynomial(2)"}) {
    const BoundCandidates bound("nystrom(count=25, sigma=2, kernel=" + kernel + ")", 200, 3);
    ASSERT_GT(bound.candidates.size(), 0);
    const Atom atom = bound.candidates.atom(0);
    const Matrix x = reference::random_matrix(30, 3, 31);
    Eigen::MatrixXd at_landmarks(25, 25);
    Eigen::MatrixXd columns(30, 25);
    const double* landmarks = atom.shared.numbers().data();
    for (Index j = 0; j < 25; ++j) {
      for (Index i = 0; i < 25; ++i)
        at_landmarks(i, j) = reference::kernel_value(atom, landmarks + 3 * i, landmarks + 3 * j, 3);
      for (Index i = 0; i < 30; ++i)
        columns(i, j) = reference::kernel_value(atom, x.row(i), landmarks + 3 * j, 3);
    }
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> pseudo_inverse;
    pseudo_inverse.setThreshold(1e-10);
    pseudo_inverse.compute(at_landmarks);
    const Eigen::MatrixXd expected = columns * pseudo_inverse.solve(columns.transpose());
    const Eigen::MatrixXd features = reference::materialise(bound.candidates, x);
    EXPECT_LT((features * features.transpose() - expected).cwiseAbs().maxCoeff(),
              1e-6 * expected.cwiseAbs().maxCoeff())
        << kernel;
  }
}

TEST(NystromFamily, LeavesOutDirectionsOfNoWeight) {
  const BoundCandidates bound("nystrom(count=50, sigma=1, kernel=polynomial(2))", 100, 2);
  EXPECT_EQ(bound.candidates.size(), 6);  // 1, a, b, a^2, a b, b^2
}

TEST(GaussianFamily, FormulasAreReadable) {
  const std::vector<std::string> names = {"age", "income"};
  const Candidates candidates(Dictionary("gaussian(order=3, sigma=2.5)"), {2, 1});
  std::vector<std::string> formulas;
  for (Index j = 0; j < candidates.size(); ++j) formulas.push_back(describe(candidates.atom(j), names).text);
  const std::vector<std::string> expected = {"G(2.5)",
                                             "age * G(2.5)",
                                             "income * G(2.5)",
                                             "age^2 * G(2.5)",
                                             "age * income * G(2.5)",
                                             "income^2 * G(2.5)",
                                             "age^3 * G(2.5)",
                                             "age^2 * income * G(2.5)",
                                             "age * income^2 * G(2.5)",
                                             "income^3 * G(2.5)"};
  EXPECT_EQ(formulas, expected);
  EXPECT_NEAR(describe(candidates.atom(3), names).factor, 1 / (2.5 * 2.5 * std::sqrt(2.0)), 1e-15);
}

}  // namespace
}  // namespace mfga
