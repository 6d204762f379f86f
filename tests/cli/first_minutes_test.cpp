// What a user meets first: the table as an argument or on standard input, mistyped options, columns by name,
// mistakes that are found before a long fit.
#include <pty.h>

#include "cli/shell.hpp"
#include "mfga/mfga.hpp"

namespace mfga {
namespace {

const std::string kQuickFit = " --terms 2 --tune no --ridge 1 ";

class FirstMinutes : public ShellTest {
 protected:
  // The message of a command that is refused.
  [[nodiscard]] std::string refused(const std::string& arguments) const {
    const ToolResult result = shell("mfga " + arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_EQ(result.out, "") << arguments;
    return result.err;
  }
};

TEST_F(FirstMinutes, TheTableIsAnArgument) {
  (void)write(regression_csv(40));
  (void)shell_well("mfga train table.csv --model a.json --quiet" + kQuickFit);
  (void)shell_well("mfga train --model b.json --quiet --train table.csv" + kQuickFit);
  (void)shell_well("mfga train --ignore b table.csv --model c.json --quiet" + kQuickFit);
  EXPECT_EQ(content("a.json"), content("b.json"));
  EXPECT_EQ(load_model(path("c.json")).n_columns, 2);
  expect_message(refused("train --terms 3"), {"table is required"});
}

TEST_F(FirstMinutes, TablesComeFromStandardInput) {
  (void)write(regression_csv(40));
  (void)shell_well("mfga train table.csv --model a.json --quiet" + kQuickFit);
  (void)shell_well("mfga train - --model b.json --quiet < table.csv" + kQuickFit);
  (void)shell_well("gzip -c table.csv | mfga train - --model c.json --quiet" + kQuickFit);
  EXPECT_EQ(content("a.json"), content("b.json"));
  EXPECT_EQ(content("a.json"), content("c.json"));
  const std::string predictions = shell_well("mfga predict a.json table.csv");
  EXPECT_EQ(shell_well("cat table.csv | mfga predict a.json -"), predictions);
  EXPECT_EQ(shell_well("gzip -c table.csv | mfga predict a.json - --keep y"),
            shell_well("mfga predict a.json table.csv --keep y"));
  const std::string evaluation = shell_well("mfga evaluate a.json - < table.csv");
  expect_message(evaluation, {"standard input: 40 rows"});
  expect_message(refused("evaluate a.json - < a.json"), {"standard input"});
  expect_message(refused("train - --test - < table.csv"), {"standard input (-) can be read once"});
}

TEST_F(FirstMinutes, MistypedNamesAreAnsweredWithTheNearest) {
  (void)write(regression_csv(40));
  expect_message(refused("train table.csv --tems 3"),
                 {"train has no option --tems", "did you mean --terms?"});
  expect_message(refused("train table.csv --modle m.json"), {"--modle", "did you mean --model?"});
  expect_message(refused("train table.csv --test-fractoin=0.5"), {"--test-fractoin;", "--test-fraction?"});
  expect_message(refused("inspect --shwo 3"), {"--shwo", "did you mean --show?"});
  expect_message(refused("trian table.csv"), {"no command \"trian\"", "did you mean train?"});
  const std::string unlike = refused("train table.csv --xyzzy");
  EXPECT_EQ(unlike.find("did you mean"), std::string::npos) << unlike;
}

TEST_F(FirstMinutes, ValuesThatAreNoneAreRefused) {
  (void)write(regression_csv(40));
  for (const std::string option : {"--model", "--test"})
    expect_message(refused("train table.csv " + option + " ''"), {option, "the name is empty"});
  expect_message(refused("generate -o ''"), {"--output", "the name is empty"});
  for (const std::string value : {"nan", "-0.1", "inf", "half"})
    expect_message(refused("train table.csv --test-fraction " + value),
                   {"--test-fraction", value, "between 0 and 1"});
  for (const std::string value : {"-1", "18446744073709551616", "1.5", "nan"}) {
    expect_message(refused("train table.csv --seed " + value),
                   {"--seed", value, "whole number from 0 to 18446744073709551615"});
    expect_message(refused("generate --rows 3 --seed " + value), {"--seed", value});
  }
  expect_message(refused("train table.csv --show -1"), {"--show", "-1"});
  for (const std::string option :
       {"--ridge", "--norm-bound", "--tolerance", "--time-limit", "--memory-limit", "--subsample"}) {
    for (const std::string value : {"nan", "inf"})
      expect_message(refused("train table.csv " + option + " " + value), {option, value});
  }
  (void)shell_well("mfga train table.csv --seed 18446744073709551615 --quiet" + kQuickFit);
}

TEST_F(FirstMinutes, NamesMayHoldCommas) {
  std::string table = "\"price, USD\",\"say \"\"b\"\"\",c,y\n";
  for (const SmallRow& row : small_rows(40))
    table += fmt::format("{},{},{},{:.4f}\n", row.a, row.b, row.c, row.signal());
  (void)write(table);
  const auto columns_without = [&](const std::string& ignore) {
    (void)shell_well("mfga train table.csv --model m.json --quiet " + ignore + kQuickFit);
    return load_model(path("m.json")).input_names();
  };
  const std::vector<std::string> others = {"say \"b\"", "c"};
  EXPECT_EQ(columns_without("--ignore 'price, USD'"), others);
  EXPECT_EQ(columns_without("--ignore '\"price, USD\"'"), others);
  EXPECT_EQ(columns_without("--ignore '\"price, USD\",c'"), std::vector<std::string>{"say \"b\""});
  EXPECT_EQ(columns_without("--ignore 'price, USD' --ignore 2"), std::vector<std::string>{"say \"b\""});
  EXPECT_EQ(columns_without("--ignore '\"say \"\"b\"\"\", c'"), std::vector<std::string>{"price, USD"});
  expect_message(refused("train table.csv --ignore '\"price'"), {"--ignore", "in quotes"});
  expect_message(refused("train table.csv --ignore 'c,'"), {"--ignore", "between commas"});
  expect_message(refused("train table.csv --ignore \"$(printf 'c\\na')\""), {"--ignore", "between commas"});
}

TEST_F(FirstMinutes, PredictionsKeepColumns) {
  std::string table = "id,a,b,c,date,y\n";
  std::size_t n = 0;
  for (const SmallRow& row : small_rows(40)) {
    table += fmt::format("007{},{},{},{},\"May {}, 2024\",{:.4f}\n", n, row.a, row.b, row.c, n, row.signal());
    ++n;
  }
  (void)write(table);
  (void)shell_well("mfga train table.csv --ignore id,date --model m.json --quiet" + kQuickFit);
  const std::string plain = shell_well("mfga predict m.json table.csv");
  (void)shell_well(
      "mfga predict m.json table.csv --keep date,id -o kept.csv --quiet; "
      "mfga predict m.json table.csv --keep y -o y.csv --quiet; "
      "gzip -c table.csv > t.gz; mfga predict m.json t.gz --keep date --keep id -o gz.csv --quiet");
  const std::vector<std::string> kept = lines("kept.csv");
  ASSERT_EQ(kept.size(), 41U);
  EXPECT_EQ(kept[0], "date,id,y");
  EXPECT_TRUE(kept[1].starts_with("\"May 0, 2024\",0070,")) << kept[1];
  EXPECT_TRUE(kept[40].starts_with("\"May 39, 2024\",00739,")) << kept[40];
  EXPECT_EQ(shell_well("sed 's/.*,//' kept.csv"), plain);
  EXPECT_EQ(content("gz.csv"), content("kept.csv"));
  EXPECT_EQ(lines("y.csv")[0], "y,predicted y");
  expect_message(refused("predict m.json table.csv --keep id -o p.npy"), {"p.npy", "--keep"});
  expect_message(refused("predict m.json table.csv --keep day"), {"--keep", "no column \"day\""});
}

TEST_F(FirstMinutes, KeptColumnsOfNumbersAreNumbers) {
  (void)write("1 1:0.5 2:3\n-1 2:1\n1 1:2\n-1 1:-2 2:0.25\n1 1:3\n", "t.libsvm");
  (void)shell_well("mfga train t.libsvm --model m.json --quiet" + kQuickFit);
  (void)shell_well("mfga predict m.json t.libsvm --keep x2,label -o kept.csv --quiet");
  const std::vector<std::string> kept = lines("kept.csv");
  ASSERT_EQ(kept.size(), 6U);
  EXPECT_EQ(kept[0], "x2,label,predicted label");
  EXPECT_TRUE(kept[1].starts_with("3,1,")) << kept[1];
  EXPECT_TRUE(kept[4].starts_with("0.25,-1,")) << kept[4];
  EXPECT_TRUE(kept[5].starts_with("0,1,")) << kept[5];
}

// A fit of classes with this engine is refused: what is said instead was found before it.
TEST_F(FirstMinutes, WhatIsWrongWithTheTestFileIsSaidBeforeTheFit) {
  (void)write(classification_csv(60));
  const std::string start = "train table.csv --model m.json --engine gram --test ";
  expect_message(refused(start + "table.csv"), {"--engine gram works for"});
  (void)write("a,b,y\n1,2,yes\n", "few.csv");
  (void)write("a,b,c\n1,2,3\n", "no_target.csv");
  (void)write("a,b,c,y\n1,2,red,yes\n", "text.csv");
  (void)write("a,b,c,y\n1,2,3,maybe\n", "label.csv");
  expect_message(refused(start + "none.csv"), {"none.csv", "No such file"});
  expect_message(refused(start + "few.csv"), {"few.csv: 1 of the model's 3 inputs are missing: c"});
  expect_message(refused(start + "no_target.csv"), {"no_target.csv has no column \"y\""});
  expect_message(refused(start + "text.csv"), {"text.csv:2:3: found \"red\""});
  expect_message(refused(start + "label.csv"), {"label.csv:2: ", "\"maybe\"", "\"no\" and \"yes\""});
  EXPECT_EQ(std::ranges::count(files(), "m.json"), 0);
}

// Columns that are constant in the training table are none of the model's, and the test table may lack them.
TEST_F(FirstMinutes, TheTestFileNeedsTheColumnsOfTheModelOnly) {
  std::string table = "flat,colour,a,y\n";
  for (int i = 0; i < 40; ++i)
    table += fmt::format("5,{},{},{}\n", i % 3 == 0 ? "red" : "blue", i % 7, i % 5 + 0.5);
  (void)write(table);
  (void)write("y,a,colour\n1,2,red\n2,3,blue\n3,4,green\n", "test.csv");
  const Json report = run_json({"train", path("table.csv"), "--test", path("test.csv"), "--terms", "2",
                                "--tune", "no", "--ridge", "1", "--model", path("m.json")});
  EXPECT_EQ(report.at("n_test"), 3);
  expect_warning(report, {"test.csv: 1 of 3 values in column \"colour\""});
  const Json evaluation = run_json({"evaluate", path("m.json"), path("test.csv")});
  EXPECT_EQ(report.at("test"), evaluation.at("metrics"));
}

TEST_F(FirstMinutes, TheModelIsSavedWhateverHappensToTheReport) {
  (void)write(regression_csv(40));
  EXPECT_EQ(shell("mfga train table.csv --json --model m.json >/dev/full" + kQuickFit).exit_code, 3);
  EXPECT_EQ(load_model(path("m.json")).terms.size(), 2U);
}

TEST_F(FirstMinutes, ATerminalIsToldBeforeTheFitThatNothingIsSaved) {
  (void)write(regression_csv(40));
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (pid < 0) GTEST_SKIP() << "no pseudo-terminal can be had here";
  if (pid == 0) {
    const std::string table = path("table.csv");
    execl(MFGA_TOOL, "mfga", "train", table.c_str(), "--terms", "2", "--tune", "no", "--ridge", "1", nullptr);
    _exit(127);
  }
  std::string shown;
  std::array<char, 1024> buffer{};
  for (ssize_t count = 0; (count = ::read(terminal, buffer.data(), buffer.size())) > 0;)
    shown.append(buffer.data(), static_cast<std::size_t>(count));
  int status = 0;
  waitpid(pid, &status, 0);
  ::close(terminal);
  EXPECT_EQ(status, 0);
  const std::size_t note = shown.find("will not be saved: add --model FILE");
  ASSERT_NE(note, std::string::npos) << shown;
  EXPECT_LT(note, shown.find("preparing"));
}

}  // namespace
}  // namespace mfga
