// Explanations: sums to the last bit with every family, what columns get, and what terms are called.
#include "mfga/explain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "features/expressions.hpp"
#include "mfga/error.hpp"
#include "mfga/fit.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

enum class Seen { kPlain, kStretched, kWarped, kMixed };

// Terms of every candidate of the dictionary, with means that are not those of any rows.
Model model_of(const std::string& expression, Index inputs, Seen seen, Index outputs = 1) {
  const BoundCandidates bound(expression, 100, inputs);
  Model model;
  model.n_columns = inputs;
  model.outputs.clear();
  for (Index k = 0; k < outputs; ++k)
    model.outputs.push_back(
        {outputs > 1 ? "y" + std::to_string(k) : "", 0.75 + static_cast<double>(k), 3, 1.7});
  for (Index j = 0; j < inputs; ++j)
    model.inputs.push_back({"x" + std::to_string(j), j, 0.1 * static_cast<double>(j), 1.3});
  if (seen == Seen::kStretched || seen == Seen::kMixed) {
    for (ModelInput& input : model.inputs) input.stretch = 0.5 + input.mean;
  }
  if (seen == Seen::kWarped) {
    model.inputs[0].warp.limit = 1.5;
    model.inputs[1].warp = {0, {-1.2, -0.3, 0.4, 1.1}, {-2, -0.5, 0.5, 2}};
  }
  if (seen == Seen::kMixed) model.mixing = reference::random_matrix(inputs, inputs, 8);
  const std::vector<double> coefficients = reference::random_vector(bound.candidates.size() * outputs, 4);
  for (Index j = 0; j < bound.candidates.size(); ++j) {
    const auto first = coefficients.begin() + j * outputs;
    model.terms.push_back(
        {bound.candidates.atom(j), {first, first + outputs}, 0.01 * static_cast<double>(j % 7)});
  }
  return model;
}

Matrix rows_with_gaps(Index rows, Index columns) {
  Matrix x = reference::random_matrix(rows, columns, 3);
  for (Index n = 0; n < rows; n += 3) x(n, n % columns) = kMissing;
  return x;
}

void expect_sums(const Explanation& explanation, const std::vector<double>& scores, const Model& model) {
  ASSERT_EQ(std::ssize(scores), explanation.rows * explanation.outputs);
  for (Index n = 0; n < explanation.rows; ++n) {
    for (Index k = 0; k < explanation.outputs; ++k) {
      const auto place = static_cast<std::size_t>(n * explanation.outputs + k);
      const Output& output = model.outputs[static_cast<std::size_t>(k)];
      double sum = explanation.averages[static_cast<std::size_t>(k)];
      double size = std::abs(sum);
      for (Index i = 0; i < explanation.parts; ++i) {
        sum += explanation.contribution(n, i, k);
        size += std::abs(explanation.contribution(n, i, k));
      }
      ASSERT_EQ(explanation.totals[place], output.shift + output.scale * scores[place]);
      ASSERT_EQ(sum + explanation.rounding[place], explanation.totals[place]) << n << ' ' << k;
      ASSERT_LE(std::abs(explanation.rounding[place]), 1e-12 * size) << n << ' ' << k;
    }
  }
}

TEST(Explain, ContributionsAddUpToTheScoreToTheLastBitWithEveryFamily) {
  for (const std::string& expression : kExpressions) {
    for (const Seen seen : {Seen::kPlain, Seen::kStretched, Seen::kWarped, Seen::kMixed}) {
      // Five columns go along a line, three from corner to corner.
      for (const Index inputs : {5, 3}) {
        SCOPED_TRACE(expression + ", " + std::to_string(static_cast<int>(seen)) + ", " +
                     std::to_string(inputs));
        const Model model = model_of(expression, inputs, seen);
        const Matrix x = rows_with_gaps(9, inputs);
        const Explainer explainer(model, 1);
        const std::vector<double> scores = model.scores(x.view(), 1);
        expect_sums(explainer.by_term(x.view()), scores, model);
        expect_sums(explainer.by_column(x.view()), scores, model);
      }
    }
  }
}

