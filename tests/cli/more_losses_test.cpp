// Quantiles, the scores behind predictions, and weights of classes, through the tool.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "cli/tool.hpp"

namespace mfga {
namespace {

class MoreLosses : public ToolTest {
 protected:
  [[nodiscard]] std::vector<double> column(const std::string& name) const {
    std::vector<double> values;
    const std::vector<std::string> all = lines(name);
    for (std::size_t i = 1; i < all.size(); ++i) values.push_back(std::stod(all[i]));
    return values;
  }
};

TEST_F(MoreLosses, QuantilesHaveTheirPartOfTheRowsBelow) {
  // The spread grows with x, so that quantiles do not differ by a constant.
  std::string text = "x,y\n";
  std::vector<double> y;
  for (int i = 0; i < 2000; ++i) {
    const double x = (i * 37 % 2000) / 2000.0;
    const double noise = (i * 761 % 1999) / 1999.0 - 0.5;
    y.push_back(100 * (3 * x + (0.2 + x) * noise));
    text += fmt::format("{},{}\n", x, y.back());
  }
  const std::string file = write(text);
  for (const double part : {0.1, 0.5, 0.9}) {
    const Json report = run_json({"train", file, "--loss", fmt::format("quantile({})", part), "--terms", "6",
                                  "--model", path("m.json")});
    EXPECT_EQ(report.at("loss"), fmt::format("quantile({})", part));
    run_well({"predict", path("m.json"), file, "-o", path("p.csv"), "--quiet"});
    const std::vector<double> predicted = column("p.csv");
    double below = 0;
    double pinball = 0;
    double error = 0;
    for (std::size_t n = 0; n < y.size(); ++n) {
      const double r = y[n] - predicted[n];
      below += r < 0 ? 1 : 0;
      pinball += std::max(part * r, (part - 1) * r);
      const double x = static_cast<double>(n * 37 % 2000) / 2000.0;
      error = std::max(error, std::abs(predicted[n] - 100 * (3 * x + (0.2 + x) * (part - 0.5))));
    }
    EXPECT_NEAR(below / 2000, part, 0.02);
    EXPECT_LT(error, 20);
    EXPECT_NEAR(report.at("train").at("pinball_loss").get<double>(), pinball / 2000, 0.02 * pinball / 2000);
  }
  expect_message(run_refused({"train", file, "--loss", "quantile(1.5)"}), {"1.5", "between 0 and 1"});
}

TEST_F(MoreLosses, LinkGivesTheScore) {
  std::string counts = "a,y\n";
  std::string labels = "a,y\n";
  for (int i = 0; i < 80; ++i) {
    counts += fmt::format("{},{}\n", i % 9, i % 9 / 2 + i % 3);
    labels += fmt::format("{},{}\n", i % 9, i % 9 + i % 5 > 5 ? "yes" : "no");
  }
  const std::string file = write(counts);
  run_well({"train", file, "--loss", "poisson", "--terms", "3", "--model", path("m.json"), "--quiet"});
  run_well({"predict", path("m.json"), file, "-o", path("p.csv"), "--quiet"});
  run_well({"predict", path("m.json"), file, "-o", path("s.csv"), "--link", "--quiet"});
  EXPECT_EQ(lines("s.csv")[0], "score");
  for (std::size_t n = 0; n < 80; ++n) EXPECT_NEAR(std::log(column("p.csv")[n]), column("s.csv")[n], 1e-12);

  const std::string classes = write(labels, "l.csv");
  run_well({"train", classes, "--terms", "3", "--model", path("m.json"), "--quiet"});
  run_well({"predict", path("m.json"), classes, "-o", path("p.csv"), "--quiet"});
  run_well({"predict", path("m.json"), classes, "-o", path("s.csv"), "--link", "--quiet"});
  for (std::size_t n = 0; n < 80; ++n)
    EXPECT_EQ(lines("p.csv")[n + 1], column("s.csv")[n] > 0 ? "yes" : "no");
  EXPECT_NE(run({"predict", path("m.json"), classes, "--link", "--proba"}).exit_code, 0);
}

TEST_F(MoreLosses, TheSquaredHingeKnowsProbabilities) {
  // The probability of yes is a step: 0.2 below the middle, 0.9 above.
  std::string text = "a,y\n";
  for (int i = 0; i < 2000; ++i)
    text += fmt::format("{},{}\n", i % 2, (i / 2) % 10 < (i % 2 == 0 ? 2 : 9) ? "yes" : "no");
  const std::string file = write(text);
  const Json report = run_json({"train", file, "--loss", "squared_hinge", "--features", "linear", "--ridge",
                                "1e-6", "--terms", "1", "--tune", "no", "--model", path("m.json")});
  EXPECT_NEAR(report.at("train").at("error_percent").get<double>(), 15, 1e-9);
  const double best =
      -0.5 * (0.2 * std::log(0.2) + 0.8 * std::log(0.8) + 0.9 * std::log(0.9) + 0.1 * std::log(0.1));
  EXPECT_NEAR(report.at("train").at("log_loss").get<double>(), best, 1e-4);
  run_well({"predict", path("m.json"), file, "-o", path("p.csv"), "--proba", "--quiet"});
  EXPECT_EQ(lines("p.csv")[0], "P(no),P(yes)");
  EXPECT_NEAR(std::stod(lines("p.csv")[1]), 0.8, 1e-3);
  EXPECT_NEAR(std::stod(lines("p.csv")[2]), 0.1, 1e-3);
  EXPECT_NE(run_well({"inspect", path("m.json")}).out.find("score of y = yes"), std::string::npos);
}

TEST_F(MoreLosses, EachClassMayStandAgainstTheRest) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < 600; ++i) {
    const double a = std::sin(1.7 * i);
    const double b = std::cos(0.9 * i * i);
    text += fmt::format("{},{},{}\n", a, b, a + 0.3 * std::sin(77.0 * i) > 0.3 ? "x" : b > 0.2 ? "y" : "z");
  }
  const std::string file = write(text);
  const Json report =
      run_json({"train", file, "--classes", "one-vs-rest", "--terms", "12", "--model", path("m.json")});
  EXPECT_EQ(report.at("loss"), "one_vs_rest(3)");
  const Json softmax = run_json({"train", file, "--terms", "12"});
  EXPECT_NEAR(report.at("train").at("log_loss").get<double>(),
              softmax.at("train").at("log_loss").get<double>(), 0.1);
  EXPECT_LT(report.at("train").at("error_percent").get<double>(), 15);
  run_well({"predict", path("m.json"), file, "-o", path("p.csv"), "--proba", "--quiet"});
  for (const std::string& line : {lines("p.csv")[1], lines("p.csv")[77]}) {
    std::istringstream fields(line);
    double sum = 0;
    for (std::string field; std::getline(fields, field, ',');) sum += std::stod(field);
    EXPECT_NEAR(sum, 1, 1e-9);
  }
  EXPECT_NE(run_well({"inspect", path("m.json"), "--full"}).out.find("1 / (1 + exp(-its score))"),
            std::string::npos);
  expect_message(run_refused({"train", file, "--classes", "one-vs-rest", "--loss", "softmax"}),
                 {"leave --loss out"});
}

