// mfga predict and mfga evaluate: a saved model on other files.
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "cli/tool.hpp"
#include "mfga/mfga.hpp"

namespace mfga {
namespace {

double to_number(const std::string& text) {
  double value = NAN;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  EXPECT_TRUE(error == std::errc() && end == text.data() + text.size()) << text;
  return value;
}

class SavedFileTest : public ToolTest {
 protected:
  // Trains on a table and returns the report; the model is m.json.
  Json train(const std::string& table, Arguments more = {}) {
    Arguments arguments = {"train", "--train", table, "--terms", "5", "--model", path("m.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_json(arguments);
  }
  [[nodiscard]] std::vector<std::string> predict(const std::string& table, Arguments more = {}) const {
    Arguments arguments = {"predict", path("m.json"), table, "-o", path("out.csv"), "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(run_well(arguments).out, "");
    return lines("out.csv");
  }
  [[nodiscard]] Json evaluate(const std::string& table, Arguments more = {}) const {
    Arguments arguments = {"evaluate", path("m.json"), table};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_json(arguments);
  }
};
using PredictCommand = SavedFileTest;
using EvaluateCommand = SavedFileTest;

// The rows of small_rows(count, seed) without names; the signal is put at `target`, or nowhere if it is -1.
std::string headerless(std::size_t count, unsigned seed, int target) {
  std::string text;
  for (const SmallRow& row : small_rows(count, seed)) {
    std::vector<double> fields = {row.a, row.b, row.c};
    if (target >= 0) fields.insert(fields.begin() + target, row.signal());
    text += fmt::format("{}\n", fmt::join(fields, ","));
  }
  return text;
}

TEST_F(PredictCommand, WritesWhatTheLibraryPredicts) {
  train(write(regression_csv(80)));
  const std::string file = write(regression_csv(30, 2), "new.csv");
  const std::vector<std::string> written = predict(file);
  const Table table = TableFile(file, {}).read_for_training("y", {});
  const std::vector<double> expected = load_model(path("m.json")).predict(table.values.view());
  ASSERT_EQ(written.size(), expected.size() + 1);
  EXPECT_EQ(written[0], "y");
  for (std::size_t n = 0; n < expected.size(); ++n) EXPECT_EQ(to_number(written[n + 1]), expected[n]);
}

TEST_F(PredictCommand, PrintsToStandardOutputByDefault) {
  train(write(regression_csv(40)));
  const std::string file = write(regression_csv(10, 2), "new.csv");
  (void)predict(file);
  EXPECT_EQ(run_well({"predict", path("m.json"), file}).out, content("out.csv"));
  EXPECT_EQ(run_well({"predict", path("m.json"), file, "-o", "-"}).out, content("out.csv"));
  expect_message(run_well({"predict", path("m.json"), file, "-o", path("out.csv")}).out,
                 {"10 predictions: "});
}

TEST_F(PredictCommand, DoesNotDependOnThreads) {
  train(write(classification_csv(60)));
  const std::string file = write(classification_csv(600, "no", "yes", 2), "new.csv");
  const std::vector<std::string> expected = predict(file, {"--threads", "1", "--proba"});
  EXPECT_EQ(predict(file, {"--threads", "3", "--proba"}), expected);
}

TEST_F(PredictCommand, RefusesNamelessColumnsThatDoNotLineUp) {
  // Trained on four columns, of which the last is ignored: with neither the target nor the ignored one, names
  // that stand for positions would be shifted by one.
  train(write(headerless(60, 1, 0)), {"--header", "no", "--target", "0", "--ignore", "3"});
  const std::string three_columns = write(headerless(20, 2, -1), "shifted.csv");
  expect_message(run_refused({"predict", path("m.json"), three_columns}),
                 {"shifted.csv", "3 columns without names", "expected 2", "or 4"});
  expect_message(run_refused({"evaluate", path("m.json"), three_columns}), {"shifted.csv", "3 columns"});
}

TEST_F(PredictCommand, MatchesColumnsByName) {
  train(write(regression_csv(80)));
  const std::vector<std::string> expected = predict(write(regression_csv(20, 2), "new.csv"));
  std::string text = "remark,c,extra,a,b\n";
  for (const SmallRow& row : small_rows(20, 2)) text += fmt::format("text,{},,{},{}\n", row.c, row.a, row.b);
  EXPECT_EQ(predict(write(text, "other.csv")), expected);
}

TEST_F(PredictCommand, NamesTheColumnsThatAreMissing) {
  train(write(regression_csv(40)));
  (void)write("before", "out.csv");
  const std::string message =
      run_refused({"predict", path("m.json"), write("a,y\n1,2\n", "new.csv"), "-o", path("out.csv")});
  expect_message(message, {"new.csv", "2 of the model's 3 inputs are missing: b, c"});
  EXPECT_EQ(content("out.csv"), "before");
  EXPECT_EQ(files(), (std::vector<std::string>{"m.json", "new.csv", "out.csv", "table.csv"}));
}

TEST_F(PredictCommand, ReadsFilesWithoutNames) {
  for (const int target : {0, 1, 3}) {
    SCOPED_TRACE(target);
    train(write(headerless(60, 1, target)), {"--header", "no", "--target", std::to_string(target)});
    const std::vector<std::string> with_target = predict(write(headerless(20, 2, target), "with.csv"));
    EXPECT_EQ(predict(write(headerless(20, 2, -1), "without.csv")), with_target);
    EXPECT_EQ(with_target.size(), 21U);
  }
}

TEST_F(PredictCommand, TakesNamelessColumnsInTheOrderOfTraining) {
  train(write(regression_csv(60)));
  const std::vector<std::string> expected = predict(write(regression_csv(20, 2), "new.csv"));
  EXPECT_EQ(predict(write(headerless(20, 2, -1), "nameless.csv")), expected);
  expect_message(run_refused({"predict", path("m.json"), write("1,2\n3,4\n", "few.csv")}),
                 {"few.csv", "expected 3", "2 columns without names"});
}

TEST_F(PredictCommand, ReadsLibsvmFilesWithFewerFeatures) {
  std::string text;
  for (const SmallRow& row : small_rows(60)) {
    text += fmt::format("{} 1:{} 2:{} 4:{}\n", row.signal() > 0 ? "+1" : "-1", row.a, row.b, row.c);
  }
  train(write(text, "train"));
  // Features that a line does not list are 0; the file's largest index is 2.
  const std::vector<std::string> few = predict(write("-1 1:0.5\n+1 1:-0.5 2:1\n", "few"));
  const std::vector<std::string> full = predict(write("0 1:0.5 2:0 3:0 4:0\n0 1:-0.5 2:1 3:0 4:0\n", "full"));
  EXPECT_EQ(few, full);
  EXPECT_EQ(few, (std::vector<std::string>{"label", "1", "-1"}));
  EXPECT_EQ(evaluate(path("few")).at("metrics").at("error_percent"), 100);
}

TEST_F(PredictCommand, ProbabilitiesSumToOne) {
  train(write(classification_csv(80)));
  const std::string file = write(classification_csv(50, "no", "yes", 2), "new.csv");
  const std::vector<std::string> labels = predict(file);
  const std::vector<std::string> written = predict(file, {"--proba"});
  ASSERT_EQ(written.size(), 51U);
  EXPECT_EQ(written[0], "P(no),P(yes)");
  for (std::size_t n = 1; n < written.size(); ++n) {
    const std::size_t comma = written[n].find(',');
    const double no = to_number(written[n].substr(0, comma));
    const double yes = to_number(written[n].substr(comma + 1));
    EXPECT_NEAR(no + yes, 1, 1e-15);
    EXPECT_GT(std::min(no, yes), 0);
    EXPECT_EQ(labels[n], yes > 0.5 ? "yes" : "no");
  }
}

TEST_F(PredictCommand, GivesTheLabelsBack) {
  struct Case {
    std::string negative, positive, first, second;
  };
  for (const Case& c :
       {Case{"bad apple", "good apple", "bad apple", "good apple"}, Case{"-1", "+1", "-1", "1"},
        Case{"1", "2", "1", "2"}, Case{"0.5", "1e3", "0.5", "1000"},
        Case{"\"a,b\"", "\"say \"\"c\"\"\"", "\"a,b\"", "\"say \"\"c\"\"\""}}) {
    SCOPED_TRACE(c.negative);
    const std::string file = write(classification_csv(80, c.negative, c.positive));
    const Json report = train(file);
    EXPECT_EQ(report.at("task"), "classification");
    std::vector<std::string> written = predict(file);
    EXPECT_EQ(written[0], "y");
    written.erase(written.begin());
    std::ranges::sort(written);
    written.erase(std::unique(written.begin(), written.end()), written.end());
    EXPECT_EQ(written, (std::vector<std::string>{c.first, c.second}));
    EXPECT_EQ(evaluate(file).at("metrics").at("error_percent"), report.at("train").at("error_percent"));
  }
}

TEST_F(PredictCommand, ProbabilitiesNeedAClassifier) {
  const std::string file = write(regression_csv(40));
  train(file);
  expect_message(run_refused({"predict", path("m.json"), file, "--proba"}), {"--proba", "regression"});
}

// The numbers of a .npy file of float64 that the tool wrote.
std::vector<double> npy_numbers(const std::string& bytes, const std::string& shape) {
  EXPECT_TRUE(bytes.starts_with(std::string("\x93NUMPY\x01\0", 8)));
  const std::size_t end = bytes.find('\n') + 1;
  EXPECT_EQ(end % 64, 0U);
  EXPECT_EQ(static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]), end - 10);
  expect_message(bytes.substr(0, end),
                 {"'descr': '<f8'", "'fortran_order': False", fmt::format("'shape': {},", shape)});
  std::vector<double> numbers((bytes.size() - end) / sizeof(double));
  std::memcpy(numbers.data(), bytes.data() + end, numbers.size() * sizeof(double));
  return numbers;
}

TEST_F(PredictCommand, WritesNumpyArraysByTheNameOfTheOutput) {
  train(write(regression_csv(80)));
  const std::string file = write(regression_csv(30, 2), "new.csv");
  const std::vector<std::string> text = predict(file);
  run_well({"predict", path("m.json"), file, "-o", path("p.npy")});
  const std::vector<double> numbers = npy_numbers(content("p.npy"), "(30,)");
  ASSERT_EQ(numbers.size(), 30U);
  for (std::size_t n = 0; n < numbers.size(); ++n) EXPECT_EQ(numbers[n], to_number(text[n + 1]));
}

TEST_F(PredictCommand, NumpyArraysHoldProbabilitiesAndNumericLabels) {
  train(write(classification_csv(80)));
  const std::string file = write(classification_csv(20, "no", "yes", 2), "new.csv");
  const std::vector<std::string> text = predict(file, {"--proba"});
  run_well({"predict", path("m.json"), file, "-o", path("p.npy"), "--proba"});
  const std::vector<double> numbers = npy_numbers(content("p.npy"), "(20, 2)");
  ASSERT_EQ(numbers.size(), 40U);
  for (std::size_t n = 0; n < 20; ++n)
    EXPECT_EQ(fmt::format("{},{}", numbers[2 * n], numbers[2 * n + 1]), text[n + 1]);
  expect_message(run_refused({"predict", path("m.json"), file, "-o", path("labels.npy")}),
                 {"labels.npy", "such as \"no\" and \"yes\", are text", "--proba"});

  train(write(classification_csv(80, "3", "-1.5")));
  const std::vector<std::string> labels = predict(file);
  run_well({"predict", path("m.json"), file, "-o", path("p.npy")});
  const std::vector<double> numeric = npy_numbers(content("p.npy"), "(20,)");
  ASSERT_EQ(numeric.size(), 20U);
  for (std::size_t n = 0; n < numeric.size(); ++n) EXPECT_EQ(numeric[n], to_number(labels[n + 1]));
  EXPECT_NE(std::ranges::count(numeric, 3.0), 0);
  EXPECT_NE(std::ranges::count(numeric, -1.5), 0);
}

TEST_F(PredictCommand, LongOutputsAreTheSameForAnyNumberOfThreads) {
  constexpr std::size_t kRows = 20'000;  // several tasks of formatting
  train(write(regression_csv(80)));
  const std::string file = write(regression_csv(kRows, 2), "new.csv");
  const std::vector<std::string> expected = predict(file, {"--threads", "1"});
  ASSERT_EQ(expected.size(), kRows + 1);
  EXPECT_EQ(predict(file, {"--threads", "3"}), expected);
}

TEST_F(PredictCommand, ReportsTimesAsJson) {
  train(write(regression_csv(40)));
  const std::string file = write(regression_csv(10, 2), "new.csv");
  const Json report = run_json({"predict", path("m.json"), file, "-o", path("p.csv")});
  EXPECT_EQ(report.at("rows"), 10);
  EXPECT_EQ(report.at("output"), path("p.csv"));
  for (const std::string part : {"load", "predict", "write", "total"})
    EXPECT_GE(report.at("seconds").at(part), 0) << part;
  EXPECT_GT(report.at("peak_rss_mib"), 1);
  EXPECT_EQ(lines("p.csv").size(), 11U);
  expect_message(run_refused({"predict", path("m.json"), file, "--json"}), {"--json", "--output"});
  expect_message(run_refused({"predict", path("m.json"), file, "--json", "-o", "-"}), {"--json", "--output"});
}

// Rows as a .npy file of float64 without a target.
std::string npy_table(std::size_t count, unsigned seed, const std::string& padding = "") {
  std::string bytes;
  for (const SmallRow& row : small_rows(count, seed)) {
    for (const double value : {row.a, row.b, row.c})
      bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  const std::string dictionary =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, 3), }}{}\n", count, padding);
  std::string text = std::string("\x93NUMPY\x01\0", 8);
  text += static_cast<char>(dictionary.size());
  text += '\0';
  return text + dictionary + bytes;
}

TEST_F(PredictCommand, NumbersUsedWhereTheyLieGiveTheSame) {
  train(write(regression_csv(60)));
  const std::vector<std::string> expected = predict(write(headerless(3000, 2, -1), "new.csv"));
  std::set<bool> was_stored;
  for (const std::string padding : {"", " ", "  ", "   ", "    ", "     ", "      ", "       "}) {
    const std::string file = write(npy_table(3000, 2, padding), "new.npy");
    was_stored.insert(TableFile(file, {}).stored_numbers().has_value());
    EXPECT_EQ(predict(file), expected);
  }
  EXPECT_EQ(was_stored.size(), 2U) << "one of the files is aligned, others are not";
  EXPECT_EQ(predict(write(compress(npy_table(3000, 2)), "new.npy.gz")), expected);
}

TEST_F(PredictCommand, NumbersUsedWhereTheyLieMustBeFinite) {
  train(write(regression_csv(60)), {"--features", "linear"});
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t column = 0; column < 3; ++column) {  // also in columns that no term looks at
    std::string bytes = npy_table(50, 2);
    bytes.replace(bytes.size() - (3 * 10 - column) * sizeof(double), sizeof(double),
                  std::string(reinterpret_cast<const char*>(&kNan), sizeof(double)));
    expect_message(run_refused({"predict", path("m.json"), write(bytes, "new.npy"), "-o", path("p.npy"),
                                "--missing", "error"}),
                   {"new.npy", fmt::format("found nan in row 41, column {}", column + 1)});
  }
  EXPECT_EQ(files(), (std::vector<std::string>{"m.json", "new.npy", "table.csv"}));
}