TEST(Explain, EveryOutputHasContributionsOfItsOwn) {
  const Model model = model_of("linear + hinge(knots=2, interactions=2) + landmark(count=5, sigma=2)", 5,
                               Seen::kStretched, 3);
  const Matrix x = rows_with_gaps(kBlockRows + 30, 5);  // more than one block
  const std::vector<double> scores = model.scores(x.view());
  const Explainer explainer(model);
  for (const Explanation& explanation : {explainer.by_term(x.view()), explainer.by_column(x.view())})
    expect_sums(explanation, scores, model);
  // One output by itself gets what it gets among others.
  Model second = model;
  second.outputs = {model.outputs[1]};
  for (Term& term : second.terms) term.coefficients = {term.coefficients[1]};
  const Explanation all = explainer.by_column(x.view());
  const Explanation own = Explainer(second).by_column(x.view());
  for (Index n = 0; n < x.rows; ++n) {
    for (Index c = 0; c < own.parts; ++c)
      ASSERT_NEAR(own.contribution(n, c), all.contribution(n, c, 1), 1e-12) << n << ' ' << c;
  }
}

TEST(Explain, ARowIsExplainedAloneAsItIsInATable) {
  const Model model = model_of("linear + landmark(count=9, sigma=2)", 5, Seen::kPlain);
  const Matrix x = rows_with_gaps(20, 5);
  const Explainer explainer(model, 1);
  const Explanation all = explainer.by_column(x.view());
  for (Index n = 0; n < x.rows; ++n) {
    const Explanation one = explainer.by_column(x.view().middle_rows(n, 1));
    for (Index c = 0; c < all.parts; ++c)
      ASSERT_NEAR(one.contribution(0, c), all.contribution(n, c), 1e-12) << n << ' ' << c;
  }
}

TEST(Explain, AColumnInNoTermGetsNothing) {
  for (const std::string expression :
       {"linear", "step(knots=3)", "hinge(knots=2, interactions=2)", "polynomial"}) {
    Model model = model_of(expression, 5, Seen::kPlain);
    std::erase_if(model.terms, [](const Term& term) { return std::ranges::count(term.atom.inputs, 2) > 0; });
    const Explanation explanation = Explainer(model).by_column(rows_with_gaps(30, 5).view());
    for (Index n = 0; n < explanation.rows; ++n) EXPECT_EQ(explanation.contribution(n, 2), 0) << expression;
  }
}

TEST(Explain, ColumnsThatDoTheSameGetTheSame) {
  // exp(-|x|^2 / 2 sigma^2): all columns alike, along a line of five and from corners of three.
  for (const Index inputs : {5, 3}) {
    const Model model = model_of("gaussian(order=0, sigma=1.5)", inputs, Seen::kPlain);
    Matrix x(1, inputs);
    for (Index j = 0; j < inputs; ++j) x(0, j) = model.inputs[static_cast<std::size_t>(j)].mean + 0.8;
    const Explanation explanation = Explainer(model).by_column(x.view());
    for (Index c = 1; c < inputs; ++c)
      EXPECT_NEAR(explanation.contribution(0, c), explanation.contribution(0, 0), 1e-14) << inputs;
    EXPECT_GT(std::abs(explanation.contribution(0, 0)), 1e-3);
  }
}

TEST(Explain, AProductOfTwoColumnsIsDividedByShapleyValues) {
  Model model;
  model.n_columns = 2;
  model.inputs = {{"a", 0, 2, 1}, {"b", 1, -1, 1}};
  const auto hinge = [](double first, double second) {
    return Atom{"hinge", 1, {0, 1}, {1, 1}, {first, 1, second, 1}};
  };
  // max(0, a - 2 + 1) * max(0, b + 1 - 0.5), from the average row (2, -1), where it is 1 * 0.
  model.terms = {{hinge(-1, 0.5), {10}, 0}};
  Matrix x(1, 2);
  x(0, 0) = 5;    // 4
  x(0, 1) = 1.5;  // 2
  const Explanation explanation = Explainer(model).by_column(x.view());
  // a: ((f(a, -) - f(-, -)) + (f(a, b) - f(-, b))) / 2 = (0 + (8 - 2)) / 2; b: (2 + 8) / 2.
  EXPECT_DOUBLE_EQ(explanation.contribution(0, 0), 30);
  EXPECT_DOUBLE_EQ(explanation.contribution(0, 1), 50);
}

TEST(Explain, TheLineIsFollowedExactlyForPolynomials) {
  // x0 x1 x2 x3 x4, from 0: every column gets a fifth, whatever the values.
  Model model;
  model.n_columns = 5;
  for (Index j = 0; j < 5; ++j) model.inputs.push_back({"x" + std::to_string(j), j, 0, 1});
  model.terms = {{Atom{"polynomial", 1, {0, 1, 2, 3, 4}, {1, 1, 1, 1, 1}, {0, 5}}, {1}, 0}};
  Matrix x(1, 5);
  std::iota(x.values.begin(), x.values.end(), 1.0);
  const Explanation explanation = Explainer(model).by_column(x.view());
  for (Index c = 0; c < 5; ++c)
    EXPECT_NEAR(explanation.contribution(0, c), explanation.totals[0] / 5, 1e-12 * explanation.totals[0]);
}

