// Derivatives of atoms, for every family, against difference quotients of their values.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "features/candidates.hpp"
#include "features/expressions.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

constexpr double kStep = 1e-6;

const FeatureFamily& family_of(const Atom& atom) { return *find_feature_family(atom.family); }

std::vector<double> coordinate_values(const Atom& atom) {
  std::vector<double> values;
  for (const Coordinate& coordinate : family_of(atom).coordinates(atom)) values.push_back(coordinate.value);
  return values;
}

// At most `count` of the candidates, from all over the list.
std::vector<Atom> some_atoms(const Candidates& candidates, Index count) {
  std::vector<Atom> atoms;
  const Index step = std::max<Index>(1, candidates.size() / count);
  for (Index j = candidates.size() - 1; j >= 0; j -= step) atoms.push_back(candidates.atom(j));
  return atoms;
}

// [atoms x rows]
Matrix values_of(std::span<const Atom> atoms, const Matrix& x) {
  Matrix values(static_cast<Index>(atoms.size()), x.rows);
  const BlockedRows rows(x.view(), reference::plain_inputs(x.cols));
  Arena arena;
  const RowBlock block = rows.load(0, arena);
  AtomValues(atoms).evaluate(block, 0, values.rows, values.values.data(), x.rows, arena);
  return values;
}

// [atoms x rows]: (values of `above` - values of `below`) / distance
Matrix quotients(const Matrix& above, const Matrix& below, double distance) {
  Matrix result(above.rows, above.cols);
  for (std::size_t i = 0; i < result.values.size(); ++i)
    result.values[i] = (above.values[i] - below.values[i]) / distance;
  return result;
}

struct Derivatives {
  std::vector<double> coordinates;  // of all atoms, in their order
  Matrix inputs;                    // [inputs x rows]
};

enum class Wanted { kBoth, kCoordinates, kInputs };

// pull_back of the atoms, those of one family that follow one another together. What is wanted is added to
// `start`.
Derivatives pulled_back(std::span<const Atom> atoms, const Matrix& x, const Matrix& weights,
                        Wanted wanted = Wanted::kBoth, double start = 0) {
  const BlockedRows rows(x.view(), reference::plain_inputs(x.cols));
  Arena arena;
  const RowBlock block = rows.load(0, arena);
  std::vector<double> inputs(static_cast<std::size_t>(x.cols * block.stride), start);
  Derivatives result;
  for (std::size_t first = 0, end = 0; first < atoms.size(); first = end) {
    std::size_t coordinates = 0;
    for (end = first; end < atoms.size() && atoms[end].family == atoms[first].family; ++end)
      coordinates += coordinate_values(atoms[end]).size();
    std::vector<double> own(coordinates, start);
    family_of(atoms[first])
        .derivatives(atoms.subspan(first, end - first))
        ->pull_back(block, weights.row(static_cast<Index>(first)), weights.cols,
                    wanted == Wanted::kInputs ? nullptr : own.data(),
                    wanted == Wanted::kCoordinates ? nullptr : inputs.data(), arena);
    result.coordinates.insert(result.coordinates.end(), own.begin(), own.end());
  }
  result.inputs = Matrix(x.cols, x.rows);
  for (Index j = 0; j < x.cols; ++j)
    std::copy_n(inputs.data() + j * block.stride, x.rows, result.inputs.row(j));
  return result;
}

// Where the atom has a kink or a jump, or bends so much that difference quotients are not exact.
bool is_near_kink(const Atom& atom, const double* x, Index n_inputs) {
  constexpr double kMargin = 1e-3;
  const auto is_near = [&](double place, Index input) { return std::abs(x[input] - place) < kMargin; };
  if (atom.family == "spline") {
    return std::ranges::any_of(atom.parameters, [&](double knot) { return is_near(knot, atom.inputs[0]); });
  }
  if (atom.family == "nystrom") {
    const std::span<const double> landmarks = atom.shared.numbers();
    for (std::size_t i = 0; i < landmarks.size(); ++i) {
      if (is_near(landmarks[i], static_cast<Index>(i) % n_inputs)) return true;
    }
    return false;
  }
  return std::ranges::any_of(family_of(atom).coordinates(atom), [&](const Coordinate& coordinate) {
    return coordinate.input >= 0 && is_near(coordinate.value, coordinate.input);
  });
}

// Weights of atoms on rows, [atoms x rows], 0 near kinks.
Matrix random_weights(std::span<const Atom> atoms, const Matrix& x) {
  Matrix weights = reference::random_matrix(static_cast<Index>(atoms.size()), x.rows, 17);
  for (Index i = 0; i < weights.rows; ++i) {
    for (Index n = 0; n < x.rows; ++n) {
      if (is_near_kink(atoms[static_cast<std::size_t>(i)], x.row(n), x.cols)) weights(i, n) = 0;
    }
  }
  return weights;
}