TEST_F(PredictCommand, RowsWithoutAFinitePredictionAreNamed) {
  const Arguments options = {"--features", "polynomial(degree=3, offset=0)", "--scale", "standard", "--tune",
                             "no"};
  for (const std::string& table : {regression_csv(60), classification_csv(60)}) {
    train(write(table), options);
    expect_message(run_refused({"predict", path("m.json"), write("a,b,c\n0,0,0\n0.1,1e200,0\n", "new.csv"),
                                "-o", path("p.csv")}),
                   {"new.csv:3: ", "not a finite number", "\"b\" is 1e+200", "Correct the row"});
    std::string bytes = npy_table(50, 2);
    const double huge = -1e200;
    bytes.replace(bytes.size() - (3 * 10 - 1) * sizeof(double), sizeof(double),
                  std::string(reinterpret_cast<const char*>(&huge), sizeof(double)));
    expect_message(run_refused({"predict", path("m.json"), write(bytes, "new.npy")}),
                   {"new.npy", "41", "not a finite number", "\"b\" is -1e+200"});
  }
  EXPECT_FALSE(std::filesystem::exists(path("p.csv")));
}

TEST_F(PredictCommand, ColumnsMayBeNamedByLargeNumbers) {
  std::string text = "x20240101120000,b,y\n";
  for (const SmallRow& row : small_rows(20))
    text += fmt::format("{},{},{:.3f}\n", row.a, row.b, row.signal());
  const std::string file = write(text);
  train(file);
  EXPECT_EQ(predict(file).size(), 21U);
}

