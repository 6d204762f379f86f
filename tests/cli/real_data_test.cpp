// The data sets of the paper through the tool. The results are those of the method, known from outside.
#include "cli/tool.hpp"
#include "mfga/mfga.hpp"

namespace mfga {
namespace {

class RealDataCommand : public ToolTest {
 protected:
  void SetUp() override {
    const char* const folder = std::getenv("MFGA_DATA");
    if (folder == nullptr) GTEST_SKIP() << "MFGA_DATA is not set to a folder with the data sets";
    folder_ = folder;
  }
  [[nodiscard]] std::string data(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

TEST_F(RealDataCommand, AdultHasTheErrorOfThePaper) {
  const Json report = run_json({"train", "--tune", "no", "--train", data("adult/a9a"), "--test",
                                data("adult/a9a.t"), "--n-features", "123", "--task", "classification",
                                "--preset", "paper", "--terms", "100", "--per-step", "10", "--ridge", "100"});
  EXPECT_EQ(report.at("n_train"), 32561);
  EXPECT_EQ(report.at("n_test"), 16281);
  EXPECT_EQ(report.at("terms"), 100);
  EXPECT_GE(report.at("test").at("error_percent").get<double>(), 14.8);
  EXPECT_LE(report.at("test").at("error_percent").get<double>(), 15.2);
}

TEST_F(RealDataCommand, YearHasItsKnownErrors) {
  const auto rmse = [&](const std::string& terms) {
    const Json report = run_json({"train",
                                  "--tune",
                                  "no",
                                  "--train",
                                  data("year/train.csv"),
                                  "--test",
                                  data("year/test.csv"),
                                  "--header",
                                  "no",
                                  "--target",
                                  "0",
                                  "--features",
                                  "gaussian(order=2)",
                                  "--select",
                                  "gradient",
                                  "--shortlist",
                                  "1",
                                  "--terms",
                                  terms,
                                  "--per-step",
                                  "20",
                                  "--ridge",
                                  "1"});
    EXPECT_EQ(report.at("task"), "regression");
    return report.at("test").at("rmse").get<double>();
  };
  EXPECT_NEAR(rmse("40"), 9.13, 0.03);
  EXPECT_NEAR(rmse("400"), 8.93, 0.03);
}

TEST_F(RealDataCommand, MixedPrecisionChoosesTheAtomsOfDoublePrecision) {
  const std::vector<std::vector<std::string>> settings = {
      {"--train", data("adult/a9a"), "--preset", "paper", "--terms", "60", "--per-step", "5"},
      {"--train", data("year/train.csv"), "--header", "no", "--target", "0", "--terms", "60"},
      {"--train", data("news/train.csv"), "--target", "shares", "--terms", "40", "--per-step", "4"}};
  for (const std::vector<std::string>& setting : settings) {
    const auto chosen = [&](const std::string& precision) {
      std::vector<std::string> arguments = {"train", "--tune",      "no",     "--ridge",
                                            "1",     "--precision", precision};
      arguments.insert(arguments.end(), setting.begin(), setting.end());
      const Json report = run_json(arguments);
      Json added = Json::array();
      for (const Json& step : report.at("path")) added.push_back(step.at("added"));
      return added;
    };
    EXPECT_EQ(chosen("mixed"), chosen("double")) << setting[1];
  }
}

TEST_F(RealDataCommand, EveryFamilyTrains) {
  const std::vector<std::string> features = {"linear",
                                             "polynomial",
                                             "step",
                                             "hinge",
                                             "hinge(knots=1, interactions=2)",
                                             "spline",
                                             "periodic",
                                             "additive",
                                             "gaussian",
                                             "fourier(count=200)",
                                             "fourier(count=200, kernel=laplace, draw=sobol)",
                                             "landmark(count=100)",
                                             "landmark(count=100, kernel=matern(1.5), choose=kmeans++)",
                                             "nystrom(count=50)",
                                             "maclaurin(count=200, sigma=auto*3)"};
  const std::vector<std::vector<std::string>> tables = {
      {"--train", data("year/train.csv"), "--test", data("year/test.csv"), "--header", "no", "--target", "0"},
      {"--train", data("adult/a9a"), "--test", data("adult/a9a.t"), "--n-features", "123"}};
  for (const std::vector<std::string>& table : tables) {
    for (const std::string& expression : features) {
      SCOPED_TRACE(expression);
      std::vector<std::string> arguments = {"train", "--tune",  "no", "--features", expression,    "--terms",
                                            "3",     "--ridge", "1",  "--model",    path("m.json")};
      arguments.insert(arguments.end(), table.begin(), table.end());
      const Json report = run_json(arguments);
      EXPECT_EQ(report.at("terms"), 3);
      EXPECT_LT(report.at("train").at("risk"), report.at("initial_risk"));
      // A saved model says the same of the same rows.
      std::vector<std::string> evaluate = {"evaluate", path("m.json"), table[3]};
      evaluate.insert(evaluate.end(), table.begin() + 4, table.end());
      const std::string measure = report.at("task") == "regression" ? "rmse" : "error_percent";
      EXPECT_EQ(run_json(evaluate).at("metrics").at(measure), report.at("test").at(measure));
    }
  }
}

TEST_F(RealDataCommand, AdultTrainsAsItIs) {
  const Json report = run_json({"train", "--tune", "no", "--train", data("adult/adult.data"), "--test",
                                data("adult/adult.test"), "--comment", "|", "--features", "linear", "--scale",
                                "standard", "--terms", "40", "--ridge", "1"});
  EXPECT_EQ(report.at("inputs"), 108);
  EXPECT_EQ(report.at("n_test"), 16281);
  EXPECT_EQ(report.at("labels"), (Json{"<=50K", ">50K"}));
  expect_warning(report, {"adult.test", "16281 of 16281 labels end in a dot"});
  EXPECT_NEAR(report.at("test").at("error_percent").get<double>(), 14.8, 0.3);
}

TEST_F(RealDataCommand, TheBadRowOfNewsIsNamed) {
  const auto train = [&](const std::string& scale) {
    return run_json({"train", "--tune", "no", "--train", data("news/train.csv"), "--target", "shares",
                     "--features", "linear", "--terms", "58", "--ridge", "1", "--scale", scale});
  };
  expect_warning(train("standard"), {"in line 5697", "leverage 1.000", "n_non_stop_words is 1042"});
  for (const std::string scale : {"robust", "auto"})
    EXPECT_EQ(train(scale).at("warnings").dump().find("leverage"), std::string::npos);
}

TEST_F(RealDataCommand, AdultTrainsOnItsNumbers) {
  const Json report = run_json({"train", "--tune", "no", "--train", data("adult/adult.data"), "--ignore",
                                "1,3,5,6,7,8,9,13", "--features", "linear", "--terms", "6"});
  EXPECT_EQ(report.at("labels"), (Json{"<=50K", ">50K"}));
  EXPECT_LT(report.at("train").at("error_percent").get<double>(), 20);
}

TEST_F(RealDataCommand, NewsTrains) {
  const Json report = run_json({"train", "--tune", "no", "--train", data("news/train.csv"), "--test",
                                data("news/test.csv"), "--target", "shares", "--features",
                                "linear + gaussian(order=1)", "--terms", "20", "--per-step", "5"});
  EXPECT_EQ(report.at("task"), "regression");
  EXPECT_EQ(report.at("n_train"), 26561);
  EXPECT_EQ(report.at("terms"), 20);
  EXPECT_GT(report.at("train").at("r2").get<double>(), 0);
}

TEST_F(RealDataCommand, NavalDropsItsConstantColumnsByName) {
  const Json report =
      run_json({"train", "--tune", "no", "--train", data("naval/naval.csv"), "--ridge", "1", "--target",
                "turbine_decay", "--ignore", "compressor_decay", "--test-fraction", "0.3", "--terms", "10"});
  EXPECT_EQ(report.at("dropped_columns"), (Json{"x9", "x12"}));
  EXPECT_EQ(report.at("inputs"), 14);
  EXPECT_GT(report.at("test").at("r2").get<double>(), 0.2);
}

// After the first terms, the dictionary that is best in the end explains less than others do.
TEST_F(RealDataCommand, NavalsOutputsAreExplainedByOneSetOfTerms) {
  const Json report =
      run_json({"train", "--train", data("naval/naval.csv"), "--target", "compressor_decay,turbine_decay",
                "--test-fraction", "0.25", "--terms", "60"});
  for (const Json& target : report.at("test").at("targets")) EXPECT_GT(target.at("r2").get<double>(), 0.9998);
}

}  // namespace
}  // namespace mfga
