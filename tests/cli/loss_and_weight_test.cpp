// Weights of rows, losses, and an end before the end, as a user of the tool meets them.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <random>
#include <thread>

#include "cli/tool.hpp"

namespace mfga {
namespace {

class WeightCommand : public ToolTest {
 protected:
  // Rows with weights 0 to 2; or, without the column, each row as often as that. The target is a count.
  static std::string table(bool with_weights, int rows = 200) {
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    std::string text = with_weights ? "a,w,b,n\n" : "a,b,n\n";
    for (int i = 0; i < rows; ++i) {
      const double a = normal(random);
      const double b = normal(random);
      std::poisson_distribution<int> count(std::exp(0.4 + 0.6 * a));
      const int n = count(random);
      const int weight = i % 3;
      if (with_weights) {
        text += fmt::format("{},{},{},{}\n", a, weight, b, n);
      } else {
        for (int copy = 0; copy < weight; ++copy) text += fmt::format("{},{},{}\n", a, b, n);
      }
    }
    return text;
  }
};

TEST_F(WeightCommand, CountsAsCopiesInTheFitAndInItsErrors) {
  const std::string weighted = write(table(true), "w.csv");
  const std::string copied = write(table(false), "c.csv");
  for (const std::string loss : {"squared", "huber(1)", "poisson"}) {
    const Arguments options = {
        "--features", "linear + hinge(knots=5)", "--terms", "4", "--ridge", "0.5", "--tune", "no", "--loss",
        loss};
    Arguments with = {"train", weighted, "--weight", "w", "--model", path("m.json")};
    Arguments without = {"train", copied};
    with.insert(with.end(), options.begin(), options.end());
    without.insert(without.end(), options.begin(), options.end());
    const Json first = run_json(with);
    const Json second = run_json(without);
    EXPECT_EQ(first.at("inputs"), 2) << "a weight is no predictor";
    EXPECT_EQ(first.at("loss"), loss);
    for (const std::string measure : {"rmse", "mae", "r2"}) {
      EXPECT_NEAR(first.at("train").at(measure).get<double>(), second.at("train").at(measure).get<double>(),
                  1e-6)
          << loss << ", " << measure;
    }
    const Json evaluated = run_json({"evaluate", path("m.json"), weighted, "--weight", "w"});
    EXPECT_NEAR(evaluated.at("metrics").at("rmse").get<double>(), first.at("train").at("rmse").get<double>(),
                1e-9);
    const Json unweighted = run_json({"evaluate", path("m.json"), weighted});
    EXPECT_NE(unweighted.at("metrics").at("rmse"), evaluated.at("metrics").at("rmse"));
  }
}

TEST_F(WeightCommand, GoesWithRowsThatAreHeldOut) {
  const std::string file = write(table(true), "w.csv");
  const Arguments common = {"--weight", "1", "--features", "linear", "--terms", "2", "--tune", "no"};
  Arguments split = {"train", file, "--test-fraction", "0.3"};
  split.insert(split.end(), common.begin(), common.end());
  EXPECT_EQ(run_json(split).at("n_test"), 60);
  Arguments test = {"train", file, "--test", write(table(true, 50), "t.csv")};
  test.insert(test.end(), common.begin(), common.end());
  EXPECT_EQ(run_json(test).at("n_test"), 50);
}

TEST_F(WeightCommand, WrongWeightsAndTargetsAreRefused) {
  const std::string file = write(table(true), "w.csv");
  EXPECT_NE(run_refused({"train", file, "--weight", "v"}).find("--weight"), std::string::npos);
  EXPECT_NE(run_refused({"train", file, "--weight", "n"}).find("is the target"), std::string::npos);
  const std::string negative = write("a,w,n\n1,1,1\n2,-1,2\n3,1,4\n4,1,5\n", "n.csv");
  expect_message(run_refused({"train", negative, "--weight", "w"}),
                 {"n.csv:3", "\"w\"", "-1", "not negative"});
  const std::string text = write("a,w,n\n1,x,1\n2,y,2\n3,x,4\n4,y,5\n", "x.csv");
  EXPECT_NE(run_refused({"train", text, "--weight", "w"}).find("does not hold numbers"), std::string::npos);
  const std::string below = write("a,n\n1,1\n2,-2\n3,4\n4,5\n", "b.csv");
  expect_message(run_refused({"train", below, "--loss", "poisson"}), {"b.csv", "poisson", "not negative"});
  EXPECT_NE(run_refused({"train", file, "--loss", "logistic", "--task", "regression"}).find("leave one"),
            std::string::npos);
  EXPECT_NE(run_refused({"train", file, "--loss", "hubris"}).find("huber(delta)"), std::string::npos);
}

TEST_F(WeightCommand, ThePoissonLossIsReadAsOne) {
  const std::string file = write(table(true), "w.csv");
  const std::string out = run_well({"train", file, "--loss", "poisson", "--ignore", "w", "--features",
                                    "linear", "--terms", "2", "--tune", "no", "--model", path("m.json")})
                              .out;
  expect_message(out, {"poisson loss", "log of the mean of n"});
  expect_message(run_well({"inspect", path("m.json"), "--full"}).out, {"exp(score)"});
  (void)run_well({"predict", path("m.json"), file, "-o", path("p.csv")});
  for (const std::string& line : lines("p.csv")) {
    if (line == "n") continue;
    EXPECT_GT(std::stod(line), 0);
  }
}

// Enough work to be interrupted; the first Ctrl-C keeps what there is. Where the machine is so slow that
// there is nothing yet, it says so, and saves nothing.
TEST_F(WeightCommand, CtrlCKeepsTheBestModelSoFar) {
  const std::string file = write(table(true, 20000), "w.csv");
  RunningTool tool({"train", file, "--model", path("m.json"), "--terms", "2000", "--tune", "no", "--ridge",
                    "1", "--json"});
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  ASSERT_FALSE(tool.has_ended());
  tool.send(SIGINT);
  const ToolResult result = tool.wait();
  if (result.exit_code != 0) {
    EXPECT_NE(result.err.find("stopped before there was a model"), std::string::npos) << result.err;
    EXPECT_EQ(files(), std::vector<std::string>{"w.csv"});
    return;
  }
  const Json report = Json::parse(result.out);
  EXPECT_TRUE(report.at("stopped"));
  EXPECT_FALSE(report.at("cut_short").empty());
  (void)run_well({"predict", path("m.json"), file, "-o", path("p.csv")});
}

}  // namespace
}  // namespace mfga
