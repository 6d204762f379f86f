// mfga train with each of its methods, and with several seeds.
#include <algorithm>
#include <cmath>

#include "cli/tool.hpp"
#include "mfga/mfga.hpp"

namespace mfga {
namespace {

using MethodsCommand = ToolTest;

const std::vector<std::string> kMethods = {"mfga", "rks", "lkrf", "eerf", "gk", "glk"};

TEST_F(MethodsCommand, EachTrainsSavesPredictsAndIsInspected) {
  for (const bool classification : {false, true}) {
    const std::string train = write(classification ? classification_csv(150) : regression_csv(150));
    const std::string test =
        write(classification ? classification_csv(60, "no", "yes", 2) : regression_csv(60, 2), "test.csv");
    for (const std::string& method : kMethods) {
      SCOPED_TRACE(method + (classification ? ", classification" : ", regression"));
      const Json report = run_json({"train", "--train", train, "--test", test, "--method", method, "--terms",
                                    "12", "--ridge", "0.1", "--model", path("m.json")});
      EXPECT_EQ(report.at("method"), method);
      EXPECT_EQ(report.at("n_test"), 60);
      EXPECT_TRUE(report.at("repeats").is_null());
      if (method != "mfga") {  // which may do without
        EXPECT_GT(report.at("sigma").get<double>(), 0);
      }
      EXPECT_EQ(report.at("seconds").at("score").get<double>() > 0, method == "lkrf" || method == "eerf");
      if (classification) {
        EXPECT_LT(report.at("test").at("error_percent").get<double>(), 30);
      } else {
        EXPECT_GT(report.at("test").at("r2").get<double>(), 0.8);
      }
      const Json evaluated = run_json({"evaluate", path("m.json"), test});
      EXPECT_EQ(evaluated.at("metrics").at(classification ? "log_loss" : "mse"),
                report.at("test").at(classification ? "log_loss" : "mse"));
      (void)run_well({"predict", path("m.json"), test, "--output", path("p.csv")});
      EXPECT_EQ(lines("p.csv").size(), 61U);
      expect_message(run_well({"inspect", path("m.json")}).out, {"y"});
    }
  }
}

TEST_F(MethodsCommand, PrintWhatTheyDid) {
  const std::string file = write(regression_csv(80));
  const auto text_of = [&](const std::string& method) {
    return run_well({"train", "--train", file, "--test-fraction", "0.2", "--method", method, "--terms", "9"})
        .out;
  };
  expect_message(text_of("rks"), {"fourier(count=9), 9 candidates", "fitted 9 terms", "cos("});
  expect_message(text_of("eerf"), {"fourier(count=90), 90 candidates"});
  EXPECT_GT(run_json({"train", file, "--method", "eerf", "--terms", "9"}).at("seconds").at("score"), 0);
  expect_message(text_of("gk"),
                 {"gaussian kernel, 64 candidates", "fitted 64 terms in 1 steps, exact engine", "near("});
  // The default of --terms is nothing to an exact kernel.
  EXPECT_EQ(
      run_well({"train", "--train", write(regression_csv(30)), "--method", "gk"}).out.find("fewer than"),
      std::string::npos);
}

TEST_F(MethodsCommand, KernelsOnPartOfTheRows) {
  const Json report = run_json({"train", "--train", write(regression_csv(100)), "--method", "gk",
                                "--subsample", "0.3", "--model", path("m.json")});
  EXPECT_EQ(report.at("terms"), 30);
  EXPECT_EQ(report.at("n_train"), 100);
  EXPECT_EQ(load_model(path("m.json")).terms.size(), 30U);
}

TEST_F(MethodsCommand, RefuseWhatDoesNotGoTogether) {
  const std::string file = write(regression_csv(400));
  const auto refused = [&](const Arguments& more) {
    Arguments arguments = {"train", "--train", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_refused(arguments);
  };
  expect_message(refused({"--method", "svm"}), {"--method", "mfga|rks|lkrf|eerf|gk|glk"});
  expect_message(refused({"--method", "rks", "--features", "linear"}), {"--features is for the method mfga"});
  expect_message(refused({"--method", "gk", "--memory-limit", "1"}), {"400 rows", "1.3 MiB", "--subsample"});
  expect_message(refused({"--method", "gk", "--ridge", "0"}), {"--ridge must be positive"});
  expect_message(refused({"--method", "glk", "--norm-bound", "1"}), {"--norm-bound"});
  expect_message(refused({"--method", "gk", "--subsample", "0.001"}), {"--subsample", "at least 3"});
  expect_message(refused({"--method", "eerf", "--candidates", "5"}), {"--candidates is 5"});
}

// Mean and standard error of a metric over single runs.
std::pair<double, double> summary(const std::vector<Json>& reports, const std::string& part,
                                  const std::string& metric) {
  const auto count = static_cast<double>(reports.size());
  double mean = 0;
  double square = 0;
  for (const Json& report : reports) mean += report.at(part).at(metric).get<double>() / count;
  for (const Json& report : reports)
    square += std::pow(report.at(part).at(metric).get<double>() - mean, 2) / (count - 1);
  return {mean, std::sqrt(square / count)};
}

TEST_F(MethodsCommand, RepeatsSummariseSingleRuns) {
  for (const bool classification : {false, true}) {
    const std::string train = write(classification ? classification_csv(120) : regression_csv(120));
    const std::string test =
        write(classification ? classification_csv(60, "no", "yes", 2) : regression_csv(60, 2), "test.csv");
    for (const std::string method : {"rks", "lkrf", "eerf"}) {
      SCOPED_TRACE(method);
      const auto run_with = [&](const std::string& seed, const Arguments& more) {
        Arguments arguments = {"train",   "--train", train,    "--test", test,      "--method",    method,
                               "--terms", "8",       "--seed", seed,     "--model", path("m.json")};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_json(arguments);
      };
      const std::vector<Json> single = {run_with("3", {}), run_with("4", {}), run_with("5", {})};
      (void)run_with("3", {});
      const std::string model = content("m.json");
      const Json report = run_with("3", {"--repeats", "3"});
      EXPECT_EQ(content("m.json"), model);
      EXPECT_EQ(report.at("train"), single[0].at("train"));
      EXPECT_EQ(report.at("test"), single[0].at("test"));
      EXPECT_EQ(report.at("sigma"), single[0].at("sigma"));
      const Json& repeats = report.at("repeats");
      EXPECT_EQ(repeats.at("count"), 3);
      for (const std::string part : {"train", "test"}) {
        const Json& measured = repeats.at(part);
        const Json& all = single[0].at("test");  // the rarer label among them, which is no number
        EXPECT_EQ(std::ssize(measured), std::count_if(all.begin(), all.end(),
                                                      [](const Json& value) { return !value.is_string(); }));
        for (const auto& [metric, found] : measured.items()) {
          const auto [mean, error] = summary(single, part, metric);
          EXPECT_NEAR(found.at("mean").get<double>(), mean, 1e-12) << part << " " << metric;
          EXPECT_NEAR(found.at("standard_error").get<double>(), error, 1e-12) << part << " " << metric;
        }
      }
      EXPECT_GT(repeats.at("test").begin()->at("standard_error").get<double>(), 0);
    }
  }
}

TEST_F(MethodsCommand, RepeatsKeepTheSplit) {
  const Json report =
      run_json({"train", "--train", write(regression_csv(100)), "--test-fraction", "0.3", "--terms", "5",
                "--features", "linear", "--tune", "no", "--ridge", "1", "--repeats", "3"});
  EXPECT_EQ(report.at("n_test"), 30);
  // Nothing in this fit is random, so that all seeds agree.
  const Json& rmse = report.at("repeats").at("test").at("rmse");
  EXPECT_NEAR(rmse.at("mean").get<double>(), report.at("test").at("rmse").get<double>(), 1e-12);
  EXPECT_NEAR(rmse.at("standard_error").get<double>(), 0, 1e-12);
}

TEST_F(MethodsCommand, RepeatsWithoutATest) {
  const Json report =
      run_json({"train", "--train", write(regression_csv(60)), "--method", "rks", "--repeats", "2"});
  EXPECT_TRUE(report.at("repeats").at("test").is_null());
  EXPECT_EQ(report.at("repeats").at("train").at("mse").size(), 2U);
}

TEST_F(MethodsCommand, RepeatsInTheTextReport) {
  const Arguments classes = {"train",
                             "--train",
                             write(classification_csv(150)),
                             "--test-fraction",
                             "0.3",
                             "--method",
                             "rks",
                             "--terms",
                             "6",
                             "--repeats",
                             "4"};
  const std::string text = run_well(classes).out;
  expect_message(
      text, {"train over 4 seeds: error ", "test over 4 seeds: error ", " +- ", " %, log loss ", ", AUC "});
  const std::string numbers = run_well({"train", "--train", write(regression_csv(60)), "--method", "eerf",
                                        "--preset", "paper", "--terms", "6", "--repeats", "2"})
                                  .out;
  expect_message(numbers, {"train over 2 seeds: RMSE ", ", MAE ", ", R2 ", "100 x MSE on [-1, 1] "});
  EXPECT_EQ(numbers.find("test over"), std::string::npos);
  EXPECT_EQ(run_well({"train", "--train", path("table.csv")}).out.find("seeds"), std::string::npos);
}

TEST_F(MethodsCommand, RepeatsAreAPositiveNumber) {
  const std::string file = write(regression_csv(30));
  for (const std::string count : {"0", "-2", "many"})
    expect_message(run_refused({"train", "--train", file, "--repeats", count}), {"--repeats"});
}

}  // namespace
}  // namespace mfga
