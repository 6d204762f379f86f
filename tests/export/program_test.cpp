// The expressions of a model give the predictions of the model, for every family, scale and loss; the
// languages that they are printed in are run by python/tests/test_export*.py.
#include "export/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "features/expressions.hpp"
#include "losses/loss.hpp"
#include "mfga/predictor.hpp"

namespace mfga {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The values of a program's expressions on one row: numbers, or levels, by column of the program.
class Values {
 public:
  Values(const Program& program, const std::vector<double>& row) : program_(program), row_(row) {
    for (Index id = 0; id < program.graph.size(); ++id)
      values_.push_back(value(program.graph.node({static_cast<std::int32_t>(id)})));
  }
  double operator()(Expression expression) const { return values_[static_cast<std::size_t>(expression.id)]; }

 private:
  double value(const ExpressionNode& node) const {
    const auto argument = [&](std::size_t i) { return (*this)(node.arguments[i]); };
    const auto cell = [&] { return row_[static_cast<std::size_t>(node.column)]; };
    const std::vector<double>& numbers = node.numbers;
    double sum = 0;
    switch (node.kind) {
      case ExpressionKind::kConstant:
        return numbers[0];
      case ExpressionKind::kColumn:
        return cell();
      case ExpressionKind::kSum:
        for (std::size_t i = 0; i < node.arguments.size(); ++i) sum += numbers[i] * argument(i);
        return sum + numbers.back();
      case ExpressionKind::kProduct:
        sum = 1;
        for (std::size_t i = 0; i < node.arguments.size(); ++i) sum *= argument(i);
        return sum;
      case ExpressionKind::kQuotient:
        return argument(0) / argument(1);
      case ExpressionKind::kPower:
        return std::pow(argument(0), numbers[0]);
      case ExpressionKind::kSquareDistance:
        for (std::size_t i = 0; i < numbers.size(); ++i) sum += std::pow(argument(i) - numbers[i], 2);
        return sum;
      case ExpressionKind::kDistance:
        for (std::size_t i = 0; i < numbers.size(); ++i) sum += std::abs(argument(i) - numbers[i]);
        return sum;
      case ExpressionKind::kExp:
        return std::exp(argument(0));
      case ExpressionKind::kLog:
        return std::log(argument(0));
      case ExpressionKind::kSqrt:
        return std::sqrt(argument(0));
      case ExpressionKind::kCos:
        return std::cos(argument(0));
      case ExpressionKind::kSin:
        return std::sin(argument(0));
      case ExpressionKind::kAbs:
        return std::abs(argument(0));
      case ExpressionKind::kMax:
        return std::max(argument(0), argument(1));
      case ExpressionKind::kMin:
        return std::min(argument(0), argument(1));
      case ExpressionKind::kLine: {
        const std::size_t count = numbers.size() / 2;
        const double x = argument(0);
        for (std::size_t i = 0; i + 1 < count; ++i) {
          if (x >= numbers[i + 1]) continue;
          if (x < numbers[i]) return numbers[count + i];
          return std::lerp(numbers[count + i], numbers[count + i + 1],
                           (x - numbers[i]) / (numbers[i + 1] - numbers[i]));
        }
        return numbers.back();
      }
      case ExpressionKind::kSelect:
        return argument(argument(0) != 0 ? 1 : 2);
      case ExpressionKind::kAtLeast:
        return argument(0) >= argument(1) ? 1 : 0;
      case ExpressionKind::kIsMissing:
        return std::isnan(cell()) || cell() == ProgramColumn::kMissing ? 1 : 0;
      case ExpressionKind::kIsLevel:
        return cell() == numbers[0] ? 1 : 0;
    }
    return 0;
  }

