// What every feature family promises, and what is special to each.
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <set>

#include "core/random.hpp"
#include "features/candidates.hpp"
#include "features/expressions.hpp"
#include "mfga/error.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

// Whether the number of candidates depends on the rows, or on chance.
bool is_counted_from_above(const std::string& expression) {
  for (const std::string family : {"step", "hinge", "spline", "maclaurin"}) {
    if (expression.find(family) != std::string::npos) return true;
  }
  return false;
}

TEST(Families, EachHasAnExpressionInTheseTests) {
  for (const FeatureFamily* family : feature_families()) {
    bool found = false;
    for (const std::string& expression : kExpressions)
      found = found || expression.find(family->name()) != std::string::npos;
    EXPECT_TRUE(found) << family->name();
  }
}

TEST(Families, CandidatesAreCountedWithoutMakingThem) {
  for (const std::string& expression : kExpressions) {
    for (const Index d : {1, 2, 3, 7}) {
      const Dictionary dictionary(expression);
      const Bound bound(expression, 100, d);
      const Candidates& candidates = bound.candidates;
      const auto size = static_cast<double>(candidates.size());
      if (is_counted_from_above(expression)) {
        EXPECT_LE(size, dictionary.candidates(d)) << expression;
        EXPECT_GT(size, 0) << expression;
      } else {
        EXPECT_EQ(size, dictionary.candidates(d)) << expression;
      }
      std::set<std::string> formulas;
      std::vector<std::string> names;
      for (Index j = 0; j < d; ++j) names.push_back("c" + std::to_string(j));
      for (Index j = 0; j < candidates.size(); ++j) {
        const Atom atom = candidates.atom(j);
        find_feature_family(atom.family)->validate(atom, d);
        formulas.insert(describe(atom, names).text);
      }
      EXPECT_EQ(static_cast<Index>(formulas.size()), candidates.size())
          << expression << ": every atom differs";
    }
  }
}

TEST(Families, CorrelationsAndValuesEqualTheDefinition) {
  for (const std::string& expression : kExpressions) {
    for (const Index d : {1, 2, 5, 14}) {
      if (d == 14 && expression.find("=5") != std::string::npos) continue;  // large, and shows nothing more
      for (const Index n_rows : {1, 37, 600}) {
        if (d == 14 && n_rows == 600) continue;
        const Matrix x = reference::random_matrix(n_rows, d, 1);
        const Matrix weights = reference::random_matrix(2, n_rows, 2);
        const Bound bound(expression, 100, d);
        const Candidates& candidates = bound.candidates;
        const Eigen::MatrixXd features = reference::materialise(candidates, x);
        const BlockedRows rows(x.view(), reference::plain_inputs(d));
        std::vector<Atom> atoms;
        for (Index j = 0; j < candidates.size(); ++j) atoms.push_back(candidates.atom(j));
        const AtomValues values(atoms);

        Matrix correlations(2, candidates.size());
        Workers workers(2);
        const std::vector<double> square_norms = candidates.square_norms(rows, workers);
        Arena arena;
        for (Index b = 0; b < rows.blocks(); ++b) {
          const Arena::Scope scope(arena);
          const RowBlock block = rows.load(b, arena);
          candidates.correlate(block, weights.values.data() + block.first_row, n_rows, 2,
                               correlations.values.data(), candidates.size(), arena);
          double* out = arena.take(candidates.size() * block.stride);
          values.evaluate(block, 0, candidates.size(), out, block.stride, arena);
          for (Index j = 0; j < candidates.size(); ++j) {
            for (Index n = 0; n < block.rows; ++n) {
              const double expected = features(block.first_row + n, j);
              ASSERT_NEAR(out[j * block.stride + n], expected, 1e-12 * (1 + std::abs(expected)))
                  << expression;
            }
          }
        }
        for (Index j = 0; j < candidates.size(); ++j) {
          const double expected = features.col(j).squaredNorm();
          // The second part is for features that are nearly 0 here as differences of larger numbers.
          ASSERT_NEAR(square_norms[static_cast<std::size_t>(j)], expected,
                      1e-11 * expected + 1e-13 * std::sqrt(expected))
              << expression;
        }
        for (Index c = 0; c < 2; ++c) {
          const Eigen::Map<const Eigen::VectorXd> w(weights.row(c), n_rows);
          const Eigen::VectorXd expected = features.transpose() * w;
          for (Index j = 0; j < candidates.size(); ++j) {
            ASSERT_NEAR(correlations(c, j), expected[j], 1e-11 * (1 + features.col(j).norm() * w.norm()))
                << expression << " d=" << d << " n=" << n_rows << " candidate " << j;
          }
        }
      }
    }
  }
}