TEST_F(EvaluateCommand, AgreesWithTheTestOfTraining) {
  struct Case {
    std::string train, test;
    Arguments options;
  };
  for (const Case& c : {Case{regression_csv(80), regression_csv(30, 2), {}},
                        Case{regression_csv(80), regression_csv(30, 2), {"--preset", "paper"}},
                        Case{classification_csv(80), classification_csv(30, "no", "yes", 2), {}},
                        Case{headerless(60, 1, 0), headerless(30, 2, 0), {"--target", "0"}}}) {
    const std::string test = write(c.test, "test.csv");
    Arguments options = {"--test", test};
    options.insert(options.end(), c.options.begin(), c.options.end());
    const Json report = train(write(c.train), options);
    const Json evaluation = evaluate(test);
    EXPECT_EQ(evaluation.at("metrics"), report.at("test"));
    EXPECT_EQ(evaluation.at("task"), report.at("task"));
    EXPECT_EQ(evaluation.at("terms"), 5);
    EXPECT_EQ(evaluation.at("rows"), 30);
  }
}

TEST_F(EvaluateCommand, PrintsTheErrors) {
  const std::string file = write(classification_csv(40));
  train(file);
  expect_message(run_well({"evaluate", path("m.json"), file}).out,
                 {"40 rows, 3 predictors", "error ", "log loss ", "AUC "});
  EXPECT_EQ(run_well({"evaluate", path("m.json"), file, "--quiet"}).out, "");
}

