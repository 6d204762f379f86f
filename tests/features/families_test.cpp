// What every feature family promises, and what is special to each.
#include <gtest/gtest.h>

#include <set>

#include "features/candidates.hpp"
#include "mfga/error.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

// One expression per case of a family; a new family belongs here.
const std::vector<std::string> kExpressions = {
    "linear",
    "gaussian(order=0, sigma=1.5)",
    "gaussian(order=1, sigma=2)",
    "gaussian(order=2, sigma=1.7)",
    "gaussian(order=2, sigma=1.7, squares=no)",
    "gaussian(order=3, sigma=1.3)",
    "gaussian(order=4, sigma=2, squares=no)",
    "gaussian(order=5, sigma=2)",
    "fourier(count=70, sigma=1.5)",
    "landmark(count=70, sigma=1.5)",
    "linear + landmark(count=5, sigma=0.7) + fourier(count=3, sigma=2) + landmark(count=4, sigma=2)",
    "linear + gaussian(order=2, sigma=2) + gaussian(order=1, sigma=0.7, nu=3)",
};

TEST(Families, EachHasAnExpressionInTheseTests) {
  for (const FeatureFamily* family : feature_families()) {
    bool found = false;
    for (const std::string& expression : kExpressions)
      found = found || expression.find(family->name()) != std::string::npos;
    EXPECT_TRUE(found) << family->name();
  }
}

// Training rows for the families that take atoms from them.
struct Bound {
  Matrix x;
  BlockedRows rows;
  Candidates candidates;
  Bound(const std::string& expression, Index n_rows, Index d)
      : x(reference::random_matrix(n_rows, d, 9)),
        rows(x.view(), reference::plain_inputs(d)),
        candidates(Dictionary(expression), {d, 1, 5, &rows}) {}
};

TEST(Families, CandidatesAreCountedWithoutMakingThem) {
  for (const std::string& expression : kExpressions) {
    for (const Index d : {1, 2, 3, 7}) {
      const Dictionary dictionary(expression);
      const Bound bound(expression, 100, d);
      const Candidates& candidates = bound.candidates;
      EXPECT_EQ(dictionary.candidates(d), static_cast<double>(candidates.size())) << expression;
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
      if (d == 14 && expression.find("order=5") != std::string::npos)
        continue;  // large, and shows nothing more
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
          ASSERT_NEAR(square_norms[static_cast<std::size_t>(j)], expected, 1e-11 * expected) << expression;
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

TEST(FourierFamily, InnerProductsConvergeToTheKernel) {
  const Matrix x = reference::random_matrix(6, 3, 5);
  const Candidates candidates(Dictionary("fourier(count=40000, sigma=1.5)"), {3, 1, 11});
  const Eigen::MatrixXd features = reference::materialise(candidates, x);
  for (Index i = 0; i < x.rows; ++i) {
    for (Index j = 0; j < x.rows; ++j) {
      double square = 0;
      for (Index k = 0; k < 3; ++k) square += (x(i, k) - x(j, k)) * (x(i, k) - x(j, k));
      EXPECT_NEAR(features.row(i).dot(features.row(j)), std::exp(-square / (2 * 1.5 * 1.5)), 0.025);
    }
  }
}

TEST(FourierFamily, AShorterListIsTheFrontOfALongerOne) {
  const Candidates few(Dictionary("fourier(count=10, sigma=2)"), {4, 1, 3});
  const Candidates many(Dictionary("fourier(count=100, sigma=2)"), {4, 1, 3});
  const Candidates other(Dictionary("fourier(count=10, sigma=2)"), {4, 1, 4});
  EXPECT_EQ(few.atom(9).parameters, many.atom(9).parameters);
  EXPECT_NE(few.atom(9).parameters, other.atom(9).parameters);
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
