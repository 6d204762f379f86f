// Text columns and scales through the tool: from the training file into the model and back.
#include "cli/tool.hpp"

namespace mfga {
namespace {

class TextTool : public ToolTest {
 protected:
  // colour,a,zip,y with a header, or without.
  static std::string table(std::size_t count, bool header = true, bool target = true,
                           const std::string& other_colour = "green") {
    std::string text = header ? (target ? "colour,a,zip,y\n" : "colour,a,zip\n") : "";
    std::size_t n = 0;
    for (const SmallRow& row : small_rows(count)) {
      const bool is_red = row.b > 0;
      text += fmt::format("{},{},{}", is_red ? "red" : other_colour, row.a, n % 3);
      const bool is_high = (row.a + (is_red ? 1 : 0) > 0.5) != (n % 10 == 0);
      if (target) text += fmt::format(",{}", is_high ? "high" : "low");
      text += '\n';
      ++n;
    }
    return text;
  }
  [[nodiscard]] std::string model() const { return path("m.json"); }
  Json train(const Arguments& more = {}) {
    Arguments arguments = {"train", "--train", write(table(300)), "--model", model(), "--terms", "4"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_json(arguments);
  }
};

TEST_F(TextTool, LevelsAreInTheModelAndTheFormula) {
  (void)train({"--text", "zip", "--features", "linear"});
  const Json json = Json::parse(content("m.json"));
  EXPECT_EQ(json.at("text_columns").dump(),
            "[{\"first\":0,\"levels\":[\"green\",\"red\"],\"name\":\"colour\"},"
            "{\"first\":3,\"levels\":[\"0\",\"1\",\"2\"],\"name\":\"zip\"}]");
  const std::string text = run_well({"inspect", model()}).out;
  expect_message(text, {"colour=", "column=text is 1 where"});
}

TEST_F(TextTool, PredictionMapsTextToLevelsWhateverTheOrderOfColumns) {
  (void)train();
  const std::string predictions = run_well({"predict", model(), write(table(300), "new.csv")}).out;
  std::string swapped = "zip,more,a,colour\n";
  std::size_t n = 0;
  for (const SmallRow& row : small_rows(300))
    swapped += fmt::format("{},text,{},\"{}\"\n", n++ % 3, row.a, row.b > 0 ? "red" : "green");
  EXPECT_EQ(run_well({"predict", model(), write(swapped, "new.csv")}).out, predictions);
  const Json evaluation = run_json({"evaluate", model(), write(table(300), "new.csv")});
  EXPECT_LT(evaluation.at("metrics").at("error_percent").get<double>(), 20);
  EXPECT_TRUE(evaluation.at("warnings").empty());
}

TEST_F(TextTool, FilesWithoutNamesAreMatchedByPosition) {
  (void)run_json({"train", "--train", write(table(300, false)), "--model", model(), "--header", "no"});
  const std::string with_target =
      run_well({"predict", model(), write(table(300, false), "new.csv"), "--header", "no"}).out;
  EXPECT_EQ(run_well({"predict", model(), write(table(300, false, false), "new.csv"), "--header", "no"}).out,
            with_target);
}

TEST_F(TextTool, UnknownTextsAreCounted) {
  (void)train();
  const std::string file = write(table(300, true, true, "pink"), "new.csv");
  const auto is_counted = [](const std::string& text) {
    expect_message(text, {"new.csv", "of 300 values in column \"colour\"", "line"});
  };
  is_counted(run({"predict", model(), file}).err);
  is_counted(run_json({"predict", model(), file, "-o", path("out.csv")}).at("warnings").at(0));
  is_counted(run_json({"evaluate", model(), file}).at("warnings").at(0));
  is_counted(run_well({"evaluate", model(), file}).out);
  expect_warning(train({"--test", file}), {"new.csv", "of 300 values in column \"colour\"", "line"});
}

TEST_F(TextTool, DatesAndIdentifiersAreLeftOutAndNotNeeded) {
  std::string text = ",id,when,a,y\n";
  std::string without = "a\n";
  int n = 0;
  for (const SmallRow& row : small_rows(60)) {
    text += fmt::format("{0},n{0},2024-01-{1:02},{2},{3}\n", n, 1 + n % 28, row.a, row.a + 0.1 * row.b);
    without += fmt::format("{}\n", row.a);
    ++n;
  }
  const Arguments command = {"train",   "--train", write(text), "--model", model(),
                             "--terms", "2",       "--tune",    "no"};
  expect_message(run_well(command).out,
                 {"60 rows, 1 predictors", "header: yes", "left out: \"id\" has a text of its own",
                  "left out: \"when\" holds dates", "left out: column 1 has no name"});
  EXPECT_EQ(run_json(command).at("remarks").size(), 4U);
  EXPECT_EQ(run_well({"predict", model(), write(without, "new.csv")}).out,
            run_well({"predict", model(), write(text, "new.csv")}).out);
}

TEST_F(TextTool, NumbersAsNamesAreAHeaderInTrainingAndPrediction) {
  std::string text = "2019,2021\n";
  for (const SmallRow& row : small_rows(60)) text += fmt::format("{:.0f},{:.0f}\n", 100 * row.a, 200 * row.a);
  const std::string file = write(text);
  const Json report =
      run_json({"train", "--train", file, "--target", "2021", "--model", model(), "--tune", "no"});
  EXPECT_EQ(report.at("n_train"), 60);
  EXPECT_EQ(run_json({"evaluate", model(), file}).at("rows"), 60);
  EXPECT_EQ(
      run_json({"predict", model(), write("2019\n5\n7\n", "new.csv"), "-o", path("out.csv")}).at("rows"), 2);
}

TEST_F(TextTool, CommentsAmongTheRowsAreWarnedOf) {
  const std::string text = table(300) + "#red,1,2,high\n";
  const Json report =
      run_json({"train", "--train", write(text), "--model", model(), "--terms", "2", "--tune", "no"});
  expect_warning(report, {"1 line begins with #", "--comment"});
  expect_message(run({"predict", model(), write(text, "new.csv")}).err, {"1 line begins with #"});
}

TEST_F(TextTool, AColumnThatIsMissingOrHoldsNumbersIsRefused) {
  (void)train();
  expect_message(run_refused({"predict", model(), write("a,zip\n1,2\n", "new.csv")}),
                 {"new.csv", "1 of the model's 3 inputs", "missing: colour"});
  expect_message(run_refused({"predict", model(), write("a,zip,colour\n1,2,3\n", "new.csv")}),
                 {"new.csv:2:3: ", "the number \"3\"", "\"colour\"", "\"green\""});
}

TEST_F(TextTool, ADotAtTheEndOfALabelIsDropped) {
  std::string dotted = table(300);
  for (std::size_t at = dotted.find("w\n"); at != std::string::npos; at = dotted.find("w\n", at + 3))
    dotted.replace(at, 2, "w.\n");
  const std::string file = write(dotted, "new.csv");
  const Json json = train({"--test", file});
  expect_warning(json, {"new.csv", "labels end in a dot"});
  EXPECT_EQ(json.at("test").at("auc"), json.at("train").at("auc"));
  expect_message(run_refused({"evaluate", model(), write("colour,a,zip,y\nred,1,2,other.\n", "new.csv")}),
                 {"new.csv:2: ", "\"other.\"", "\"high\""});
}

TEST_F(TextTool, ScalesAreExplained) {
  const Json robust = train({"--scale", "robust", "--features", "linear", "--tune", "no"});
  expect_message(robust.at("path").dump(), {"r(a)"});
  expect_message(run_well({"inspect", model()}).out, {"r(a)", "r(column) = (value - median)", "[-5, 5]"});
  (void)train({"--scale", "quantile", "--features", "linear"});
  expect_message(run_well({"inspect", model()}).out, {"q(a)", "q(column) is the normal quantile"});
  expect_message(run_refused({"train", "--train", write(table(300)), "--scale", "log"}),
                 {"--scale", "auto|standard|robust|quantile"});
}

}  // namespace
}  // namespace mfga
