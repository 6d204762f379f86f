// mfga explain and mfga compare.
#include <sstream>

#include "cli/tool.hpp"
#include "mfga/mfga.hpp"

namespace mfga {
namespace {

class ExplainTest : public ToolTest {
 protected:
  void train(const std::string& table, const std::string& model, const std::string& terms = "6",
             Arguments more = {}) {
    Arguments arguments = {"train",   table, "--features", "linear + hinge(knots=4, interactions=2)",
                           "--terms", terms, "--model",    path(model)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    (void)run_json(arguments);
  }
};
using ExplainCommand = ExplainTest;
using CompareCommand = ExplainTest;

std::string with_text(std::size_t count) {
  std::string text = "a,colour,y\n";
  const std::vector<std::string> colours = {"red", "green", "blue", ""};
  for (std::size_t n = 0; n < count; ++n) {
    const double a = static_cast<double>(n * 7 % 23);
    text += fmt::format("{},{},{}\n", a, colours[n % 4], 2 * a + (n % 4 == 0 ? 5 : 0));
  }
  return text;
}

// Parts in the order in which they are given.
double sum_of(const Json& explanation, const std::string& kind) {
  double sum = explanation["average"];
  for (const Json& part : explanation[kind + "s"]) sum += part["contribution"].get<double>();
  return sum + explanation["rounding_of_" + kind + "s"].get<double>();
}

TEST_F(ExplainCommand, TermsAndColumnsOfARowAddUpToWhatPredictWrites) {
  train(write(regression_csv(80)), "m.json");
  const std::string file = write(regression_csv(30, 2), "new.csv");
  (void)run_well({"predict", path("m.json"), file, "-o", path("p.csv"), "--quiet"});
  const std::vector<std::string> predictions = lines("p.csv");
  for (const int row : {1, 17, 30}) {
    const Json json = run_json({"explain", path("m.json"), file, "--row", std::to_string(row)});
    EXPECT_EQ(json["row"], row);
    EXPECT_EQ(json["line"], row + 1);
    const Json& explanation = json["explanations"][0];
    EXPECT_EQ(sum_of(explanation, "term"), explanation["score"].get<double>());
    EXPECT_EQ(sum_of(explanation, "column"), explanation["score"].get<double>());
    EXPECT_EQ(fmt::format("{}", explanation["score"].get<double>()),
              predictions[static_cast<std::size_t>(row)]);
    EXPECT_EQ(explanation["prediction"], explanation["score"]);
    double last = std::numeric_limits<double>::infinity();
    for (const Json& term : explanation["terms"]) {
      EXPECT_LE(std::abs(term["contribution"].get<double>()), last);
      last = std::abs(term["contribution"].get<double>());
    }
  }
}

TEST_F(ExplainCommand, ShowsARowAsAWaterfallOfItsOwnColumns) {
  const std::string table = write(with_text(80));
  train(table, "m.json");
  const std::string text = run_well({"explain", path("m.json"), table, "--row", "2"}).out;
  expect_message(text,
                 {":3 (row 2): y is predicted to be", "average of the training rows", "a = 7", "prediction"});
  EXPECT_NE(text.find_first_of("<>"), std::string::npos);
  const std::string by_column =
      run_well({"explain", path("m.json"), table, "--row", "2", "--by", "column"}).out;
  expect_message(by_column, {"colour = green", "a = 7"});
  const Json missing = run_json({"explain", path("m.json"), table, "--row", "4"})["explanations"][0];
  bool is_told = false;
  for (const Json& column : missing["columns"]) is_told = is_told || column["value"] == "missing";
  EXPECT_TRUE(is_told);
}

TEST_F(ExplainCommand, WritesAllRowsAsATable) {
  train(write(classification_csv(80)), "m.json");
  const std::string file = write(classification_csv(40, "no", "yes", 2), "new.csv");
  (void)run_well({"predict", path("m.json"), file, "--link", "-o", path("p.csv"), "--quiet"});
  for (const std::string by : {"term", "column"}) {
    (void)run_well({"explain", path("m.json"), file, "--by", by, "-o", path("e.csv"), "--quiet"});
    const std::vector<std::string> rows = lines("e.csv");
    const std::vector<std::string> predictions = lines("p.csv");
    ASSERT_EQ(rows.size(), 41U);
    EXPECT_TRUE(rows[0].starts_with("row,average,")) << rows[0];
    EXPECT_TRUE(rows[0].ends_with(",rounding,score")) << rows[0];
    for (std::size_t n = 1; n < rows.size(); ++n) {
      std::istringstream fields(rows[n]);
      std::vector<double> numbers;
      for (std::string field; std::getline(fields, field, ',');) numbers.push_back(std::stod(field));
      double sum = numbers[1];
      for (std::size_t i = 2; i + 1 < numbers.size(); ++i) sum += numbers[i];
      EXPECT_EQ(sum, numbers.back()) << n;
      EXPECT_EQ(numbers[0], static_cast<double>(n));
      EXPECT_EQ(fmt::format("{}", numbers.back()), predictions[n]);
    }
  }
}

TEST_F(ExplainCommand, ExplainsThePredictedClassOrTheOneAskedFor) {
  std::string text = "a,b,y\n";
  for (int n = 0; n < 120; ++n)
    text += fmt::format("{},{},{}\n", n % 11, n % 7, n % 11 < 4 ? "low" : n % 7 < 3 ? "mid" : "high");
  const std::string table = write(text);
  train(table, "m.json");
  const Json own = run_json({"explain", path("m.json"), table, "--row", "1"})["explanations"][0];
  EXPECT_EQ(own["class"], own["prediction"]);
  double total = 0;
  for (const std::string label : {"low", "mid", "high"}) {
    const Json of =
        run_json({"explain", path("m.json"), table, "--row", "1", "--class", label})["explanations"][0];
    EXPECT_EQ(of["class"], label);
    EXPECT_EQ(sum_of(of, "term"), of["score"].get<double>());
    total += of["probability"].get<double>();
  }
  EXPECT_NEAR(total, 1, 1e-12);
  expect_message(run_refused({"explain", path("m.json"), table, "--row", "1", "--class", "none"}),
                 {"--class", "\"none\"", "\"high\", \"low\", \"mid\""});
  expect_message(run_refused({"explain", path("m.json"), table, "--target", "y"}),
                 {"--target", "several targets"});
}

TEST_F(ExplainCommand, ReadsTheRowAlone) {
  const std::string table = write(regression_csv(40));
  train(table, "m.json");
  const std::string bad = write("a,b,c,y\nwhat,2,3,4\n2,3,4,5\n2,oops,4,5\n", "bad.csv");
  EXPECT_EQ(run_json({"explain", path("m.json"), bad, "--row", "2"})["line"], 3);
  expect_message(run_refused({"explain", path("m.json"), bad, "--row", "1"}), {"bad.csv:2", "what"});
  expect_message(run_refused({"explain", path("m.json"), bad, "--row", "3"}), {"bad.csv:4", "oops"});
}

TEST_F(ExplainCommand, FindsTheRowInAnyFormat) {
  std::string csv = "a,b,note,y\n";
  std::string libsvm;
  std::vector<double> numbers;
  for (int n = 0; n < 60; ++n) {
    const double a = n * 7 % 23;
    const double b = n % 5;
    if (n % 9 == 2) csv += "# a comment\n\n";
    csv += fmt::format("{},{},\"two\nlines, \"\"quoted\"\"\",{}\n", a, b, 2 * a + b);
    libsvm += fmt::format("{} 1:{} 2:{}\n", 2 * a + b, a, b);
    numbers.insert(numbers.end(), {a, b, 2 * a + b});
  }
  std::string npy = "{'descr': '<f8', 'fortran_order': False, 'shape': (60, 3), }";
  npy.resize(118 - 1, ' ');
  npy = std::string("\x93NUMPY\x01\0\x76\0", 10) + npy + "\n" +
        std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
  for (const auto& [file, target, more] :
       {std::tuple{write(csv, "t.csv"), "y", Arguments{"--ignore", "note"}},
        std::tuple{write(libsvm, "t.svm"), "0", Arguments{}},
        std::tuple{write(npy, "t.npy"), "2", Arguments{}}}) {
    SCOPED_TRACE(file);
    Arguments training = {"--target", target};
    training.insert(training.end(), more.begin(), more.end());
    train(file, "m.json", "3", training);
    (void)run_well({"explain", path("m.json"), file, "-o", path("e.csv"), "--quiet"});
    const std::vector<std::string> rows = lines("e.csv");
    ASSERT_EQ(rows.size(), 61U);
    for (const std::size_t row : {1U, 2U, 3U, 30U, 60U}) {
      const Json json = run_json({"explain", path("m.json"), file, "--row", std::to_string(row)});
      EXPECT_TRUE(rows[row].ends_with(fmt::format(",{}", json["explanations"][0]["score"].get<double>())))
          << row;
      EXPECT_EQ(json["warnings"], Json::array());
    }
    EXPECT_EQ(run_json({"explain", path("m.json"), file, "--row", "3"})["line"],
              file.ends_with("csv") ? 8 : 3);
    expect_message(run_refused({"explain", path("m.json"), file, "--row", "61"}), {"row 61", "60 rows"});
  }
}

TEST_F(ExplainCommand, WarnsOfTextsThatTheTrainingDidNotHave) {
  train(write(with_text(80)), "m.json");
  const std::string file = write("a,colour\n1,red\n2,violet\n", "new.csv");
  EXPECT_EQ(run_json({"explain", path("m.json"), file, "--row", "1"})["warnings"], Json::array());
  EXPECT_EQ(run_json({"explain", path("m.json"), file, "--row", "2"})["warnings"].size(), 1U);
  const ToolResult shown = run({"explain", path("m.json"), file, "--row", "2"});
  EXPECT_EQ(shown.exit_code, 0);
  expect_message(shown.err, {"warning", "new.csv", "\"colour\"", "line 3"});
}

TEST_F(ExplainCommand, MeansBeyondAnyScaleDoNoHarm) {
  const std::string table = write(regression_csv(80));
  train(table, "m.json");
  Json model = Json::parse(content("m.json"));
  double mean = 1e308;
  for (Json& term : model["terms"]) {
    if (!term.contains("mean")) continue;
    term["mean"] = mean;
    mean *= -1.5;
    if (!std::isfinite(mean)) mean = 1e308;
  }
  const std::string damaged = write(model.dump(), "damaged.json");
  const ToolResult result = run({"explain", damaged, table, "--row", "1"});
  EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 2) << result.err;
}

TEST_F(ExplainCommand, RefusesWhatIsNotThere) {
  const std::string table = write(regression_csv(40));
  train(table, "m.json");
  expect_message(run_refused({"explain", path("m.json"), table, "--row", "41"}), {"row 41", "40 rows"});
  expect_message(run_refused({"explain", path("m.json"), table, "--row", "0"}), {"--row"});
  expect_message(run_refused({"explain", path("m.json"), table, "--row", "1", "-o", path("e.csv")}),
                 {"--output"});
  expect_message(run_refused({"explain", path("m.json"), table, "--json"}), {"--row N"});
  expect_message(run_refused({"explain", path("m.json"), table, "--class", "yes"}),
                 {"--class", "regression"});
}

TEST_F(CompareCommand, ShowsModelsSideBySide) {
  const std::string table = write(classification_csv(200));
  train(table, "small.json", "1");
  train(table, "large.json");
  const Json json = run_json({"compare", path("small.json"), path("large.json"), "--data", table});
  EXPECT_EQ(json["rows"], 200);
  EXPECT_EQ(json["measure"], "log loss");
  EXPECT_EQ(json["best"], path("large.json"));
  const Json evaluated = run_json({"evaluate", path("small.json"), table});
  EXPECT_EQ(json["models"][0]["metrics"], evaluated["metrics"]);
  EXPECT_NEAR(json["models"][0]["difference"].get<double>(),
              json["models"][0]["mean_loss"].get<double>() - json["models"][1]["mean_loss"].get<double>(),
              1e-12);
  EXPECT_GT(json["models"][0]["standard_error"], 0);
  const std::string text =
      run_well({"compare", path("small.json"), path("large.json"), path("large.json"), "--data", table}).out;
  expect_message(text, {"small.json", "error %", "log loss", "best", "within chance", "two standard errors"});
}

TEST_F(CompareCommand, RefusesModelsOfDifferentTargets) {
  const std::string table = write(regression_csv(40));
  train(table, "y.json");
  train(table, "a.json", "6", {"--target", "a"});
  expect_message(run_refused({"compare", path("y.json"), path("a.json"), "--data", table}),
                 {"model 2", "its target is \"a\""});
  train(write(classification_csv(40), "c.csv"), "c.json");
  expect_message(run_refused({"compare", path("y.json"), path("c.json"), "--data", table}),
                 {"model 2", "classification"});
  expect_message(run_refused({"compare", path("y.json"), path("y.json"), "--data", "-"}), {"--data", "file"});
}

}  // namespace
}  // namespace mfga