TEST(Families, SinglePrecisionKeepsItsErrorBounds) {
  for (const std::string& expression : kExpressions) {
    const Index d = 5;
    const Index n_rows = 1300;
    Matrix x = reference::random_matrix(n_rows, d, 21);
    x(7, 2) = 30;  // far out
    Workers workers(2);
    const Bound bound(expression, 100, d);
    const Candidates& candidates = bound.candidates;
    const BlockedRows rows(x.view(), reference::plain_inputs(d));
    const std::vector<double> errors = candidates.single_errors(rows, workers);
    for (const double scale : {1.0, 1e-40, 1e40}) {  // beyond the range of single precision
      std::vector<double> weights = reference::random_vector(n_rows, 22);
      double norm = 0;
      for (double& w : weights) {
        w *= scale;
        norm += w * w;
      }
      std::vector<double> single(errors.size());
      std::vector<double> exact(errors.size());
      Arena arena;
      for (Index b = 0; b < rows.blocks(); ++b) {
        const Arena::Scope scope(arena);
        const RowBlock block = with_single(rows.load(b, arena), arena);
        const double* w = weights.data() + block.first_row;
        candidates.correlate_single(block, w, single.data(), arena);
        candidates.correlate(block, w, block.rows, 1, exact.data(), candidates.size(), arena);
      }
      for (std::size_t j = 0; j < errors.size(); ++j) {
        ASSERT_LE(std::abs(single[j] - exact[j]), errors[j] * std::sqrt(norm)) << expression << " " << j;
      }
    }
  }
}

TEST(Families, ChosenAtomsAreCorrelatedLikeTheirValues) {
  for (const std::string& expression : kExpressions) {
    const Index d = 5;
    const Matrix x = reference::random_matrix(300, d, 23);
    const Matrix weights = reference::random_matrix(3, 310, 24);
    const Bound bound(expression, 100, d);
    std::vector<Atom> atoms;
    for (Index j = bound.candidates.size(); j-- > 0;) atoms.push_back(bound.candidates.atom(j));
    const AtomValues values(atoms);
    const BlockedRows rows(x.view(), reference::plain_inputs(d));
    Arena arena;
    const RowBlock block = rows.load(0, arena);
    std::vector<double> sums(atoms.size() * 3, 0.5);  // added to
    values.correlate(block, weights.values.data(), 310, 3, sums.data(), arena);
    std::vector<double> out(static_cast<std::size_t>(values.size() * block.stride));
    values.evaluate(block, 0, values.size(), out.data(), block.stride, arena);
    for (Index i = 0; i < values.size(); ++i) {
      for (Index c = 0; c < 3; ++c) {
        double expected = 0.5;
        for (Index n = 0; n < block.rows; ++n)
          expected += out[static_cast<std::size_t>(i * block.stride + n)] * weights(c, n);
        ASSERT_NEAR(sums[static_cast<std::size_t>(3 * i + c)], expected, 1e-11 * (1 + std::abs(expected)))
            << expression;
      }
    }
  }
}

TEST(Families, CombinationsEqualSumsOfValues) {
  for (const std::string& expression : kExpressions) {
    const Index d = 5;
    const Matrix x = reference::random_matrix(530, d, 3);
    const Bound bound(expression, 100, d);
    const Candidates& candidates = bound.candidates;
    std::vector<Atom> atoms;
    for (Index j = candidates.size(); j-- > 0;) atoms.push_back(candidates.atom(j));  // any order
    const std::vector<double> coefficients = reference::random_vector(candidates.size(), 4);
    const ScoreFunction score(atoms, coefficients, 0.75);
    const BlockedRows rows(x.view(), reference::plain_inputs(d));
    Arena arena;
    for (Index b = 0; b < rows.blocks(); ++b) {
      const RowBlock block = rows.load(b, arena);
      std::vector<double> scores(static_cast<std::size_t>(block.rows));
      score.evaluate(block, scores.data(), arena);
      for (Index n = 0; n < block.rows; ++n) {
        double expected = 0.75;
        for (std::size_t i = 0; i < atoms.size(); ++i) {
          expected += coefficients[i] * reference::atom_value(atoms[i], x.row(block.first_row + n), d);
        }
        ASSERT_NEAR(scores[static_cast<std::size_t>(n)], expected, 1e-11 * (1 + std::abs(expected)))
            << expression;
      }
    }
  }
}

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