// Enough nodes for what models have: the average row is as far from the row as it is long.
TEST(Explain, TheLineIsFollowedCloselyForKernels) {
  Model model = model_of("landmark(count=20, sigma=1.5)", 6, Seen::kPlain);
  for (Term& term : model.terms) term.mean.reset();  // then nothing but the quadrature is left to divide
  model.terms.resize(1);
  const Matrix x = reference::random_matrix(40, 6, 3);
  const Explainer explainer(model);
  const Explanation explanation = explainer.by_column(x.view());
  // Against a sum of small steps, in which columns move one after another, forth and back.
  const auto score = [&](const std::vector<double>& row) { return Predictor(model).score(row) * 1.7; };
  for (Index n = 0; n < 5; ++n) {
    std::vector<double> expected(6);
    constexpr int kSteps = 200;
    for (int step = 0; step < kSteps; ++step) {
      for (const bool is_back : {false, true}) {
        const auto at = [&](double part) {
          std::vector<double> row(6);
          for (Index j = 0; j < 6; ++j) {
            const double mean = model.inputs[static_cast<std::size_t>(j)].mean;
            row[static_cast<std::size_t>(j)] = mean + part * (x(n, j) - mean);
          }
          return row;
        };
        std::vector<double> row = at(step / double{kSteps});
        const std::vector<double> end = at((step + 1) / double{kSteps});
        for (std::size_t i = 0; i < 6; ++i) {
          const std::size_t j = is_back ? 5 - i : i;
          const double before = score(row);
          row[j] = end[j];
          expected[j] += 0.5 * (score(row) - before);
        }
      }
    }
    for (std::size_t j = 0; j < 6; ++j)
      EXPECT_NEAR(explanation.contribution(n, static_cast<Index>(j)), expected[j], 1e-5) << n << ' ' << j;
  }
}

TEST(Explain, ContributionsAreZeroOnAverageOverTheRowsOfTheTraining) {
  const Matrix x = reference::random_matrix(700, 4, 1);
  std::vector<double> y;
  std::vector<double> weights;
  for (Index n = 0; n < x.rows; ++n) {
    y.push_back(x(n, 0) + std::max(0.0, x(n, 1)) * x(n, 2) + (x(n, 3) > 0.3 ? 1 : 0));
    weights.push_back(n % 5 == 0 ? 0 : 1 + static_cast<double>(n % 3));
  }
  TrainingData data{.x = x.view(), .y = y};
  data.weights = weights;
  FitOptions options;
  options.features = "linear + step(knots=8) + landmark(count=30, sigma=2)";
  options.terms = 12;
  const Model model = model_from_json(model_to_json(fit(data, options).model), "a test");
  const Explainer explainer(model);
  ASSERT_TRUE(explainer.knows_means());
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (const Explanation& explanation : {explainer.by_term(x.view()), explainer.by_column(x.view())}) {
    double mean_total = 0;
    for (Index n = 0; n < x.rows; ++n)
      mean_total +=
          weights[static_cast<std::size_t>(n)] * explanation.totals[static_cast<std::size_t>(n)] / total;
    EXPECT_NEAR(mean_total, explanation.averages[0], 1e-12);
  }
  const Explanation terms = explainer.by_term(x.view());
  for (Index i = 0; i < terms.parts; ++i) {
    double mean = 0;
    for (Index n = 0; n < x.rows; ++n)
      mean += weights[static_cast<std::size_t>(n)] * terms.contribution(n, i);
    EXPECT_NEAR(mean / total, 0, 1e-13) << i;
  }
}

// Files of before have no means: then the row of means is what others are compared with.
TEST(Explain, WithoutMeansTheAverageRowHasTheAverageScore) {
  Model model = model_of("linear + step(knots=3) + landmark(count=5, sigma=2)", 5, Seen::kPlain);
  model.terms[2].mean.reset();
  const Explainer explainer(model);
  EXPECT_FALSE(explainer.knows_means());
  Matrix x(1, 5);
  std::ranges::fill(x.values, kMissing);  // which counts as the mean
  const Explanation explanation = explainer.by_column(x.view());
  EXPECT_NEAR(explanation.totals[0], explanation.averages[0], 1e-13);
  for (Index c = 0; c < explanation.parts; ++c) EXPECT_NEAR(explanation.contribution(0, c), 0, 1e-14);
}