TEST_F(EvaluateCommand, WhatIsUndefinedIsADash) {
  train(write(regression_csv(40)));
  const std::string row = write(regression_csv(1), "row.csv");
  expect_message(run_well({"evaluate", path("m.json"), row}).out, {"RMSE ", "R2 -\n"});
  EXPECT_TRUE(evaluate(row).at("metrics").at("r2").is_null());
  const std::string flat = write("a,b,c,y\n0.1,0.2,0.3,0.1\n0.5,0.2,0.1,0.1\n0.5,0.1,0.1,0.1\n", "flat.csv");
  EXPECT_TRUE(evaluate(flat).at("metrics").at("r2").is_null());

  train(write(classification_csv(40)));
  const std::string one_class = write("a,b,c,y\n0.1,0.2,0.3,no\n0.5,0.2,0.1,no\n", "one.csv");
  expect_message(run_well({"evaluate", path("m.json"), one_class}).out,
                 {"(0.00 % by always guessing the larger class)", "AUC -; of yes: ", "recall -"});
  EXPECT_TRUE(evaluate(one_class).at("metrics").at("auc").is_null());
  EXPECT_TRUE(evaluate(one_class).at("metrics").at("recall").is_null());
}

TEST_F(EvaluateCommand, OfARareClassThereIsMoreThanTheError) {
  std::string text = classification_csv(60);
  const Json report = train(write(text));
  EXPECT_EQ(run_well({"evaluate", path("m.json"), path("table.csv")}).out.find("precision"),
            std::string::npos)
      << "neither class is rare";
  EXPECT_TRUE(report.at("train").at("precision").is_number()) << "JSON has it anyway";
  text = "a,b,c,y\n";
  for (std::size_t n = 0; n < 20; ++n) text += fmt::format("-0.9,0,0,{}\n", n == 7 ? "yes" : "no");
  const std::string rare = write(text, "rare.csv");
  expect_message(run_well({"evaluate", path("m.json"), rare}).out,
                 {"error 5.00 % (5.00 % by always guessing the larger class)",
                  "of yes: precision -, recall 0.0000, average precision 0.0500"});
  const Json metrics = evaluate(rare).at("metrics");
  EXPECT_EQ(metrics.at("rarer_label"), "yes");
  EXPECT_EQ(metrics.at("base_error_percent"), 5);
  EXPECT_TRUE(metrics.at("precision").is_null());
  EXPECT_EQ(metrics.at("recall"), 0);
}

