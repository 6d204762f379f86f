// Sums by bins of all steps and hinges of an input, against sums over rows.
#include "features/knotted_candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "reference.hpp"

namespace mfga {
namespace {

// Atoms at the knots of each input, as the families list them.
std::vector<Atom> atoms_at(const std::vector<std::vector<double>>& knots, KnotShape shape) {
  std::vector<Atom> atoms;
  for (std::size_t j = 0; j < knots.size(); ++j) {
    const double nu = 0.3 + static_cast<double>(j);
    for (const double knot : knots[j]) {
      if (shape == KnotShape::kStep) {
        atoms.push_back({"step", nu, {static_cast<Index>(j)}, {1}, {knot}});
        continue;
      }
      for (const double side : {1.0, -1.0})
        atoms.push_back({"hinge", nu, {static_cast<Index>(j)}, {1}, {knot, side}});
    }
  }
  return atoms;
}

void expect_sums_of_values(const Matrix& x, const std::vector<std::vector<double>>& knots,
                           const std::vector<double>& row_weights) {
  const BlockedRows rows = BlockedRows(x.view(), reference::plain_inputs(x.cols)).weighted(row_weights);
  const Matrix columns = reference::random_matrix(2, x.rows, 3);
  for (const KnotShape shape : {KnotShape::kStep, KnotShape::kHinges}) {
    const std::vector<Atom> atoms = atoms_at(knots, shape);
    const auto candidates = knotted_candidates(*find_feature_family(atoms.front().family), atoms, shape);
    const Index n_atoms = candidates->size();
    ASSERT_EQ(n_atoms, std::ssize(atoms));
    std::vector<double> sums(static_cast<std::size_t>(3 * n_atoms));  // of two columns, and of squares
    Workers workers(2);
    sum_over_blocks(rows, workers, sums, [&](const RowBlock& block, Arena& arena, double* out) {
      candidates->correlate(block, columns.values.data() + block.first_row, x.rows, 2, out, n_atoms, arena);
      candidates->add_square_norms(block, out + 2 * n_atoms, arena);
    });
    for (Index j = 0; j < n_atoms; ++j) {
      const Atom atom = candidates->atom(j);
      const Atom& expected_atom = atoms[static_cast<std::size_t>(j)];
      EXPECT_EQ(atom.inputs, expected_atom.inputs);
      EXPECT_EQ(atom.parameters, expected_atom.parameters);
      double expected[3] = {};
      double sizes[3] = {};  // sums of absolute values: what rounding is relative to
      for (Index n = 0; n < x.rows; ++n) {
        const double value = reference::atom_value(atom, x.row(n), x.cols);
        const double weight = row_weights.empty() ? 1 : row_weights[static_cast<std::size_t>(n)];
        const double parts[3] = {columns(0, n) * value, columns(1, n) * value, weight * value * value};
        for (std::size_t i = 0; i < 3; ++i) {
          expected[i] += parts[i];
          sizes[i] += std::abs(parts[i]);
        }
      }
      for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_NEAR(sums[i * static_cast<std::size_t>(n_atoms) + static_cast<std::size_t>(j)], expected[i],
                    1e-13 * sizes[i])
            << atom.family << " " << atom.parameters[0] << " of input " << atom.inputs[0];
      }
    }
  }
}

std::vector<double> evenly(Index count, double first, double last) {
  std::vector<double> result;
  for (Index i = 0; i < count; ++i)
    result.push_back(first + (last - first) * static_cast<double>(i) / static_cast<double>(count - 1));
  return result;
}

TEST(KnottedCandidates, SumsByBinsEqualSumsOverRows) {
  for (const Index n_rows : {1, 7, 511, 1300}) {  // less than a block, and some blocks
    const Matrix x = reference::random_matrix(n_rows, 3, 1);
    std::vector<double> weights = reference::random_vector(n_rows, 2);
    std::ranges::transform(weights, weights.begin(), [](double w) { return std::max(0.0, w); });
    for (const std::vector<double>& row_weights : {std::vector<double>(), weights}) {
      // Many knots of an input, few, and none: all rows may be to one side of some.
      expect_sums_of_values(x, {evenly(200, -3, 3), {0.25}, evenly(63, -1, 9)}, row_weights);
      expect_sums_of_values(x, {{-0.5, 0.5}, {}, evenly(64, 5, 6)}, row_weights);
    }
  }
}

TEST(KnottedCandidates, ValuesOnKnotsBelongToTheBinAbove) {
  // Whole numbers, one of them in a long stretch, with knots on all of them, between, and far outside.
  Matrix x(700, 2);
  for (Index n = 0; n < x.rows; ++n) {
    x(n, 0) = n < 400 ? 3 : static_cast<double>(n % 7);
    x(n, 1) = n % 2 == 0 ? -1e-9 : 1e-9;
  }
  expect_sums_of_values(x, {evenly(21, -2, 8), evenly(40, -2e-9, 2e-9)}, {});
  expect_sums_of_values(x, {evenly(30, 1e6, 2e6), evenly(30, -2e6, -1e6)}, {});
}

TEST(KnottedCandidates, DistancesToFarKnotsAreNotLost) {
  // Large numbers close together: sums of x itself would have lost them.
  Matrix x(600, 1);
  for (Index n = 0; n < x.rows; ++n) x(n, 0) = 1e8 + static_cast<double>(n % 100) / 64;
  expect_sums_of_values(x, {evenly(33, 1e8, 1e8 + 2)}, {});
}

}  // namespace
}  // namespace mfga