// The largest difference between inner products of all candidates and the kernel.
double kernel_error(const Candidates& candidates, const Matrix& x, const std::string& kernel,
                    double parameter, double sigma) {
  const Eigen::MatrixXd features = reference::materialise(candidates, x);
  double error = 0;
  for (Index i = 0; i < x.rows; ++i) {
    for (Index j = 0; j < x.rows; ++j) {
      const double expected = reference::kernel_value(kernel, parameter, sigma, x.row(i), x.row(j), x.cols);
      error = std::max(error, std::abs(features.row(i).dot(features.row(j)) - expected));
    }
  }
  return error;
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

TEST(LandmarkFamily, AtomsAreKernelColumnsAtDifferentTrainingRows) {
  const Bound bound("landmark(count=1000, sigma=1.5)", 60, 3);
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

// The largest difference between inner products of the candidates' values on rows of x and a kernel of rows.
template <class Kernel>
double kernel_error(const Candidates& candidates, const Matrix& x, Kernel kernel) {
  const Eigen::MatrixXd features = reference::materialise(candidates, x);
  double error = 0;
  for (Index i = 0; i < x.rows; ++i) {
    for (Index j = 0; j < x.rows; ++j)
      error = std::max(error, std::abs(features.row(i).dot(features.row(j)) - kernel(i, j)));
  }
  return error;
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
    const Bound bound("landmark(count=20, sigma=1.5, kernel=" + kernel + ")", 20, 3);
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
  const Bound bound("step(knots=2000)", 2001, 1);
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
  const Bound bound("hinge(knots=1000)", 4000, 1);
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
  const Bound bound("hinge(knots=5, interactions=2)", 200, 3);
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
    const Bound bound("spline(knots=6, degree=" + std::to_string(degree) + ")", 100, 2);
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

TEST(Families, WhatTakesAtomsFromRowsSaysSoWithoutRows) {
  for (const std::string family : {"landmark", "step", "hinge", "spline", "periodic", "additive"}) {
    try {
      const Candidates candidates(Dictionary(family), {3, 1});
      ADD_FAILURE() << family;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(family + " takes its atoms from training rows"),
                std::string::npos)
          << error.what();
    }
  }
}

TEST(Families, WrongOptionsAreRefused) {
  for (const std::string expression :
       {"polynomial(degree=0)", "polynomial(degree=13)", "polynomial(offset=-1)",
        "polynomial(interactions=some)", "step(knots=0)", "hinge(interactions=3)", "hinge(knots=1001)",
        "spline(degree=6)", "spline(knots=-1)", "periodic(period=0)", "periodic(count=0)",
        "additive(kernel=gaussian)", "additive(order=101)", "maclaurin(kernel=linear)", "maclaurin(degree=0)",
        "maclaurin(count=0)", "maclaurin(sigma=-1)"}) {
    EXPECT_THROW(Dictionary{expression}, Error) << expression;
  }
}

TEST(Families, WrongAtomsAreRefused) {
  const std::vector<Atom> wrong = {
      {"polynomial", 1, {0}, {3}, {2, 1}},                // order above the degree
      {"polynomial", 1, {0}, {1}, {1.5, 1}},              // no whole degree
      {"polynomial", 1, {0}, {1}, {2, -1}},               // negative offset
      {"step", 1, {0, 1}, {1, 1}, {0}},                   // two inputs
      {"step", 1, {0}, {2}, {0}},                         // an exponent
      {"hinge", 1, {0}, {1}, {0, 1, 0, 1}},               // more hinges than inputs
      {"hinge", 1, {0, 1}, {1, 1}, {0, 1}},               // fewer
      {"hinge", 1, {0}, {1}, {0, 2}},                     // no side
      {"hinge", 1, {}, {}, {}},                           // no input
      {"spline", 1, {0}, {1}, {0}},                       // too few knots
      {"spline", 1, {0}, {1}, {0, 1, 1, 2}},              // not ascending
      {"spline", 1, {0}, {1}, {0, 1, 2, 3, 4, 5, 6, 7}},  // too many knots
      {"periodic", 1, {0}, {1}, {0, 1, 0}},               // no period
      {"periodic", 1, {0}, {1}, {1, 0.5, 0}},             // no whole k
      {"periodic", 1, {0}, {1}, {1, 1, 2}},               // neither cosine nor sine
      {"additive", 1, {0}, {1}, {0, 0, 1, 0}},            // no scale
      {"additive", 1, {0}, {1}, {0, 1, -1, 0}},           // negative frequency
      {"additive", 1, {}, {}, {0, 1, 1, 0}},              // no input
      {"maclaurin", 1, {}, {}, {1, 1, 1}},                // a sign is missing
      {"maclaurin", 1, {}, {}, {1, 1, 1, 0.5}},           // no sign
      {"maclaurin", 1, {}, {}, {0, 0}},                   // no sigma
      {"maclaurin", 1, {}, {}, {1, 1e300}},               // an absurd order
      {"maclaurin", 1, {0}, {1}, {1, 0}},                 // an input
  };
  for (const Atom& atom : wrong) {
    try {
      find_feature_family(atom.family)->validate(atom, 2);
      ADD_FAILURE() << atom.family << " " << (&atom - wrong.data());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    }
  }
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
    const Bound bound("nystrom(count=25, sigma=2, kernel=" + kernel + ")", 200, 3);
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
  const Bound bound("nystrom(count=50, sigma=1, kernel=polynomial(2))", 100, 2);
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
