// Where commands write: files, pipes, devices, links, standard output; and what they must not overwrite.
#include "cli/shell.hpp"
#include "mfga/mfga.hpp"

namespace mfga {
namespace {

class OutputFiles : public ShellTest {
 protected:
  OutputFiles() {
    (void)write(regression_csv(40));
    (void)run_well({"train", path("table.csv"), "--terms", "2", "--tune", "no", "--ridge", "1", "--model",
                    path("m.json"), "--quiet"});
  }
};

TEST_F(OutputFiles, PipesAreWrittenThrough) {
  EXPECT_EQ(
      shell_well("mkfifo pipe; mfga train table.csv --terms 2 --tune no --ridge 1 --model pipe --quiet & "
                 "cat pipe; wait; test -p pipe"),
      content("m.json"));
  // One after the other, as they are read.
  const std::string both = shell_well(
      "mkfifo data truth; mfga generate --rows 2000 --inputs 20 -o data --truth truth --quiet & cat data "
      "truth");
  expect_message(both, {"x1,x2", "mfga-model"});
}

TEST_F(OutputFiles, StandardOutputByItsName) {
  const std::string rows = shell_well("mfga generate --rows 3");
  EXPECT_EQ(shell_well("mfga generate --rows 3 -o /dev/stdout --quiet | cat"), rows);
  EXPECT_EQ(shell_well("echo before > out; mfga generate --rows 3 -o /dev/stdout --quiet >> out; cat out"),
            "before\n" + rows);
  EXPECT_EQ(shell_well("mfga generate --rows 3 -o /dev/fd/3 --quiet 3>&1 >/dev/null"), rows);
}

TEST_F(OutputFiles, InputsAreNotOverwritten) {
  (void)shell_well("ln -s table.csv link; ln table.csv hard; cp table.csv test.csv; mkdir folder");
  const std::string table = content("table.csv");
  const std::string model = content("m.json");
  for (const std::string arguments :
       {"train table.csv --model table.csv", "train --train table.csv --model table.csv",
        "train link --model table.csv", "train table.csv --model link", "train table.csv --model hard",
        "train table.csv --model folder/../table.csv", "train table.csv --test test.csv --model test.csv",
        "predict m.json table.csv -o m.json", "predict m.json table.csv -o link",
        "generate --rows 3 -o new.csv --truth new.csv", "generate --rows 3 -o new.csv --truth ./new.csv",
        "generate --rows 3 -o new.csv --truth folder/../new.csv", "generate --rows 3 --truth -"}) {
    SCOPED_TRACE(arguments);
    const ToolResult result = shell("mfga " + arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    expect_message(result.err, {"is the same file as", "give another file"});
  }
  EXPECT_EQ(content("table.csv"), table);
  EXPECT_EQ(content("test.csv"), table);
  EXPECT_EQ(content("m.json"), model);
  EXPECT_EQ(files(), (std::vector<std::string>{"folder", "hard", "link", "m.json", "table.csv", "test.csv"}));
}

TEST_F(OutputFiles, NamesThatEndInGzAreCompressed) {
  (void)shell_well(
      "mfga predict m.json table.csv -o p.csv.gz --quiet; mfga predict m.json table.csv -o p.csv "
      "--quiet; mfga predict m.json table.csv -o p.npy.gz --quiet; mfga predict m.json table.csv -o "
      "p.npy --quiet; mfga generate --rows 5000 -o d.csv.gz --quiet; mfga generate --rows 5000 -o "
      "d.csv --quiet");
  for (const std::string name : {"p.csv", "p.npy", "d.csv"}) {
    EXPECT_LT(std::filesystem::file_size(path(name + ".gz")), std::filesystem::file_size(path(name))) << name;
    (void)shell_well("gzip -dc " + name + ".gz | cmp - " + name);
  }
}

class StandardOutput : public OutputFiles {};

TEST_F(StandardOutput, ThatIsFullOrClosedIsAnError) {
  for (const std::string arguments :
       {"inspect m.json", "inspect m.json --json", "evaluate m.json table.csv", "predict m.json table.csv",
        "train table.csv --terms 2 --tune no --ridge 1 --json",
        "train table.csv --terms 2 --tune no --ridge 1", "generate --rows 5", "options", "--help",
        "--version"}) {
    for (const std::string where : {">/dev/full", ">&-"}) {
      SCOPED_TRACE(arguments + where);
      const ToolResult result = shell("mfga " + arguments + " " + where);
      EXPECT_EQ(result.exit_code, where == ">&-" ? 2 : 3);
      expect_message(result.err, {"mfga: standard output: writing failed"});
      EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    }
  }
}

TEST_F(StandardOutput, WhatWasSavedBeforeAnErrorIsSaid) {
  const ToolResult result =
      shell("mfga train table.csv --terms 2 --tune no --ridge 1 --model other.json >/dev/full");
  EXPECT_EQ(result.exit_code, 3);
  expect_message(result.err,
                 {"mfga: standard output: writing failed", "mfga: other.json was saved before that"});
  EXPECT_EQ(shell("mfga inspect other.json").exit_code, 0);
}

TEST_F(StandardOutput, NoFileTakesThePlaceOfAClosedStream) {
  const ToolResult result = shell(
      "mfga train table.csv --terms 2 --tune no --ridge 1 --model other.json >&-; test $? = 2 && cmp "
      "m.json other.json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  (void)shell("mfga train table.csv --terms 2 --tune no --ridge 1 --model third.json --quiet <&- >&- 2>&-");
  EXPECT_EQ(content("third.json"), content("m.json"));
}

TEST_F(StandardOutput, AReaderThatHasEnoughIsNoError) {
  EXPECT_EQ(shell_well("mfga options | head -1"), "# Options\n");
  EXPECT_EQ(shell_well("mfga generate --rows 1000000 | head -1").substr(0, 2), "x1");
}

TEST_F(StandardOutput, MessagesThatNobodySeesDoNotEndTheToolOtherwise) {
  EXPECT_EQ(shell("mfga inspect none.json 2>/dev/full").exit_code, 2);
  EXPECT_EQ(shell("mfga inspect none.json 2>&-").exit_code, 2);
}

}  // namespace
}  // namespace mfga
