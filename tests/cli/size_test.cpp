// The number of terms, and the rows that choose it, on the command line.
#include <cmath>

#include "cli/tool.hpp"

namespace mfga {
namespace {

// a,b,c, a person with so many rows, and y.
std::string table_of_persons(std::size_t rows_of_each) {
  std::string text = "a,b,c,who,y\n";
  std::size_t n = 0;
  for (const SmallRow& row : small_rows(400)) {
    text += fmt::format("{},{},{},person {},{}\n", row.a, row.b, row.c, n / rows_of_each,
                        row.a + std::abs(row.b) + 0.1 * row.c);
    ++n;
  }
  return text;
}

class SizeCommand : public ToolTest {};

TEST_F(SizeCommand, ThePathOfSizesGoesToAFile) {
  const std::string table = write(table_of_persons(10));
  const ToolResult first = run_well({"train", table, "--group", "who", "--path", path("path.csv")});
  EXPECT_NE(first.out.find(" terms chosen of "), std::string::npos) << first.out;
  EXPECT_TRUE(content("path.csv").starts_with("terms,held_out,standard_error,ridge,chosen\n10,"))
      << content("path.csv");
  run_well({"train", table, "--group", "who", "--path", path("path.json"), "--quiet"});
  const Json sizes = Json::parse(content("path.json"));
  EXPECT_GE(sizes.size(), 2U);
  int chosen = 0;
  for (const Json& size : sizes) chosen += size["chosen"].get<bool>() ? 1 : 0;
  EXPECT_EQ(chosen, 1);
}

TEST_F(SizeCommand, AGroupIsNoPredictorAndFoldsMayGoByTime) {
  const std::string table = write(table_of_persons(10));
  for (const Arguments& more : {Arguments{"--group", "who"},
                                {"--group", "who", "--test-fraction", "0.3"},
                                {"--ignore", "who", "--folds", "time"},
                                {"--ignore", "who", "--folds", "time", "--ridge", "cv"}}) {
    Arguments arguments = {"train", table, "--tune", "no"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Json report = run_json(arguments);
    EXPECT_EQ(report["inputs"], 3);
    EXPECT_GT(report["train"]["r2"].get<double>(), 0.9);
    EXPECT_FALSE(report["sizes"].empty());
  }
}

TEST_F(SizeCommand, GroupsThatDoNotCountAreNone) {
  std::string text = "a,w,g,y\n";
  for (int i = 0; i < 200; ++i)
    text += fmt::format("{},{},{},{}\n", i % 17, i % 5 == 0 ? 1 : 0, i % 5, i % 17 % 4);
  const std::string table = write(text);
  const Arguments common = {"train", table, "--group", "g", "--weight", "w", "--features", "linear"};
  for (const Arguments& more : {Arguments{}, {"--metric", "diagonal"}}) {
    Arguments arguments = common;
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_TRUE(run_json(arguments)["sizes"].empty());
  }
  Arguments with_path = common;
  with_path.insert(with_path.end(), {"--path", path("sizes.csv")});
  expect_message(run_json(with_path)["remarks"].dump(), {"--path", "no sizes"});
  Arguments cross_validated = common;
  cross_validated.insert(cross_validated.end(), {"--ridge", "cv"});
  expect_message(run_refused(cross_validated), {"groups", "--folds"});
}

TEST_F(SizeCommand, TheTestRowsOfATableInTheOrderOfTimeAreItsLast) {
  std::string text = "a,y\n";
  for (int i = 0; i < 100; ++i) text += fmt::format("{},{}\n", i % 7 + 0.1 * (i % 3), i < 80 ? i % 7 : 1000);
  const Json report = run_json({"train", write(text), "--folds", "time", "--test-fraction", "0.2", "--terms",
                                "2", "--tune", "no", "--features", "linear"});
  EXPECT_EQ(report["n_test"], 20);
  EXPECT_LT(report["train"]["rmse"].get<double>(), 1);
  EXPECT_GT(report["test"]["rmse"].get<double>(), 900);
}

TEST_F(SizeCommand, RefusesWhatCannotBe) {
  const std::string table = write(table_of_persons(10));
  expect_message(run_refused({"train", table, "--path", path("p"), "--terms", "5"}),
                 {"--path", "--terms auto"});
  expect_message(run_refused({"train", table, "--group", "y"}), {"--group", "is the target"});
  expect_message(run_refused({"train", table, "--group", "nobody"}), {"--group", "nobody"});
  expect_message(run_refused({"train", table, "--terms", "some"}), {"--terms", "auto"});
  expect_message(run_refused({"train", table, "--group", "who", "--folds", "time"}),
                 {"--group", "--folds time"});
  expect_message(run_refused({"train", table, "--path", path("nowhere/p.csv")}), {"nowhere"});
  const std::string few = write(table_of_persons(200), "few.csv");
  expect_message(run_refused({"train", few, "--group", "who", "--ridge", "cv"}), {"groups", "--folds"});
}

}  // namespace
}  // namespace mfga