  const Program& program_;
  const std::vector<double>& row_;
  std::vector<double> values_;
};

const std::vector<std::string> kColours = {"blue", "red", "yellow"};

// Six inputs of all kinds: standard, stretched, robust, quantile, a level, and whether a value is missing.
Model model_of_inputs() {
  Model model;
  model.n_columns = 7;
  model.text_columns = {{"colour", 4, kColours}};
  model.inputs = {{"a", 0, 0.25, 1.7}, {"b", 1, -3, 0.1}, {"c", 2, 1e9, 1e7}, {"d", 3, 0, 1}};
  model.inputs.push_back({level_name("colour", kColours[1]), 5, 0.3, 0.4});
  model.inputs.push_back({"a=missing", 0, 0.1, 0.3});
  model.inputs[1].stretch = 0.37;
  model.inputs[2].warp.limit = 1.25;
  model.inputs[3].warp.knots = {-2, -0.5, 1, 7};
  model.inputs[3].warp.values = {-2.5, -0.25, 0.125, 2.5};
  model.inputs[3].stretch = 1.1;
  model.inputs[5].is_missing = true;
  return model;
}

void add_terms_of(const std::string& expression, Model& model) {
  const BoundCandidates bound(expression, 100, std::ssize(model.inputs));
  constexpr Index kMost = 9;
  const Index step = std::max<Index>(1, bound.candidates.size() / kMost);
  for (Index j = 0; j < bound.candidates.size(); j += step) {
    std::vector<double> coefficients;
    for (std::size_t k = 0; k < model.outputs.size(); ++k)
      coefficients.push_back(std::sin(static_cast<double>(17 + j + 31 * std::ssize(coefficients))) / 3);
    model.terms.push_back({bound.candidates.atom(j), coefficients});
  }
}

// Rows with missing values, values far outside of the scales, and texts of every kind.
std::vector<std::vector<double>> some_rows() {
  std::vector<std::vector<double>> rows;
  const std::vector<double> values = reference::random_vector(4 * 60, 5);
  for (std::size_t n = 0; n < 60; ++n) {
    const double* v = values.data() + 4 * n;
    const double far = n % 9 == 8 ? 30 : 1;
    std::vector<double> row = {
        0.25 + v[0], -3 + 0.2 * v[1], 1e9 + 1.5e7 * v[2] * far, 3 * v[3] * far, 0, 0, 0};
    if (n % 5 == 4) row[n / 5 % 4] = kNaN;
    if (n % 7 == 6) std::fill_n(row.begin() + 4, 3, kNaN);
    if (n % 7 < 5) row[4 + n % 3] = 1;  // else it is an unknown text
    rows.push_back(row);
  }
  return rows;
}

// A row of the table as the program's columns see it.
std::vector<double> cells(const Program& program, const std::vector<double>& row) {
  std::vector<double> result;
  for (const ProgramColumn& column : program.columns) {
    if (!column.is_text) {
      result.push_back(row[static_cast<std::size_t>(column.position)]);
      continue;
    }
    double code = ProgramColumn::kUnknown;
    for (int i = 0; i < 3; ++i) {
      if (std::isnan(row[4])) code = ProgramColumn::kMissing;
      if (row[static_cast<std::size_t>(4 + i)] == 1) code = i;
    }
    result.push_back(code);
  }
  return result;
}

void expect_close(double found, double expected, const std::string& what) {
  EXPECT_NEAR(found, expected, 1e-9 * std::max(1.0, std::abs(expected))) << what;
}

void compare(const Model& model, const std::string& what) {
  const Program program = make_program(model);
  const Predictor predictor(model, 1);
  const std::vector<std::vector<double>> rows = some_rows();
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const std::string where = what + ", row " + std::to_string(n);
    const ConstMatrixView row{rows[n].data(), 1, 7, 7};
    const std::vector<double> own_cells = cells(program, rows[n]);
    const Values values(program, own_cells);
    const std::vector<double> scores = predictor.scores(row);
    for (std::size_t k = 0; k < scores.size(); ++k) {
      expect_close(values(program.scores[k]), scores[k], where);
      double sum = model.outputs[k].intercept;
      for (std::size_t i = 0; i < model.terms.size(); ++i)
        sum += model.terms[i].coefficients[k] * values(program.terms[i]);
      expect_close(sum, scores[k], where + ", by terms");
    }
    const bool has_classes = model.task == Task::kClassification;
    std::vector<double> results = has_classes ? predictor.probabilities(row) : predictor.predictions(row);
    if (has_classes && model.has_one_output()) results.insert(results.begin(), 1 - results[0]);
    ASSERT_EQ(program.results.size(), results.size());
    for (std::size_t k = 0; k < results.size(); ++k)
      expect_close(values(program.results[k]), results[k], where + ", result");
  }
}

