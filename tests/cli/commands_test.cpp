// The smaller commands: help, options, inspect, generate, demo; and Ctrl-C.
#include <sched.h>

#include <cmath>
#include <csignal>

#include "cli/tool.hpp"
#include "mfga/mfga.hpp"

namespace mfga {
namespace {

using ToolCommand = ToolTest;
using InspectCommand = ToolTest;
using GenerateCommand = ToolTest;

TEST_F(ToolCommand, HelpNamesTheCommandsAndTheirOptions) {
  expect_message(run_well({"--help"}).out, {"train", "predict", "evaluate", "inspect", "generate", "demo",
                                            "devices", "options", "--version"});
  expect_message(run_well({"train", "--help"}).out,
                 {"--train", "--test-fraction", "--features", "--ridge", "--no-intercept", "--json"});
  expect_message(run_well({"predict", "--help"}).out, {"MODEL", "DATA", "--proba"});
}

TEST_F(ToolCommand, VersionIsTheLibrarys) {
  // Built with MPI, it says so.
  const std::string shown = run_well({"--version"}).out;
  const std::string own = "mfga " + std::string(version());
  EXPECT_TRUE(shown == own + "\n" || shown == own + " with MPI\n") << shown;
}

TEST_F(ToolCommand, DevicesAreListedOrItIsSaidWhyThereIsNone) {
  const Json json = Json::parse(run_well({"devices", "--json"}).out);
  const std::string text = run_well({"devices"}).out;
  if (json["devices"].empty()) {
    EXPECT_FALSE(json["why_none"].get<std::string>().empty());
    expect_message(text, {"no GPU", "--device cpu"});
  } else {
    expect_message(text, {json["devices"][0]["name"].get<std::string>(), "--device cuda"});
  }
}

TEST_F(ToolCommand, OptionsAreThePageInTheDocumentation) {
  std::ifstream file(MFGA_SOURCE_DIR "/docs/options.md");
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(run_well({"options"}).out, page) << "write it again: build/mfga options > docs/options.md";
}

TEST_F(ToolCommand, DemoRecoversTheTrueTerms) {
  const std::string out = run_well({"demo"}).out;
  expect_message(out, {"true", "learned", "linear model", "constant", "the true formula"});
  // A term that only one side has is shown with a dash on the other.
  EXPECT_EQ(out.find(" -\n"), std::string::npos) << out;
  EXPECT_EQ(out.find(" - "), std::string::npos) << out;
}

TEST_F(InspectCommand, ShowsTheFormula) {
  (void)run_well({"train", "--train", write(regression_csv(60)), "--terms", "4", "--features",
                  "linear + polynomial(degree=2)", "--model", path("m.json"), "--quiet"});
  expect_message(run_well({"inspect", path("m.json")}).out,
                 {"regression of \"y\": 4 terms over 3 inputs", "trained on 60 rows", "  a * b\n"});
  expect_message(run_well({"inspect", path("m.json"), "--show", "1"}).out, {"... and 3 more terms"});
}

// What is printed is enough to compute the model by hand.
TEST_F(InspectCommand, JsonHoldsTheConstantsOfTheFormula) {
  const std::string file = write(regression_csv(60));
  (void)run_well({"train", "--train", file, "--terms", "3", "--features", "linear", "--preset", "paper",
                  "--model", path("m.json"), "--quiet"});
  const Json report = run_json({"inspect", path("m.json")});
  EXPECT_EQ(report.at("task"), "regression");
  EXPECT_EQ(report.at("target"), "y");
  EXPECT_EQ(report.at("labels"), Json::array());
  EXPECT_EQ(report.at("inputs"), (Json{"a", "b", "c"}));
  EXPECT_EQ(report.at("training").at("rows"), 60);
  ASSERT_EQ(report.at("terms").size(), 3U);
  const Model model = load_model(path("m.json"));
  const Table table = TableFile(file, {}).read_for_training("", {});
  double expected = report.at("intercept");
  for (const Json& term : report.at("terms")) {
    EXPECT_EQ(term.at("family"), "linear");
    for (const ModelInput& input : model.inputs) {
      if (input.name != term.at("formula")) continue;
      expected +=
          term.at("factor").get<double>() * ((table.values(0, input.column) - input.mean) / input.deviation);
    }
  }
  EXPECT_NEAR(model.predict(table.values.view())[0], expected, 1e-12);
}

TEST_F(InspectCommand, JsonOfAClassifierHasItsLabels) {
  (void)run_well({"train", "--train", write(classification_csv(60)), "--terms", "2", "--model",
                  path("m.json"), "--quiet"});
  const Json report = run_json({"inspect", path("m.json")});
  EXPECT_EQ(report.at("task"), "classification");
  EXPECT_EQ(report.at("labels"), (Json{"no", "yes"}));
  EXPECT_EQ(report.at("terms").size(), 2U);
  expect_message(run_well({"inspect", path("m.json")}).out, {"log-odds of y = yes"});
}

TEST_F(InspectCommand, ShowsKnotsInTheUnitsOfTheTable) {
  std::string csv = "age,y\n";
  for (int age = 20; age < 70; ++age) csv += fmt::format("{},{}\n", age, age < 40 ? 1 : 5);
  run_well({"train", "--train", write(csv), "--target", "y", "--features", "step(knots=49)", "--terms", "1",
            "--tune", "no", "--ridge", "0.1", "--model", path("m.json")});
  expect_message(run_well({"inspect", path("m.json")}).out, {"[age >= ", "at age = ", "units of the table"});
  const Json place = run_json({"inspect", path("m.json")}).at("terms").at(0).at("places").at(0);
  EXPECT_EQ(place.at("column"), "age");
  EXPECT_GT(place.at("value"), 39);
  EXPECT_LE(place.at("value"), 40);
}

TEST_F(GenerateCommand, WritesTheRowsOfTheGenerator) {
  (void)run_well({"generate", "--rows", "300", "--inputs", "3", "--terms", "2", "--seed", "4", "-o",
                  path("d.csv"), "--truth", path("t.json")});
  EXPECT_EQ(files(), (std::vector<std::string>{"d.csv", "t.json"}));
  GenerateOptions options;
  options.rows = 300;
  options.inputs = 3;
  options.terms = 2;
  options.seed = 4;
  const Generator generator(options);
  EXPECT_EQ(content("t.json"), model_to_json(generator.truth()));
  Matrix x(300, 3);
  std::vector<double> y;
  generator.make_rows(0, x, y);
  const Table table = TableFile(path("d.csv"), {}).read_for_training("y", {});
  EXPECT_EQ(table.columns, (std::vector<std::string>{"x1", "x2", "x3"}));
  ASSERT_EQ(table.rows(), 300);
  for (std::size_t i = 0; i < x.values.size(); ++i)
    EXPECT_NEAR(table.values.values[i], x.values[i], 1e-8 * std::abs(x.values[i]));
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(table.target[i], y[i], 1e-8 * std::abs(y[i]));
}

TEST_F(GenerateCommand, PrintsTheTableByDefault) {
  const Arguments arguments = {"generate", "--rows", "20", "--inputs", "2", "--terms", "2"};
  Arguments to_file = arguments;
  to_file.insert(to_file.end(), {"-o", path("d.csv")});
  const std::string out = run_well(arguments).out;
  expect_message(run_well(to_file).out, {"20 rows, 2 inputs", "the truth is"});
  EXPECT_EQ(out, content("d.csv"));
  EXPECT_EQ(lines("d.csv").size(), 21U);
}

TEST_F(GenerateCommand, WithoutNoiseTheTruthHasNoError) {
  for (const std::string task : {"regression", "classification"}) {
    (void)run_well({"generate", "--task", task, "--rows", "200", "--noise", "0", "-o", path("d.csv"),
                    "--truth", path("t.json"), "--quiet"});
    const Json metrics = run_json({"evaluate", path("t.json"), path("d.csv")}).at("metrics");
    const double error = metrics.at(task == "regression" ? "rmse" : "error_percent");
    EXPECT_LT(error, 1e-7) << task;
  }
}

TEST_F(GenerateCommand, LearningFindsTheTruth) {
  (void)run_well({"generate", "--rows", "2000", "--inputs", "6", "--terms", "3", "--noise", "0", "-o",
                  path("d.csv"), "--truth", path("t.json"), "--features", "linear", "--quiet"});
  const Json report =
      run_json({"train", "--train", path("d.csv"), "--features", "linear", "--terms", "3", "--ridge", "0"});
  EXPECT_LT(report.at("train").at("rmse").get<double>(), 1e-7);
}

class Interruption : public ToolTest, public ::testing::WithParamInterface<int> {};

TEST_P(Interruption, LeavesNoFile) {
  RunningTool tool({"generate", "--rows", "1000000000000", "-o", path("d.csv"), "--truth", path("t.json")});
  const auto is_writing = [&] {
    const std::vector<std::string> names = files();
    return !names.empty() && std::filesystem::file_size(path(names[0])) > 0;
  };
  while (!is_writing()) {
    ASSERT_FALSE(tool.has_ended());
    sched_yield();
  }
  EXPECT_EQ(files().size(), 2U);
  EXPECT_NE(files()[0], "d.csv");  // a temporary name
  tool.send(GetParam());
  const ToolResult result = tool.wait();
  EXPECT_EQ(result.exit_code, 128 + GetParam());
  EXPECT_EQ(files(), std::vector<std::string>());
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "");
}

INSTANTIATE_TEST_SUITE_P(Signals, Interruption, ::testing::Values(SIGINT, SIGTERM, SIGHUP),
                         [](const auto& test) {
                           return test.param == SIGINT    ? "CtrlC"
                                  : test.param == SIGTERM ? "Terminate"
                                                          : "HangUp";
                         });

}  // namespace
}  // namespace mfga
