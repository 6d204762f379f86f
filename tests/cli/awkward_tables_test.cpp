// Tables as people have them: each trains, or is refused with a message that says what to do.
#include "cli/tool.hpp"

namespace mfga {
namespace {

struct Awkward {
  std::string what;
  std::string table;
  Arguments options;
  bool trains;
  std::vector<std::string> says;  // in the report, or in the message
};

// `count` lines, each of them `line` with {0} its number, {1} one of five numbers and {2} a target of both.
std::string rows(int count, const std::string& line) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format(fmt::runtime(line), i, i * 7 % 5, i * 7 % 5 + 0.1 * i) + "\n";
  return text;
}

std::string wide_table() {
  std::string text;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 150; ++j) text += fmt::format("{},", (i * 31 + j * 17) % 23 + 0.5);
    text += fmt::format("{}\n", i * i % 7 + 0.25);
  }
  return text;
}

std::vector<Awkward> awkward_tables() {
  return {
      {"an empty file", "", {}, false, {"empty"}},
      {"a header alone", "a,b,y\n", {}, false, {"no rows", "--header no"}},
      {"one row", "a,b,y\n1,2,3\n", {}, false, {"at least"}},
      {"one column", "y\n1\n2\n3\n", {}, false, {"no predictors are left", "--delimiter"}},
      {"columns of one name", "a,a,y\n1,2,3\n", {}, false, {"columns 1 and 2", "rename"}},
      {"a row with a field too many", "a,y\n1,2\n1,2,3\n", {}, false, {":3:3: ", "quote fields"}},
      {"predictors of one value", "a,b,y\n" + rows(30, "4,5,{2}"), {}, false, {"every column is constant"}},
      {"a target of one value", "a,y\n" + rows(30, "{1},7"), {}, false, {"nothing to learn"}},
      {"a target that is missing",
       "a,y\n" + rows(30, "{1},{2}") + "3,NA\n",
       {},
       false,
       {":32:2: ", "missing", "leave the row out"}},
      {"an infinite value",
       "a,y\n" + rows(30, "{1},{2}") + "-inf,3\n",
       {},
       false,
       {":32:1: ", "finite", "--ignore a"}},
      {"a text among numbers",
       "a,b,y\n" + rows(30, "{0},{1},{2}") + "3,oops,3\n",
       {},
       false,
       {":32:2: ", "\"oops\"", "--text b"}},
      {"identifiers and dates alone",
       "id,day,y\n" + rows(40, "n{0},2024-01-01,{2}"),
       {},
       false,
       {"no predictors are left", "\"id\"", "\"day\" holds dates", "--text"}},
      {"a class in each row", "a,y\n" + rows(40, "{1},k{0}"), {}, false, {"40 classes", "identifier"}},
      {"Latin-1", "a,b,y\n" + rows(30, "{1},gr\xFC\x6E,{2}"), {}, false, {"UTF-8", "iconv"}},
      {"commas that may be either", "a;y\n" + rows(30, "1,00{1};{0}"), {}, false, {"--decimal"}},
      {"negative weights", "a,w,y\n" + rows(30, "{1},-1,{2}"), {"--weight", "w"}, false, {"not negative"}},
      {"quotes that never close",
       "a,y\n1,2\n\"3,4\n" + rows(5, "{1},{2}"),
       {},
       false,
       {":3:1: ", "never closed"}},
      {"Windows, a mark of the byte order and line breaks in quotes",
       "\xEF\xBB\xBF\"a\",t,y\r\n" + rows(30, "{1},\"two\nlines {1}\",{2}\r"),
       {},
       true,
       {}},
      {"decimal commas and thousands points",
       "a;y\n" + rows(30, "1.{1}00,5;{0},25"),
       {},
       true,
       {"decimal commas"}},
      {"a column that is all missing", "a,b,y\n" + rows(30, "{1},,{2}"), {}, true, {"\"b\":30"}},
      {"missing values everywhere",
       "a,b,c,y\n" + rows(20, "{1},,?,{2}") + rows(20, ",{0},x,{2}") + rows(20, "NA,nan,,{2}"),
       {},
       true,
       {"\"a\":40", "\"b\":40"}},
      {"a number that means missing",
       "a,y\n" + rows(30, "{1},{2}") + rows(15, "-999,{0}"),
       {"--missing", "-999"},
       true,
       {"\"a\":15"}},
      {"numbers that are codes",
       "zip,y\n" + rows(60, "9011{1},{2}"),
       {"--categorical", "zip"},
       true,
       {"zip="}},
      {"row numbers without a name", ",a,y\n" + rows(30, "{0},{1},{2}"), {}, true, {"numbers the rows"}},
      {"a column twice, and one of one value",
       "a,b,c,y\n" + rows(30, "{1},{1},3,{2}"),
       {},
       true,
       {"\\\"b\\\" is the same as \\\"a\\\"", "\"dropped_columns\":[\"c\"]"}},
      {"more columns than rows", wide_table(), {"--header", "no"}, true, {}},
      {"numbers of all sizes", "a,b,y\n" + rows(30, "{1}e300,{0}e-300,{2}"), {}, true, {}},
      {"a class of one row", "a,y\n" + rows(60, "{1},no") + "3,yes\n", {}, true, {"\"yes\""}},
      {"texts that hardly repeat",
       "t,a,y\n" + rows(60, "word{0},{1},{2}"),
       {},
       true,
       {"\\\"t\\\" has a text of its own"}},
      {"texts that are too long for levels",
       "t,a,y\n" + rows(60, std::string(30'000, 'x') + ",{1},{2}"),
       {},
       true,
       {"\\\"t\\\" holds texts of more than 10000 bytes"}},
      {"texts that are too long for levels, in quotes",
       "t,a,y\n" + rows(60, "\"" + std::string(12'000, 'x') + "\",{1},{2}"),
       {},
       true,
       {"\\\"t\\\" holds texts of more than 10000 bytes"}},
      {"texts that are too long for levels, asked for",
       "t,a,y\n" + rows(60, std::string(30'000, 'x') + ",{1},{2}"),
       {"--text", "t"},
       false,
       {"too long for levels: pass --ignore t"}},
      {"a comment among the rows",
       "a,y\n1,2\n" + rows(20, "{1},{2}") + "#3,4\n" + rows(20, "{1},{2}"),
       {},
       true,
       {"left out as comments"}},
  };
}

class AwkwardTables : public ToolTest {};

TEST_F(AwkwardTables, TrainOrAreRefusedWithAdvice) {
  const std::vector<Awkward> tables = awkward_tables();
  EXPECT_GE(tables.size(), 20U);
  for (const Awkward& awkward : tables) {
    SCOPED_TRACE(awkward.what);
    const std::string file = write(awkward.table, "t.csv");
    Arguments arguments = {"train", file, "--terms", "4", "--model", path("m.json")};
    arguments.insert(arguments.end(), awkward.options.begin(), awkward.options.end());
    const std::vector<std::string> before = files();
    if (!awkward.trains) {
      expect_message(run_refused(arguments), awkward.says);
      EXPECT_EQ(files(), before) << "nothing is written";
      continue;
    }
    arguments.emplace_back("--json");
    const ToolResult trained = run(arguments);
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
    expect_message(Json::parse(trained.out).dump() + content("m.json"), awkward.says);
    // What it was trained on it can predict.
    EXPECT_EQ(run({"predict", path("m.json"), file, "-o", path("p.csv"), "--quiet"}).exit_code, 0);
    // And what it was trained on can be described.
    Arguments describe = {"describe", file};
    describe.insert(describe.end(), awkward.options.begin(), awkward.options.end());
    EXPECT_EQ(run(describe).exit_code, 0);
    std::filesystem::remove(path("m.json"));
    std::filesystem::remove(path("p.csv"));
  }
}

}  // namespace
}  // namespace mfga