// Atoms of every family with their derivatives on a few rows, and on some more.
struct Case {
  std::string name;
  Matrix x;
  std::vector<Atom> atoms;
  Matrix weights;
  Derivatives derivatives;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string& expression : kExpressions) {
    for (const Index d : {1, 2, 5}) {
      for (const Index n_rows : {1, 70}) {
        Case one;
        one.name = fmt::format("{} of {} inputs", expression, d);
        one.x = reference::random_matrix(n_rows, d, 1);
        one.atoms = some_atoms(BoundCandidates(expression, 100, d).candidates, 12);
        one.weights = random_weights(one.atoms, one.x);
        one.derivatives = pulled_back(one.atoms, one.x, one.weights);
        all.push_back(std::move(one));
      }
    }
  }
  return all;
}

TEST(Derivatives, ByCoordinatesAreDifferenceQuotients) {
  for (const auto& [name, x, atoms, weights, derivatives] : cases()) {
    std::size_t position = 0;
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      const std::vector<Coordinate> coordinates = family_of(atoms[i]).coordinates(atoms[i]);
      for (std::size_t k = 0; k < coordinates.size(); ++k) {
        const double step = kStep * coordinates[k].unit;
        const auto values_at = [&](double move) {
          std::vector<double> values = coordinate_values(atoms[i]);
          values[k] += move;
          const Atom moved = family_of(atoms[i]).moved(atoms[i], values);
          return values_of({&moved, 1}, x);
        };
        const Matrix expected = quotients(values_at(step), values_at(-step), 2 * step);
        double sum = 0;
        double size = 1e-3 / coordinates[k].unit;
        for (Index n = 0; n < x.rows; ++n) {
          const double share = weights(static_cast<Index>(i), n) * expected(0, n);
          sum += share;
          size += std::abs(share);
        }
        ASSERT_NEAR(derivatives.coordinates[position], sum, 1e-6 * size)
            << name << " atom " << i << " coordinate " << k;
        ++position;
      }
    }
    ASSERT_EQ(position, derivatives.coordinates.size());
  }
}

TEST(Derivatives, ByInputsAreDifferenceQuotients) {
  for (const auto& [name, x, atoms, weights, derivatives] : cases()) {
    for (Index j = 0; j < x.cols; ++j) {
      const auto values_at = [&](double move) {
        Matrix moved = x;
        for (Index n = 0; n < x.rows; ++n) moved(n, j) += move;
        return values_of(atoms, moved);
      };
      const Matrix expected = quotients(values_at(kStep), values_at(-kStep), 2 * kStep);
      for (Index n = 0; n < x.rows; ++n) {
        double sum = 0;
        double size = 1e-3;
        for (Index i = 0; i < weights.rows; ++i) {
          const double share = weights(i, n) * expected(i, n);
          sum += share;
          size += std::abs(share);
        }
        ASSERT_NEAR(derivatives.inputs(j, n), sum, 1e-6 * size) << name << " input " << j << " row " << n;
      }
    }
  }
}

TEST(Derivatives, OfManyAtomsOnAFullBlockAreThoseOfEach) {
  for (const std::string& expression : kExpressions) {
    const Index d = 3;
    const BoundCandidates bound(expression, 100, d);
    const Matrix x = reference::random_matrix(kBlockRows, d, 3);
    const std::vector<Atom> atoms = some_atoms(bound.candidates, 200);
    const Matrix weights = reference::random_matrix(static_cast<Index>(atoms.size()), kBlockRows + 5, 4);
    const Derivatives together = pulled_back(atoms, x, weights);
    Matrix inputs(d, kBlockRows);
    std::size_t position = 0;
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      Matrix own_weights(1, weights.cols);
      std::copy_n(weights.row(static_cast<Index>(i)), weights.cols, own_weights.row(0));
      const Derivatives own = pulled_back({&atoms[i], 1}, x, own_weights);
      for (const double expected : own.coordinates) {
        ASSERT_NEAR(together.coordinates[position++], expected, 1e-10 * (1 + std::abs(expected)))
            << expression;
      }
      for (std::size_t n = 0; n < inputs.values.size(); ++n) inputs.values[n] += own.inputs.values[n];
    }
    for (std::size_t n = 0; n < inputs.values.size(); ++n) {
      // Many atoms may nearly cancel.
      ASSERT_NEAR(together.inputs.values[n], inputs.values[n], 1e-8 * (1 + std::abs(inputs.values[n])))
          << expression;
    }
  }
}

