// Atoms of all families as functions that devices compute, against their definitions.
#include "device/row_functions.hpp"

#include <gtest/gtest.h>

#include "device/test_devices.hpp"
#include "features/expressions.hpp"
#include "losses/logistic.hpp"
#include "losses/squared.hpp"
#include "reference.hpp"
#include "solve/device_problem.hpp"

namespace mfga {
namespace {

constexpr Index kInputs = 4;
constexpr Index kRows = 700;

struct Sample {
  Matrix x = reference::random_matrix(kRows, kInputs, 1);
  std::vector<double> y = reference::random_vector(kRows, 2);
  BlockedRows rows{x.view(), reference::plain_inputs(kInputs)};
  Workers workers{2};
  Problem problem{rows, y, squared_loss(), Intercept::kUnpenalised, workers};
};

// Some of all candidates, every so often.
std::vector<Atom> some_atoms(const Candidates& candidates) {
  std::vector<Atom> atoms;
  const Index distance = std::max<Index>(1, candidates.size() / 20);
  for (Index j = 0; j < candidates.size(); j += distance) atoms.push_back(candidates.atom(j));
  return atoms;
}

TEST(RowFunctions, AtomsOfAllFamiliesHaveTheirValuesOnEveryDevice) {
  Sample sample;
  for (const auto& device : test_devices()) {
    DeviceProblem on_device(*device, sample.problem);
    for (const std::string& expression : kExpressions) {
      const Candidates candidates(Dictionary(expression), {kInputs, 1, 3, &sample.rows, {}, &sample.workers});
      const std::vector<Atom> atoms = some_atoms(candidates);
      const auto columns = on_device.rows().make_columns(2 + std::ssize(atoms));
      on_device.evaluate(atoms, *columns, 2);
      std::vector<double> values(kRows);
      for (std::size_t i = 0; i < atoms.size(); ++i) {
        on_device.rows().get(*columns, 2 + static_cast<Index>(i), values);
        for (Index n = 0; n < kRows; ++n) {
          const double expected = reference::atom_value(atoms[i], sample.x.row(n), kInputs);
          ASSERT_NEAR(values[static_cast<std::size_t>(n)], expected, 1e-10 * (1 + std::abs(expected)))
              << expression << " atom " << i << " row " << n << " on " << device->info().name;
        }
      }
    }
  }
}

// A run of atoms may begin with any family and change as often as it likes.
TEST(RowFunctions, ListsMayMixFamilies) {
  Sample sample;
  const Candidates candidates(
      Dictionary("linear + hinge(knots=5) + gaussian(order=2, sigma=2) + landmark(count=9, sigma=1.5)"),
      {kInputs, 1, 3, &sample.rows, {}, &sample.workers});
  std::vector<Atom> atoms;
  for (Index i = 0; i < 40; ++i) atoms.push_back(candidates.atom((i * 31) % candidates.size()));
  for (const auto& device : test_devices()) {
    DeviceProblem on_device(*device, sample.problem);
    const ColumnRange all = on_device.values(std::span(atoms).first(25), std::span(atoms).subspan(25));
    ASSERT_EQ(all.count, 41);
    std::vector<double> values(kRows);
    for (Index i = 0; i < all.count; ++i) {
      on_device.rows().get(*all.columns, all.first + i, values);
      for (Index n = 0; n < kRows; ++n) {
        const double expected =
            i == 0 ? 1
                   : reference::atom_value(atoms[static_cast<std::size_t>(i - 1)], sample.x.row(n), kInputs);
        ASSERT_NEAR(values[static_cast<std::size_t>(n)], expected, 1e-10 * (1 + std::abs(expected)));
      }
    }
  }
}

TEST(RowFunctions, WhatNeedsTooManyNumbersAtATimeIsLeftAlone) {
  ExpressionGraph graph;
  Expression nested = graph.exp(graph.column(0));
  for (int i = 0; i < 2 * kDeepestRowStack; ++i)
    nested = graph.max(graph.plus(graph.column(1), i), graph.exp(graph.subtract(graph.column(2), nested)));
  RowFunctions functions;
  ASSERT_TRUE(append(graph, graph.column(1), functions));
  EXPECT_FALSE(append(graph, nested, functions));
  EXPECT_EQ(functions.size(), 1);
  EXPECT_EQ(functions.steps.size(), 1U);
  EXPECT_FALSE(append(graph, graph.select(graph.is_missing(0), graph.column(1), graph.column(2)), functions));
  EXPECT_EQ(functions.steps.size(), 1U);
}

TEST(DeviceLoss, IsTheLossItself) {
  const std::vector<double> scores = {-800, -3, -0.1, 0, 0.7, 5, 800};
  for (const Loss* loss : reference::both_losses()) {
    for (const double target : {-1.0, 1.0}) {
      for (const double score : scores) {
        double first = 0;
        double second = 0;
        const double value = loss->derivatives(&score, &target, nullptr, 1, &first, &second);
        ASSERT_TRUE(loss->on_device().has_value());
        const LossOfRow here = loss_of(*loss->on_device(), score, target);
        EXPECT_NEAR(here.loss, value, 1e-14 * (1 + std::abs(value)));
        EXPECT_NEAR(here.first, first, 1e-14 * (1 + std::abs(first)));
        EXPECT_NEAR(here.second, second, 1e-14);
      }
    }
  }
}

}  // namespace
}  // namespace mfga
