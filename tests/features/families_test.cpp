// What every feature family promises.
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "features/candidates.hpp"
#include "features/expressions.hpp"
#include "mfga/error.hpp"
#include "reference_matrices.hpp"

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
      const BoundCandidates bound(expression, 100, d);
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

// A checkpoint may hold any atom.
TEST(Families, AtomsThatCannotBeComputedWithAreKnown) {
  constexpr Index kInputs = 5;
  for (const std::string& expression : kExpressions) {
    SCOPED_TRACE(expression);
    const BoundCandidates bound(expression, 100, kInputs);
    const Candidates& candidates = bound.candidates;
    for (Index j = 0; j < candidates.size(); ++j) {
      const Atom atom = candidates.atom(j);
      EXPECT_TRUE(is_possible(atom, kInputs)) << j;
      const auto expect_refused = [&](auto change) {
        Atom changed = atom;
        change(changed);
        EXPECT_FALSE(is_possible(changed, kInputs)) << j;
      };
      expect_refused([](Atom& changed) { changed.family = "other"; });
      expect_refused([](Atom& changed) { changed.nu = -1; });
      expect_refused([](Atom& changed) { changed.nu = std::numeric_limits<double>::infinity(); });
      expect_refused([](Atom& changed) { changed.inputs.push_back(0); });
      if (!atom.inputs.empty()) {
        expect_refused([](Atom& changed) {  // twice
          changed.inputs.push_back(changed.inputs.back());
          changed.exponents.push_back(1);
        });
      }
      expect_refused([](Atom& changed) { changed.exponents.push_back(1); });
      if (!atom.inputs.empty()) {
        for (const Index input : {Index{-1}, kInputs, Index{1} << 56U})
          expect_refused([&](Atom& changed) { changed.inputs.back() = input; });
        for (const int exponent : {0, -1, kHighestExponent + 1})
          expect_refused([&](Atom& changed) { changed.exponents.back() = exponent; });
        expect_refused([](Atom& changed) { changed.exponents.clear(); });
        expect_refused([](Atom& changed) { changed.inputs.clear(); });
      }
      if (!atom.parameters.empty()) {
        expect_refused([](Atom& changed) { changed.parameters.clear(); });
        if (atom.family != "spline") {  // which has any number of knots
          expect_refused([](Atom& changed) { changed.parameters.pop_back(); });
          expect_refused([](Atom& changed) { changed.parameters.push_back(0); });
        }
        expect_refused(
            [](Atom& changed) { changed.parameters.back() = std::numeric_limits<double>::quiet_NaN(); });
      }
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
        const BoundCandidates bound(expression, 100, d);
        const Candidates& candidates = bound.candidates;
        const Eigen::MatrixXd features = reference::materialise(candidates, x);
        const BlockedRows rows(x.view(), reference::plain_inputs(d));
        std::vector<Atom> atoms;
        for (Index j = 0; j < candidates.size(); ++j) atoms.push_back(candidates.atom(j));
        const AtomValues values(atoms);

        Matrix correlations(2, candidates.size());
        Workers workers(2);
        const std::vector<double> sums =
            candidates.sums(rows, workers, 2, 0, [&](const RowBlock& block, Arena&, double*) {
              return Candidates::BlockColumns{weights.values.data() + block.first_row, n_rows};
            });
        std::copy(sums.begin(), sums.end(), correlations.values.begin());
        const std::vector<double> square_norms = candidates.square_norms(rows, workers);
        Arena arena;
        for (Index b = 0; b < rows.blocks(); ++b) {
          const Arena::Scope scope(arena);
          const RowBlock block = rows.load(b, arena);
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
    const BoundCandidates bound(expression, 100, d);
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
      const auto sums = [&](bool in_single) {
        return candidates.sums(
            rows, workers, 1, 0,
            [&](const RowBlock& block, Arena&, double*) {
              return Candidates::BlockColumns{weights.data() + block.first_row, block.rows};
            },
            in_single);
      };
      const std::vector<double> single = sums(true);
      const std::vector<double> exact = sums(false);
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
    const BoundCandidates bound(expression, 100, d);
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
    const BoundCandidates bound(expression, 100, d);
    const Candidates& candidates = bound.candidates;
    std::vector<Atom> atoms;
    for (Index j = candidates.size(); j-- > 0;) atoms.push_back(candidates.atom(j));  // any order
    const std::vector<double> coefficients = reference::random_vector(candidates.size(), 4);
    const double intercept = 0.75;
    const ScoreFunction score(atoms, coefficients, {&intercept, 1});
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

}  // namespace
}  // namespace mfga
