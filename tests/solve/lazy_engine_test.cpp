// What the lazy engine does together, and what it keeps, beside the same one by one and computed again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "losses/logistic.hpp"
#include "losses/squared.hpp"
#include "reference.hpp"
#include "solve/greedy.hpp"

namespace mfga {
namespace {

constexpr Index kInputs = 4;
constexpr Index kRows = 1300;
constexpr const char* kFeatures =
    "linear + step(knots=30) + hinge(knots=30) + polynomial(offset=0) + gaussian(order=2, sigma=2) + "
    "landmark(count=60, sigma=1.5)";

struct Sample {
  Matrix x = reference::random_matrix(kRows, kInputs, 3);
  std::vector<double> y = reference::random_vector(kRows, 4);
  std::vector<double> weights = reference::random_vector(kRows, 5);
  BlockedRows rows;
  Candidates candidates;
  Workers workers{2};

  explicit Sample(bool weighted)
      : rows(BlockedRows(x.view(), reference::plain_inputs(kInputs))),
        candidates(Dictionary(kFeatures), {kInputs, 1, 0, &rows}) {
    std::ranges::transform(weights, weights.begin(), [](double w) { return std::abs(w); });
    if (weighted) rows = rows.weighted(weights);
    for (Index n = 0; n < kRows; ++n) {
      const double* row = x.row(n);
      y[static_cast<std::size_t>(n)] +=
          std::exp(-row[0] * row[0] - row[1] * row[1]) * 6 + std::max(0.0, row[2]) * 2 + row[0] * row[3];
    }
  }
};

TEST(LazyEngine, GradientAndCorrelationsComeFromOnePass) {
  for (const bool weighted : {false, true}) {
    Sample sample(weighted);
    const Problem problem{sample.rows, sample.y, squared_loss(), Intercept::kUnpenalised, sample.workers};
    ActiveSet active;
    for (const Index candidate : {Index{1}, Index{20}, Index{100}, sample.candidates.size() - 5}) {
      active.candidates.push_back(candidate);
      active.atoms.push_back(sample.candidates.atom(candidate));
      active.theta.push_back(0.1 * static_cast<double>(active.candidates.size()));
    }
    active.intercepts.front() = 0.7;
    const Matrix combinations = reference::random_matrix(2, 1 + active.size(), 6);
    for (const Precision precision : {Precision::kDouble, Precision::kMixed}) {
      for (const double most_kept_bytes : {0.0, kMostKeptBytes}) {
        const auto engine = make_lazy_engine(problem, sample.candidates, precision, most_kept_bytes);
        Gradient gradient;
        const double loss = engine->gradient(active, gradient);
        const Matrix correlations = engine->correlations(active, combinations);
        Gradient together;
        Matrix correlations_together;
        const double loss_together =
            engine->gradient_and_correlations(active, combinations, together, correlations_together);
        EXPECT_NEAR(loss_together, loss, 1e-11 * loss);
        ASSERT_EQ(correlations_together.rows, 2);
        ASSERT_EQ(together.errors.size(), gradient.errors.size());
        const double length = std::sqrt(loss * kRows);
        for (std::size_t j = 0; j < gradient.values.size(); ++j) {
          const double error = gradient.exact() ? 0 : gradient.errors[j] + together.errors[j];
          ASSERT_NEAR(together.values[j], gradient.values[j], error + 1e-10 * length);
          for (Index c = 0; c < 2; ++c) {
            const double expected = correlations(c, static_cast<Index>(j));
            ASSERT_NEAR(correlations_together(c, static_cast<Index>(j)), expected,
                        1e-10 * (kRows + std::abs(expected)));
          }
        }
      }
    }
  }
}

TEST(LazyEngine, ProductsAreThoseOfValuesAndOfTheCurvatureAtTheLastGradient) {
  for (const bool weighted : {false, true}) {
    Sample sample(weighted);
    std::ranges::transform(sample.y, sample.y.begin(), [](double y) { return y > 1 ? 1 : -1; });
    const Problem problem{sample.rows, sample.y, logistic_loss(), Intercept::kUnpenalised, sample.workers};
    ActiveSet active{{2, 40}, {sample.candidates.atom(2), sample.candidates.atom(40)}, {0.5, -1}, {0.2}};
    const auto engine = make_lazy_engine(problem, sample.candidates, Precision::kMixed);
    Gradient gradient;
    static_cast<void>(engine->gradient(active, gradient));
    const std::vector<Index> added = {5, 150, sample.candidates.size() - 1};
    const CandidateProducts products = engine->products(active, added, true);
    Matrix plain(3, 2 + 5);
    Matrix curvature(3, 1 + 5);
    std::vector<double> entries(3);
    for (Index n = 0; n < kRows; ++n) {
      const auto row = static_cast<std::size_t>(n);
      const double weight = weighted ? sample.weights[row] : 1;
      std::vector<double> values = {1};
      for (const Atom& atom : active.atoms)
        values.push_back(reference::atom_value(atom, sample.x.row(n), kInputs));
      for (const Index candidate : added)
        values.push_back(reference::atom_value(sample.candidates.atom(candidate), sample.x.row(n), kInputs));
      const double margin = sample.y[row] * (0.2 + 0.5 * values[1] - values[2]);
      const double other = 1 / (1 + std::exp(margin));  // the probability of the other class
      for (Index i = 0; i < 3; ++i) {
        const double value = weight * values[static_cast<std::size_t>(3 + i)];
        entries[static_cast<std::size_t>(i)] -= value * sample.y[row] * other;
        plain(i, 1) += value * sample.y[row];
        for (Index j = 0; j < 6; ++j) {
          const double product = value * values[static_cast<std::size_t>(j)];
          plain(i, j == 0 ? 0 : 1 + j) += product;
          curvature(i, j) += product * other * (1 - other);
        }
      }
    }
    ASSERT_EQ(products.values.cols, plain.cols);
    ASSERT_EQ(products.curvature.cols, curvature.cols);
    for (Index i = 0; i < 3; ++i) {
      EXPECT_NEAR(products.gradient(i, 0), entries[static_cast<std::size_t>(i)], 1e-9);
      for (Index j = 0; j < plain.cols; ++j) EXPECT_NEAR(products.values(i, j), plain(i, j), 1e-8);
      for (Index j = 0; j < curvature.cols; ++j) EXPECT_NEAR(products.curvature(i, j), curvature(i, j), 1e-8);
    }
  }
}

TEST(LazyEngine, WhatIsKeptDoesNotChangeTheSearch) {
  for (const Loss* loss : {&squared_loss(), &logistic_loss()}) {
    for (const bool weighted : {false, true}) {
      Sample sample(weighted);
      if (!loss->constant_curvature())
        std::ranges::transform(sample.y, sample.y.begin(), [](double y) { return y > 1 ? 1 : -1; });
      const Problem problem{sample.rows, sample.y, *loss, Intercept::kUnpenalised, sample.workers};
      const GreedyOptions options{12, 1, 0, {0.1, 0}, {Rule::kGain, loss->constant_curvature() ? 1 : 32}};
      const auto search = [&](double most_kept_bytes) {
        const auto engine = make_lazy_engine(problem, sample.candidates, Precision::kMixed, most_kept_bytes);
        const auto refit = make_refit(problem, options.penalty);
        return run_greedy(problem, sample.candidates, *engine, *refit, options, {}).active;
      };
      const ActiveSet plain = search(0);
      const ActiveSet kept = search(kMostKeptBytes);
      EXPECT_EQ(plain.candidates, kept.candidates);
      for (std::size_t i = 0; i < plain.theta.size(); ++i)
        EXPECT_NEAR(plain.theta[i], kept.theta[i], 1e-8 * (1 + std::abs(plain.theta[i])));
    }
  }
}

TEST(LazyEngine, KeepsNoMoreThanAPartOfTheMemory) {
  EXPECT_EQ(kept_bytes(1e15), kMostKeptBytes);
  EXPECT_EQ(kept_bytes(4096), 1024);
}

}  // namespace
}  // namespace mfga