TEST(Program, GivesThePredictionsOfEveryFamily) {
  std::set<std::string> families;
  for (const std::string& expression : kExpressions) {
    Model model = model_of_inputs();
    model.outputs[0] = {"", -1.0 / 3, 1000, 2.5};
    add_terms_of(expression, model);
    for (const Term& term : model.terms) families.insert(term.atom.family);
    compare(model, expression);
  }
  EXPECT_EQ(families.size(), feature_families().size());
}

TEST(Program, KnowsMixing) {
  Model model = model_of_inputs();
  const Index d = std::ssize(model.inputs);
  model.mixing = Matrix(d, d);
  std::ranges::copy(reference::random_vector(d * d, 8), model.mixing.values.begin());
  add_terms_of("linear + gaussian(order=1, sigma=2) + landmark(count=3, sigma=3)", model);
  compare(model, "mixed");
}

TEST(Program, GivesThePredictionsOfEveryLoss) {
  for (const Loss* loss : losses()) {
    Model model = model_of_inputs();
    model.task = loss->task();
    model.loss = loss->name();
    if (loss->name() == "squared" || loss->name() == "logistic") model.loss.clear();
    std::size_t outputs = 1;
    if (model.task == Task::kClassification) model.labels = {"no", "yes"};
    if (loss->name().ends_with("(3)") || loss->outputs(1) > 1) {
      outputs = 3;
      model.labels = {"left", "middle", "right"};
      model.loss = loss->name().substr(0, loss->name().find('(')) + "(3)";
    }
    model.outputs.assign(outputs, Output{});
    for (std::size_t k = 0; k < outputs; ++k) model.outputs[k].intercept = 0.3 * static_cast<double>(k);
    add_terms_of("linear + hinge(knots=3)", model);
    compare(model, loss->name());
  }
}

TEST(Program, KnowsTextsThatAreRareMissingAndUnknown) {
  Model model;
  model.n_columns = 4;
  model.missing_texts = {"none"};
  model.text_columns = {{"colour", 0, {"blue", "missing", "other", "red"}, {"green", "grey"}}};
  for (Index i = 0; i < 4; ++i) {
    const std::string& level = model.text_columns[0].levels[static_cast<std::size_t>(i)];
    model.inputs.push_back({level_name("colour", level), i, 0.25, 0.5});
    model.terms.push_back({{"linear", 1, {i}, {1}, {}}, {1.0 + static_cast<double>(i)}});
  }
  const ProgramColumn colour = make_program(model).columns.at(0);
  EXPECT_EQ(colour.codes.at("red"), 3);
  EXPECT_EQ(colour.codes.at("grey"), 2);
  EXPECT_EQ(colour.codes.at("NaN"), 1);
  EXPECT_EQ(colour.codes.at("none"), 1);
  EXPECT_EQ(colour.of_missing, 1);
  EXPECT_EQ(colour.of_unknown, 2);
}

TEST(Program, HasTheColumnsThatItNeeds) {
  Model model = model_of_inputs();
  model.terms.push_back({{"step", 1, {3}, {1}, {0.1}}, {2}});
  const Program program = make_program(model);
  ASSERT_EQ(program.columns.size(), 1U);
  EXPECT_EQ(program.columns[0].name, "d");
  EXPECT_EQ(program.columns[0].position, 3);
  EXPECT_EQ(program.n_predictors, 5);
}

}  // namespace
}  // namespace mfga