TEST_F(MoreLosses, ClassesMayHaveWeights) {
  // One row in twenty is rare, and most of these lie among the others.
  std::string text = "a,y\n";
  for (int i = 0; i < 1000; ++i)
    text +=
        fmt::format("{},{}\n", (i * 17 % 100) / 10.0 + (i % 20 == 0 ? 4 : 0), i % 20 == 0 ? "rare" : "usual");
  const std::string file = write(text);
  const auto recall = [&](const Arguments& more) {
    Arguments arguments = {"train", file,      "--features", "linear", "--terms",
                           "1",     "--ridge", "0.01",       "--tune", "no"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Json report = run_json(arguments);
    EXPECT_EQ(report.at("train").at("rarer_label"), "rare");
    return report.at("train").at("recall").get<double>();
  };
  const double plain = recall({});
  const double balanced = recall({"--class-weights", "balanced"});
  EXPECT_GT(balanced, plain + 0.3);
  EXPECT_NEAR(recall({"--class-weights", "rare=19"}), balanced, 0.05);
  const auto refused = [&](const std::string& weights) {
    return run_refused({"train", file, "--class-weights", weights});
  };
  expect_message(refused("common=2"), {"no class \"common\"", "rare, usual"});
  expect_message(refused("rare=-1"), {"rare=-1", "above 0"});
  expect_message(refused("rare"), {"\"rare\"", "LABEL=WEIGHT"});
  expect_message(
      run_refused({"train", write("a,y\n1,2.5\n2,3\n3,4.5\n", "n.csv"), "--class-weights", "balanced"}),
      {"the target is a number"});
}

}  // namespace
}  // namespace mfga
