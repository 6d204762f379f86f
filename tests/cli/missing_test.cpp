// Missing values through the tool.
#include <cmath>
#include <cstdlib>
#include <random>
#include <sstream>

#include "cli/tool.hpp"

namespace mfga {
namespace {

class MissingCommand : public ToolTest {
 protected:
  // a,b,town,y; where a is missing y is 5 larger.
  [[nodiscard]] static std::string table(bool has_missing) {
    std::string text = "a,b,town,y\n";
    for (const SmallRow& row : small_rows(300)) {
      const bool is_missing = has_missing && row.c > 0.8;
      text += fmt::format("{},{},{},{}\n", is_missing ? "" : fmt::format("{}", row.a), row.b,
                          row.b > 0.5    ? "Bonn"
                          : row.b > -0.5 ? "Kiel"
                                         : (has_missing ? "?" : "Rome"),
                          row.signal() + (is_missing ? 5 : 0));
    }
    return text;
  }
};

TEST_F(MissingCommand, TrainsAndPredictsWithThem) {
  const std::string file = write(table(true));
  const Json report = run_json({"train", "--train", file, "--model", path("m.json"), "--features", "linear",
                                "--terms", "8", "--test-fraction", "0.2"});
  EXPECT_GT(report.at("missing").at("a").get<int>(), 20);
  EXPECT_GT(report.at("missing").at("town").get<int>(), 20);
  EXPECT_FALSE(report.at("missing").contains("b"));
  const Json model = Json::parse(content("m.json"));
  EXPECT_EQ(model.at("version"), 6);
  EXPECT_EQ(model.at("text_columns").at(0).at("levels"), (Json{"Bonn", "Kiel", "missing"}));
  EXPECT_NE(run_well({"inspect", path("m.json")}).out.find("a=missing"), std::string::npos);
  // Nothing to warn of: all this was there in the training.
  const Json evaluation = run_json({"evaluate", path("m.json"), file});
  EXPECT_TRUE(evaluation.at("warnings").empty());
  EXPECT_EQ(evaluation.at("missing"), report.at("missing"));
  run_well({"predict", path("m.json"), file, "-o", path("p.csv"), "--quiet"});
  EXPECT_EQ(lines("p.csv").size(), 301U);
  expect_message(run_refused({"train", "--train", file, "--missing", "error"}), {"an empty field", "\"a\""});
}

TEST_F(MissingCommand, WhatWasNeverMissingIsWarnedOf) {
  run_well({"train", "--train", write(table(false)), "--model", path("m.json"), "--quiet"});
  EXPECT_LT(Json::parse(content("m.json")).at("version"), 6);
  const std::string file = write("a,b,town\n1,,Bonn\n2,3,\n?,4,Kiel\n4,NA,Kiel\n", "new.csv");
  const Json json = run_json({"predict", path("m.json"), file, "-o", path("p.csv")});
  EXPECT_EQ(json.at("missing"), (Json{{"a", 1}, {"b", 2}, {"town", 1}}));
  expect_warning(json, {"new.csv: 2 of 4 values in column \"b\" are missing", "line 2", "centre"});
  expect_warning(json, {"1 of 4 values in column \"town\" are missing", "line 3"});
  const ToolResult result = run({"predict", path("m.json"), file});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.err.find("warning: "), std::string::npos);
}

TEST_F(MissingCommand, NumbersWhereTheyLieMayBeMissing) {
  run_well({"train", "--train", write(regression_csv(80)), "--model", path("m.json"), "--quiet"});
  const std::vector<double> numbers = {1, 2, 3, std::nan(""), 5, 6, 7, 8, std::nan("")};
  std::string text = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }";
  text.append(117 - text.size(), ' ');
  const std::string header = std::string("\x93NUMPY\x01\0\x76\0", 10) + text + "\n";
  const std::string bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
  const Json json =
      run_json({"predict", path("m.json"), write(header + bytes, "n.npy"), "-o", path("p.csv")});
  EXPECT_EQ(json.at("missing"), (Json{{"a", 1}, {"c", 1}}));
  expect_warning(json, {"1 of 3 values in column \"c\" are missing", "line 3"});
  run_json({"predict", path("m.json"), write("a,b,c\n1,2,3\n,5,6\n7,8,\n", "n.csv"), "-o", path("q.csv")});
  EXPECT_EQ(content("p.csv"), content("q.csv"));
}

TEST_F(MissingCommand, TheModelKnowsTheTextsThatWereNamed) {
  std::string text = "a,y\n";
  for (int i = 0; i < 100; ++i) text += i % 4 == 0 ? "-1,9\n" : fmt::format("{},{}\n", i, i % 7);
  run_well({"train", "--train", write(text), "--missing", "-1", "--model", path("m.json"), "--quiet"});
  EXPECT_EQ(Json::parse(content("m.json")).at("missing_texts"), Json{"-1"});
  const Json json = run_json({"predict", path("m.json"), write("a\n-1\n3\n", "n.csv"), "-o", path("p.csv")});
  EXPECT_EQ(json.at("missing"), (Json{{"a", 1}}));
  EXPECT_NEAR(std::stod(lines("p.csv")[1]), 9, 1);
}

// Every tenth cell of the inputs empty, by chance.
TEST_F(MissingCommand, AdultLosesLittleByATenthOfItsCells) {
  const char* const folder = std::getenv("MFGA_DATA");
  if (folder == nullptr) GTEST_SKIP() << "MFGA_DATA is not set to a folder with the data sets";
  std::mt19937 random(1);
  const auto emptied = [&](const std::string& name) {
    std::ifstream file(std::string(folder) + "/adult/" + name);
    std::string text;
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '|') continue;
      std::istringstream fields(line);
      std::string field;
      for (int i = 0; std::getline(fields, field, ','); ++i) {
        const bool is_target = i == 14;
        text += (i > 0 ? "," : "") + (!is_target && random() % 10 == 0 ? std::string() : field);
      }
      text += "\n";
    }
    return write(text, name);
  };
  const Arguments options = {"--comment", "|", "--terms", "40", "--per-step", "5", "--tune", "no"};
  const auto error = [&](const std::string& train, const std::string& test) {
    Arguments arguments = {"train", "--train", train, "--test", test};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_json(arguments).at("test").at("error_percent").get<double>();
  };
  const std::string original = std::string(folder) + "/adult/";
  const double full = error(original + "adult.data", original + "adult.test");
  const std::string train = emptied("adult.data");
  const double some_missing = error(train, emptied("adult.test"));
  EXPECT_LE(some_missing, full + 1) << "full table " << full;
  RecordProperty("full", fmt::format("{}", full));
  RecordProperty("emptied", fmt::format("{}", some_missing));
}

}  // namespace
}  // namespace mfga