TEST_F(EvaluateCommand, TakesAnotherTargetWhenAsked) {
  train(write(regression_csv(40)));
  std::string renamed = regression_csv(20, 2);
  renamed.replace(0, 7, "a,b,c,z");
  const std::string file = write(renamed, "renamed.csv");
  expect_message(run_refused({"evaluate", path("m.json"), file}), {"renamed.csv", "no column \"y\"", "z"});
  const Json expected = evaluate(write(regression_csv(20, 2), "test.csv"));
  EXPECT_EQ(evaluate(file, {"--target", "z"}), expected);
  EXPECT_EQ(evaluate(file, {"--target", "-1"}), expected);
}

TEST_F(EvaluateCommand, NamesTheLineOfAnUnknownLabel) {
  train(write(classification_csv(40)));
  expect_message(
      run_refused({"evaluate", path("m.json"), write("a,b,c,y\n1,2,3,no\n\n1,2,3,maybe\n", "t.csv")}),
      {"t.csv:4: ", "\"maybe\"", "\"no\"", "\"yes\""});
  expect_message(run_refused({"evaluate", path("m.json"), write("a,b,c,y\n1,2,3,1\n", "t.csv"), "--json"}),
                 {"t.csv:2: ", "\"1\""});
}

TEST_F(EvaluateCommand, RefusesTextWhereTheModelPredictsANumber) {
  train(write(regression_csv(40)));
  expect_message(run_refused({"evaluate", path("m.json"), write("a,b,c,y\n1,2,3,no\n", "t.csv")}),
                 {"t.csv", "\"y\" holds text such as \"no\"", "predicts a number"});
}

}  // namespace
}  // namespace mfga
