// mfga describe, and what is said of columns as they come.
#include "cli/tool.hpp"

namespace mfga {
namespace {

class DescribeCommand : public ToolTest {
 protected:
  // A code, a town with rare texts, a date, an identifier, a column twice, one value, and a label.
  [[nodiscard]] static std::string table() {
    std::string text = "code,town,day,id,a,again,one,label\n";
    for (int i = 0; i < 400; ++i) {
      const std::string town = i % 100 == 7 ? fmt::format("T{}", i) : i % 3 == 0 ? "Bonn" : "Kiel";
      text += fmt::format("{0},{1},2024-01-{2:02},n{3},{4},{4},5,{5}\n", 10 + i % 4, town, 1 + i % 28, i,
                          i * i % 97, (i * i % 97) + (i % 4) * 30 > 80 ? "yes" : "no");
    }
    return text;
  }
};

TEST_F(DescribeCommand, ShowsColumnsAsTheLearnerSeesThem) {
  const std::string file = write(table());
  const Json json = run_json({"describe", file, "--categorical", "code"});
  EXPECT_EQ(json.at("rows"), 400);
  EXPECT_EQ(json.at("target").at("task"), "classification");
  EXPECT_EQ(json.at("target").at("classes").size(), 2U);
  const Json& columns = json.at("columns");
  ASSERT_EQ(columns.size(), 5U);
  EXPECT_EQ(columns[0].at("kind"), "text");
  EXPECT_EQ(columns[0].at("levels"), (Json{{"10", 100}, {"11", 100}, {"12", 100}, {"13", 100}}));
  EXPECT_EQ(columns[1].at("rare"), 4);
  EXPECT_EQ(columns[1].at("levels").at("other"), 4);
  EXPECT_EQ(columns[3].at("same_as"), "a");
  EXPECT_EQ(columns[4].at("constant"), true);
  const std::string remarks = json.at("remarks").dump();
  expect_message(remarks,
                 {"\\\"day\\\" holds dates", "\\\"id\\\" has a text of its own", "4 texts that few rows"});
  const std::string text = run_well({"describe", file}).out;
  expect_message(text, {"400 rows", "column", "again: is the same as a in every row",
                        "one: has one value in all rows and is left out", "standard", "0/1"});
  // It is refused as training is.
  expect_message(run_refused({"describe", file, "--target", "prise"}), {"--target", "\"prise\""});
}

TEST_F(DescribeCommand, SuspectsAreNamed) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < 60; ++i)
    text += fmt::format("{},{},{}\n", i * i % 41, 3 * (i * 7 % 60) + 1, i * 7 % 60);
  expect_message(run_well({"describe", write(text)}).out, {"b: may give the answer away", "--ignore"});
}

TEST_F(DescribeCommand, TrainingSaysTheSame) {
  const std::string file = write(table());
  const Json report =
      run_json({"train", file, "--categorical", "code", "--terms", "3", "--model", path("m.json")});
  expect_message(report.at("remarks").dump(),
                 {"\\\"again\\\" is the same as \\\"a\\\"", "4 texts that few rows"});
  EXPECT_EQ(report.at("dropped_columns"), Json{"one"});
  // Rare texts are known, unknown ones are counted, and both are the same level.
  const std::string head = "code,town,a,again,one\n";
  const Json json = run_json({"predict", path("m.json"),
                              write(head + "10,T7,3,3,5\n10,Rome,3,3,5\n", "n.csv"), "-o", path("p.csv")});
  expect_warning(
      json, {"1 of 2 values in column \"town\" are texts that the training table did not have", "\"other\""});
  EXPECT_EQ(lines("p.csv")[1], lines("p.csv")[2]);
}

}  // namespace
}  // namespace mfga
