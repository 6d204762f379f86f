// How good models are on rows with known targets.
#include "mfga/evaluate.hpp"

#include <gtest/gtest.h>

#include "mfga/error.hpp"

namespace mfga {
namespace {

// The score of a row is its one number.
Model identity(Task task, std::vector<std::string> labels = {}) {
  Model model;
  model.task = task;
  model.labels = std::move(labels);
  model.n_columns = 1;
  model.inputs = {{"x0", 0}};
  model.terms = {{{"linear", 1, {0}, {1}, {}}, {1}}};
  return model;
}

ConstMatrixView column(const std::vector<double>& values) {
  return {values.data(), static_cast<Index>(values.size()), 1, 1};
}

template <class Call>
std::string message_of(Call call, ErrorKind kind = ErrorKind::kBadData) {
  try {
    static_cast<void>(call());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "no error";
}

TEST(Evaluate, MeasuresTheErrorsOfNumbers) {
  const std::vector<double> x = {1, 2, 3, 4};
  const std::vector<double> y = {1, 2, 3, 6};
  const Evaluation evaluation = evaluate(identity(Task::kRegression), column(x), y);
  EXPECT_FALSE(evaluation.classification);
  EXPECT_FALSE(evaluation.scaled_error_percent);
  EXPECT_DOUBLE_EQ(evaluation.regression.value().rmse, 1);
  EXPECT_DOUBLE_EQ(evaluation.regression->mae, 0.5);

  Model scaled = identity(Task::kRegression);
  scaled.outputs[0].scale = 2;
  scaled.outputs[0].shift = 1;
  const Evaluation of_scaled = evaluate(scaled, column(x), y, 1);
  EXPECT_DOUBLE_EQ(of_scaled.regression.value().mse, (4.0 + 9 + 16 + 9) / 4);
  EXPECT_DOUBLE_EQ(of_scaled.scaled_error_percent.value(), 100 * of_scaled.regression->mse / 4);
}

TEST(Evaluate, TakesNumbersThatAreLabels) {
  const std::vector<double> x = {-3, -1, 2, 1, -2};
  const std::vector<double> y = {-1, -1, 1, -1, -1};
  const Evaluation evaluation = evaluate(identity(Task::kClassification, {"-1", "1"}), column(x), y);
  EXPECT_FALSE(evaluation.regression);
  EXPECT_DOUBLE_EQ(evaluation.classification.value().error_percent, 20);
  EXPECT_EQ(evaluation.rarer_label, "1");
  EXPECT_EQ(
      message_of([&] {
        return evaluate(identity(Task::kClassification, {"-1", "0"}), column(x), y);
      }),
      "row 2 (counted from 0): the target is 1; expected one of the labels of the model, \"-1\" and \"0\"");
}

TEST(Evaluate, TakesPositionsOfLabelsThatAreTexts) {
  const std::vector<double> x = {-3, -1, 2, 1, 2};
  const Model model = identity(Task::kClassification, {"no", "yes"});
  const Evaluation evaluation = evaluate(model, column(x), std::vector<double>{0, 0, 1, 0, 1});
  EXPECT_DOUBLE_EQ(evaluation.classification.value().error_percent, 20);
  EXPECT_EQ(evaluation.rarer_label, "yes");
  EXPECT_EQ(message_of([&] {
              return evaluate(model, column(x), std::vector<double>{0, 0, 2, 0, 1});
            }),
            "row 2 (counted from 0): the target is 2; expected the position of one of the labels \"no\" and "
            "\"yes\", from 0 on");
}

TEST(Evaluate, NeedsATargetForEachRow) {
  const std::vector<double> x = {1, 2, 3};
  EXPECT_EQ(message_of(
                [&] {
                  return evaluate(identity(Task::kRegression), column(x), std::vector<double>{1, 2});
                },
                ErrorKind::kInvalidArgument),
            "there are 2 targets for the 3 rows of x");
}

TEST(Evaluate, TakesTheTargetsOfTables) {
  Table table;
  table.source = "t.csv";
  table.target_name = "bought";
  table.values = Matrix(3, 1);
  table.target = {1, 0, 2};
  table.labels = {"no.", "yes", "yes."};
  table.lines.first_line = 2;
  const Model model = identity(Task::kClassification, {"no", "yes"});
  std::vector<std::string> warnings;
  EXPECT_EQ(targets_of(model, table, warnings), (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(warnings, std::vector<std::string>{
                          "t.csv: 2 of 3 labels end in a dot, as in \"no.\"; they are taken for the labels "
                          "without it"});
  EXPECT_EQ(message_of([&] {
              return targets_of(identity(Task::kClassification, {"no", "maybe"}), table, warnings);
            }),
            "t.csv:2: the target \"bought\" is \"yes\"; the model knows the labels \"no\" and \"maybe\"");
  EXPECT_EQ(message_of([&] { return targets_of(identity(Task::kRegression), table, warnings); }),
            "t.csv: the target \"bought\" holds text such as \"no.\"; the model predicts a number");
  table.labels.clear();
  EXPECT_EQ(targets_of(identity(Task::kRegression), table, warnings), table.target);
}

}  // namespace
}  // namespace mfga