TEST(Derivatives, AreAddedAndEitherMayBeLeftOut) {
  for (const std::string& expression : kExpressions) {
    const Index d = 3;
    const BoundCandidates bound(expression, 100, d);
    const Matrix x = reference::random_matrix(20, d, 3);
    const std::vector<Atom> atoms = some_atoms(bound.candidates, 10);
    const Matrix weights = reference::random_matrix(static_cast<Index>(atoms.size()), 20, 4);
    const Derivatives both = pulled_back(atoms, x, weights);
    for (const Wanted wanted : {Wanted::kBoth, Wanted::kCoordinates, Wanted::kInputs}) {
      const double start = 0.5;
      const Derivatives other = pulled_back(atoms, x, weights, wanted, start);
      for (std::size_t k = 0; k < both.coordinates.size(); ++k) {
        const double added = wanted == Wanted::kInputs ? 0 : both.coordinates[k];
        ASSERT_NEAR(other.coordinates[k], start + added, 1e-11 * (1 + std::abs(added))) << expression;
      }
      for (std::size_t n = 0; n < both.inputs.values.size(); ++n) {
        const double added = wanted == Wanted::kCoordinates ? 0 : both.inputs.values[n];
        ASSERT_NEAR(other.inputs.values[n], start + added, 1e-11 * (1 + std::abs(added))) << expression;
      }
    }
  }
}

TEST(Derivatives, MovedAtomsAreAtomsOfTheirFamily) {
  for (const std::string& expression : kExpressions) {
    const Index d = 3;
    const BoundCandidates bound(expression, 100, d);
    for (const Atom& atom : some_atoms(bound.candidates, 20)) {
      const std::vector<double> current = coordinate_values(atom);
      const Atom same = family_of(atom).moved(atom, current);
      ASSERT_EQ(same.parameters.size(), atom.parameters.size()) << expression;
      for (std::size_t p = 0; p < atom.parameters.size(); ++p) {
        ASSERT_NEAR(same.parameters[p], atom.parameters[p], 1e-13 * (1 + std::abs(atom.parameters[p])))
            << expression;
      }
      for (const double far : {0.1, 3.0, 100.0, 1e4}) {
        const std::vector<double> moves = reference::random_vector(static_cast<Index>(current.size()), 6);
        std::vector<double> values = current;
        for (std::size_t k = 0; k < values.size(); ++k) values[k] += far * moves[k];
        const Atom moved = family_of(atom).moved(atom, values);
        EXPECT_NO_THROW(family_of(atom).validate(moved, d)) << expression << " " << far;
        EXPECT_EQ(coordinate_values(moved).size(), current.size()) << expression;
      }
    }
  }
}

// An atom whose knots are places takes the same values when its input and these are stretched.
TEST(Derivatives, KnotsAreStretchedAlongWithTheirInput) {
  for (const std::string expression : {"step", "spline", "spline(degree=0)", "spline(degree=5)"}) {
    const BoundCandidates bound(expression, 100, 2);
    const Matrix x = reference::random_matrix(50, 2, 3);
    Matrix stretched = x;
    for (Index n = 0; n < x.rows; ++n) stretched(n, 1) *= 1.7;
    for (const Atom& atom : some_atoms(bound.candidates, 20)) {
      std::vector<double> values;
      for (const Coordinate& coordinate : family_of(atom).coordinates(atom))
        values.push_back(coordinate.value * (coordinate.input == 1 ? 1.7 : 1));
      const Atom moved = family_of(atom).moved(atom, values);
      const Matrix before = values_of({&atom, 1}, x);
      const Matrix after = values_of({&moved, 1}, stretched);
      for (Index n = 0; n < x.rows; ++n) EXPECT_NEAR(after(0, n), before(0, n), 1e-12) << expression;
    }
  }
}

TEST(Derivatives, AreZeroAtTheKinkOfAKernel) {
  for (const std::string kernel : {"laplace", "matern(0.5)"}) {
    const BoundCandidates bound("landmark(count=20, sigma=1.5, kernel=" + kernel + ")", 20, 3);
    for (Index i = 0; i < 20; ++i) {
      const Atom atom = bound.candidates.atom(i);
      Matrix centre(1, 3);
      std::copy_n(atom.parameters.end() - 3, 3, centre.row(0));
      Matrix weight(1, 1);
      weight(0, 0) = 1;
      const Derivatives derivatives = pulled_back({&atom, 1}, centre, weight);
      for (const double derivative : derivatives.coordinates) EXPECT_EQ(derivative, 0) << kernel;
      for (const double derivative : derivatives.inputs.values) EXPECT_EQ(derivative, 0) << kernel;
    }
  }
}

}  // namespace
}  // namespace mfga
