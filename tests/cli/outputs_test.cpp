// Several classes and several targets through the tool.
#include <cstring>

#include "cli/tool.hpp"
#include "mfga/mfga.hpp"

namespace mfga {
namespace {

// a,b,c and a target of three labels.
std::string three_classes(std::size_t count, unsigned seed = 1) {
  std::string text = "a,b,c,kind\n";
  for (const SmallRow& row : small_rows(count, seed)) {
    const char* const label = row.a > 0.4 ? "red" : row.b > 0 ? "green" : "blue, dark";
    text += fmt::format("{},{},{},\"{}\"\n", row.a, row.b, row.c, label);
  }
  return text;
}

std::string two_targets(std::size_t count, unsigned seed = 1) {
  std::string text = "a,first,b,c,second\n";
  for (const SmallRow& row : small_rows(count, seed))
    text += fmt::format("{},{},{},{},{}\n", row.a, row.signal(), row.b, row.c, 100 * row.b - 50 * row.c);
  return text;
}

class SeveralOutputsTool : public ToolTest {
 protected:
  Json train(const std::string& table, Arguments more = {}) {
    Arguments arguments = {"train",   table,         "--terms", "8", "--tune",     "no",
                           "--ridge", "0.1",         "--seed",  "1", "--features", "linear + hinge(knots=5)",
                           "--model", path("m.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_json(arguments);
  }
};

TEST_F(SeveralOutputsTool, ClassesAreLearnedPredictedAndMeasured) {
  const Json report = train(write(three_classes(300)), {"--test-fraction", "0.3"});
  EXPECT_EQ(report["loss"], "softmax(3)");
  EXPECT_EQ(report["labels"], (std::vector<std::string>{"blue, dark", "green", "red"}));
  EXPECT_EQ(report["intercept"].size(), 3U);
  EXPECT_LT(report["test"]["error_percent"], 10);
  EXPECT_GT(report["test"]["macro_auc"], 0.95);

  const std::string file = write(three_classes(40, 2), "new.csv");
  run_well({"predict", path("m.json"), file, "-o", path("out.csv")});
  EXPECT_EQ(lines("out.csv").size(), 41U);
  EXPECT_EQ(lines("out.csv")[0], "kind");
  run_well({"predict", path("m.json"), file, "--proba", "--keep", "a", "-o", path("proba.csv")});
  EXPECT_EQ(lines("proba.csv")[0], "a,\"P(blue, dark)\",P(green),P(red)");
  run_well({"predict", path("m.json"), file, "--proba", "-o", path("proba.npy")});
  const Table proba = TableFile(path("proba.npy"), {}).read(std::vector<Index>{0, 1, 2}, std::nullopt);
  EXPECT_EQ(proba.rows(), 40);
  for (Index n = 0; n < 40; ++n)
    EXPECT_NEAR(proba.values(n, 0) + proba.values(n, 1) + proba.values(n, 2), 1, 1e-12);

  const Json evaluation = run_json({"evaluate", path("m.json"), file});
  ASSERT_EQ(evaluation["metrics"]["confusion"].size(), 3U);
  EXPECT_EQ(evaluation["metrics"]["classes"][2]["label"], "red");
  expect_message(run_well({"evaluate", path("m.json"), file}).out,
                 {"error", "AUC", "class", "precision", "rows of each class (down)"});
  expect_message(run_well({"inspect", path("m.json")}).out, {"score of each class of kind", "green"});
  EXPECT_EQ(run_json({"inspect", path("m.json")})["terms"][0]["factor"].size(), 3U);
  expect_message(run_refused({"predict", path("m.json"), file, "-o", path("out.npy")}),
                 {"labels", "--proba"});
  expect_message(run_refused({"bound", path("m.json"), "--train", file}), {"one target or two classes"});
}

TEST_F(SeveralOutputsTool, ALabelThatTheModelDoesNotKnowIsNamed) {
  train(write(three_classes(100)));
  expect_message(run_refused({"evaluate", path("m.json"), write("a,b,c,kind\n1,2,3,pink\n", "new.csv")}),
                 {"new.csv:2", "\"pink\"", "\"blue, dark\", \"green\" and \"red\""});
}

TEST_F(SeveralOutputsTool, ALabelOfRowsWithoutWeightDoesNotMatter) {
  std::string text = "a,b,w,kind\n1,2,0,odd\n";
  for (const SmallRow& row : small_rows(90))
    text += fmt::format("{},{},1,{}\n", row.a, row.b, row.a > 0.4 ? "red" : row.b > 0 ? "green" : "blue");
  const Json report = train(write(text), {"--weight", "w"});
  EXPECT_EQ(report["labels"], (std::vector<std::string>{"blue", "green", "red"}));
}

TEST_F(SeveralOutputsTool, TargetsThatAreNumbersAreFoundInTheHeader) {
  std::string text = "a,b,2001,2002\n";
  for (const SmallRow& row : small_rows(60)) text += fmt::format("{},{},{},{}\n", row.a, row.b, row.a, row.b);
  EXPECT_EQ(train(write(text), {"--target", "2001,2002"})["test"], Json());
  EXPECT_EQ(load_model(path("m.json")).outputs[1].name, "2002");
}

TEST_F(SeveralOutputsTool, NumbersAreClassesIfAsked) {
  std::string text = "a,b,y\n";
  for (const SmallRow& row : small_rows(120))
    text += fmt::format("{},{},{}\n", row.a, row.b, row.a > 0 ? 7 : row.b > 0 ? 3 : 1);
  const Json report = train(write(text), {"--task", "classification"});
  EXPECT_EQ(report["labels"], (std::vector<std::string>{"1", "3", "7"}));
  run_well({"predict", path("m.json"), path("table.csv"), "-o", path("out.npy")});
  const std::string array = content("out.npy");
  std::vector<double> labels(120);
  const std::size_t bytes = labels.size() * sizeof(double);
  ASSERT_GT(array.size(), bytes);
  std::memcpy(labels.data(), array.data() + array.size() - bytes, bytes);
  for (const double label : labels) EXPECT_TRUE(label == 1 || label == 3 || label == 7) << label;
}

TEST_F(SeveralOutputsTool, TargetsAreLearnedPredictedAndMeasured) {
  const std::string table = write(two_targets(200));
  const std::string test = write(two_targets(50, 3), "test.csv");
  const Json report = train(table, {"--target", "second,first", "--test", test});
  ASSERT_EQ(report["test"]["targets"].size(), 2U);
  EXPECT_EQ(report["test"]["targets"][0]["target"], "second");
  EXPECT_GT(report["test"]["mean_r2"], 0.8);
  run_well({"predict", path("m.json"), test, "-o", path("out.csv")});
  EXPECT_EQ(lines("out.csv")[0], "second,first");
  const Json evaluation = run_json({"evaluate", path("m.json"), test});
  EXPECT_EQ(evaluation["metrics"], [&] {
    Json same = report["test"];
    return same;
  }());
  expect_message(run_refused({"evaluate", path("m.json"), test, "--target", "first"}),
                 {"--target names 1 columns", "2 targets"});
  expect_message(run_refused({"train", table, "--target", "first,first"}), {"--target", "named twice"});
  expect_message(run_refused({"train", write(three_classes(50), "k.csv"), "--target", "a,kind"}),
                 {"kind", "does not hold numbers"});
  expect_message(run_refused({"train", table, "--target", "first,second", "--task", "classification"}),
                 {"several targets"});
}

}  // namespace
}  // namespace mfga