TEST(Explain, LevelsAndMarksOfMissingValuesBelongToTheirColumn) {
  Model model;
  model.n_columns = 4;
  model.text_columns = {{"colour", 1, {"blue", "missing", "red"}}};
  model.inputs = {{"age", 0, 40, 10},
                  {"age=missing", 0, 0.1, 0.3, {}, 1, true},
                  {"colour=blue", 1, 0.3, 0.5},
                  {"colour=missing", 2, 0.1, 0.3},
                  {"colour=red", 3, 0.6, 0.5}};
  const auto linear = [](Index j) { return Atom{"linear", 1, {j}, {1}, {}}; };
  model.terms = {{linear(0), {1}, 0},
                 {linear(1), {1}, 0},
                 {linear(2), {1}, 0},
                 {linear(3), {1}, 0},
                 {Atom{"step", 1, {4}, {1}, {0.1}}, {1}, 0.6},
                 {Atom{"step", 1, {0}, {1}, {0.25}}, {2}, 0.5},
                 {Atom{"hinge", 1, {0}, {1}, {0.5, -1}}, {2}, 0},
                 {Atom{"polynomial", 1, {0, 4}, {1, 1}, {1, 2}}, {2}, 0},
                 {linear(0), {1}, 0}};
  const Explainer explainer(model);
  EXPECT_EQ(explainer.column_names(), (std::vector<std::string>{"age", "colour"}));
  EXPECT_EQ(explainer.term_names(),
            (std::vector<std::string>{"age", "age is missing", "colour = blue", "colour is missing",
                                      "colour = red", "age >= 42.5", "max(0, 45 - age)",
                                      "(age - 40) * [colour = red]", "age (2)"}));
  EXPECT_TRUE(std::ranges::equal(explainer.columns_of_term(3), std::vector<Index>{1}));
  EXPECT_TRUE(std::ranges::equal(explainer.columns_of_term(7), std::vector<Index>{0, 1}));
  Matrix x(3, 4);
  const std::vector<double> given = {52, 0, 0, 1, kMissing, 0, 1, 0, 30, 0, 0, 0};
  std::ranges::copy(given, x.values.begin());
  const std::vector<Index> columns = {0, 0, 1, 2, 3};
  const auto value = [&](Index column, Index row) {
    return explainer.value_text(column, x.view(), row, columns);
  };
  EXPECT_EQ(value(0, 0), "52");
  EXPECT_EQ(value(1, 0), "red");
  EXPECT_EQ(value(0, 1), "missing");
  EXPECT_EQ(value(1, 1), "missing");
  EXPECT_EQ(value(1, 2), "unknown");
  expect_sums(explainer.by_column(x.view()), model.scores(x.view()), model);
}

TEST(Explain, AModelWithoutTermsHasItsAverageAlone) {
  Model model;
  model.n_columns = 2;
  model.outputs[0].intercept = 4.5;
  const Explanation explanation = Explainer(model).by_term(rows_with_gaps(3, 2).view());
  EXPECT_EQ(explanation.parts, 0);
  EXPECT_EQ(explanation.averages[0], 4.5);
  expect_sums(explanation, {4.5, 4.5, 4.5}, model);
}

TEST(Explain, WrongTablesAreErrors) {
  const Explainer explainer(model_of("linear", 3, Seen::kPlain));
  const Matrix narrow(2, 2);
  EXPECT_THROW(static_cast<void>(explainer.by_term(narrow.view())), Error);
  Matrix infinite(2, 3);
  infinite(1, 1) = std::numeric_limits<double>::infinity();
  try {
    static_cast<void>(explainer.by_column(infinite.view()));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("row 1"), std::string::npos) << error.what();
  }
}

// A total far below its parts: the sum of these is but rounding.
TEST(Explain, TotalsThatAlmostCancelAreMetToTheLastBit) {
  Model model;
  model.n_columns = 2;
  model.inputs = {{"a", 0, 0, 1}, {"b", 1, 0, 1}};
  model.terms = {{Atom{"linear", 1, {0}, {1}, {}}, {1}, 0.1}, {Atom{"linear", 1, {1}, {1}, {}}, {-1}, 0.7}};
  Matrix x(40, 2);
  for (Index n = 0; n < x.rows; ++n) {
    x(n, 0) = 1 + 0.37 * static_cast<double>(n);
    x(n, 1) = x(n, 0) * (1 + 1e-16 * static_cast<double>(n)) + std::pow(10.0, -static_cast<double>(n) / 2);
  }
  model.outputs[0].intercept = 1e-20;
  const Explainer explainer(model);
  expect_sums(explainer.by_term(x.view()), model.scores(x.view()), model);
  expect_sums(explainer.by_column(x.view()), model.scores(x.view()), model);
}

}  // namespace
}  // namespace mfga
