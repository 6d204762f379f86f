// What is printed about odd tables and files: true, helpful, and safe to look at.
#include "cli/shell.hpp"
#include "mfga/mfga.hpp"

namespace mfga {
namespace {

using Messages = ShellTest;

// Neither control characters but line ends nor bytes that are not UTF-8.
void expect_printable(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    EXPECT_TRUE((byte >= 0x20U && byte != 0x7FU) || byte == '\n') << i << " in " << text;
    EXPECT_FALSE(byte == 0xC2U && static_cast<unsigned char>(text[i + 1]) < 0xA0U) << i << " in " << text;
  }
  EXPECT_NO_THROW((void)Json(text).dump()) << text;  // throws where it is not UTF-8
}

TEST_F(Messages, OfTooManyOrTooFewClassesSayWhatIsPossible) {
  std::string many = "a,y\n";
  for (int i = 0; i < 40; ++i) many += fmt::format("{},c{}\n", i, i % 25);
  expect_message(run_refused({"train", write(many)}),
                 {"table.csv: the target y has 25 classes (c0, c1, c10, c11, c12, ...) in 40 rows",
                  "is it an identifier"});
  expect_message(run_refused({"train", write("a,y\n1,0\n2,1\n3,2\n4,1\n"), "--task", "classification"}),
                 {"3 classes (0, 1, 2)", "--task regression"});
  expect_message(run_refused({"train", write("a,y\n1,no\n2,no\n3,no\n4,no\n")}),
                 {"1 class (no)", "two are needed"});
}

TEST_F(Messages, WholeNumbersThatMayBeClassesAreNamed) {
  std::string table = "a,y\n";
  for (int i = 0; i < 40; ++i) table += fmt::format("{},{}\n", i % 11, i % 3);
  const Arguments quick = {"--terms", "1", "--tune", "no", "--ridge", "1"};
  const auto report = [&](const std::string& text, const std::string& task) {
    Arguments arguments = {"train", write(text), "--task", task};
    arguments.insert(arguments.end(), quick.begin(), quick.end());
    return run_well(arguments).out;
  };
  expect_message(report(table, "auto"),
                 {"the 3 values of the target (0, 1, 2) are taken as numbers", "--task classification"});
  EXPECT_EQ(report(table, "regression").find("taken as numbers"), std::string::npos);
  EXPECT_EQ(report(regression_csv(40), "auto").find("taken as numbers"), std::string::npos);
}

TEST_F(Messages, OfModelFiles) {
  const std::string table = write(regression_csv(10));
  for (const std::string text : {"a,b\n1,2\n", "", "{\"a\": 1e999}", "{\"format\": \"\xff\"}", "[1, 2"}) {
    const std::string message = run_refused({"inspect", write(text, "m.json")});
    EXPECT_EQ(message.find("json.exception"), std::string::npos) << message;
    expect_message(message, {"m.json: not a", "the JSON of a saved model"});
    expect_printable(message);
  }
  std::filesystem::create_directory(path("folder"));
  for (const Arguments& arguments : {Arguments{"inspect", path("folder")},
                                     {"predict", path("folder"), table},
                                     {"train", path("folder")},
                                     {"bound", path("folder"), "--train", table}}) {
    expect_message(run_refused(arguments), {"folder: is a directory"});
  }
  expect_message(run_refused({"inspect", path("none.json")}), {"there is no such model file"});
}

TEST_F(Messages, ShowNoControlCharactersOfFiles) {
  // A name, a label and a level with what a text file may hold (escape is not among it, but a control
  // character of Unicode that terminals take for its like), or a line of their own; a path with anything.
  const std::string odd = "\v\x7f\xc2\x9b";
  const std::string name = "m\x1b[2J\x07";
  std::string table = fmt::format("\"{}\nwarning: x\",level{},flat{},y{}\n", odd, odd, odd, odd);
  for (int i = 0; i < 60; ++i) {
    table +=
        fmt::format("{},{}{},1,{}{}\n", i % 9, odd, i % 2, odd, (i % 9 > 4) != (i % 10 == 0) ? "yes" : "no");
  }
  const std::string file = write(table, "t" + odd + ".csv");
  Arguments arguments = {"train", file,      "--terms", "3",       "--tune",
                         "no",    "--ridge", "1",       "--model", path(name)};
  const ToolResult trained = run_well(arguments);
  expect_printable(trained.out);
  expect_message(trained.out, {"\\x0B\\x7F\\xC2\\x9B", "m\\x1B[2J\\x07"});
  EXPECT_EQ(trained.out.find("\nwarning: x"), std::string::npos) << trained.out;
  const std::string inspected = run_well({"inspect", path(name)}).out;
  expect_printable(inspected);
  EXPECT_EQ(inspected.find("\nwarning: x"), std::string::npos) << inspected;
  expect_printable(run_well({"evaluate", path(name), file}).out);
  const std::string json = run_well({"inspect", path(name), "--json"}).out;
  expect_printable(json);
  EXPECT_EQ(Json::parse(json).at("target"), "y" + odd);
  expect_printable(run_refused({"train", file, "--target", "none" + odd}));
}

TEST_F(Messages, ShowLabelsOfRareClassesOnOneLine) {
  std::string table = "a,y\n";
  for (int i = 0; i < 60; ++i)
    table += fmt::format("{},{}\n", i % 7, i % 20 == 0 ? "\"yes\ntest: x\"" : "no");
  const std::string out =
      run_well({"train", write(table), "--terms", "1", "--tune", "no", "--ridge", "1"}).out;
  expect_message(out, {"precision"});
  EXPECT_EQ(out.find("\ntest: x"), std::string::npos) << out;
}

TEST_F(Messages, AreUtf8WhateverBytesAreGiven) {
  const std::string bytes = "caf\xe9";
  expect_message(run_refused({"inspect", path(bytes)}), {"caf\\xE9"});
  expect_printable(run_refused({"train", write("a,b,y\n1,caf\xe9,3\n2,2,3\n4,5,6\n"), "--text", "b"}));
  const std::string table = write(regression_csv(40), bytes + ".csv");
  const std::string json = run_well({"train", table, "--terms", "1", "--tune", "no", "--ridge", "1",
                                     "--model", path(bytes), "--json"})
                               .out;
  expect_printable(json);
  EXPECT_TRUE(Json::parse(json).at("model").get<std::string>().ends_with("caf\\xE9"));
  expect_printable(run_well({"evaluate", path(bytes), table}).out);
  expect_printable(run_refused({"fly\xff\x1b"}));
  expect_printable(run_refused({"train", table, "--\xff"}));
}

}  // namespace
}  // namespace mfga
