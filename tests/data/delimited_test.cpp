#include "data/delimited.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "data/column_texts.hpp"
#include "data/table_fixture.hpp"

namespace mfga {
namespace {

using DelimitedTest = TableTest;
using Lines = std::vector<Index>;
using Numbers = std::vector<double>;

TEST_F(DelimitedTest, ReadsNumbersWithAHeader) {
  const std::string file = write("a,b,y\n1,-2.5,3\n+4,5e2,.5\n");
  const Table table = read(file);
  EXPECT_EQ(table.columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table.target_name, "y");
  EXPECT_EQ(table.source, file);
  EXPECT_EQ(row_of(table, 0), (Numbers{1, -2.5}));
  EXPECT_EQ(row_of(table, 1), (Numbers{4, 500}));
  EXPECT_EQ(table.target, (Numbers{3, 0.5}));
  EXPECT_TRUE(table.labels.empty());
  EXPECT_EQ(lines_of(table), (Lines{2, 3}));
  EXPECT_GT(table.megabytes, 0);
  EXPECT_GE(table.load_seconds, 0);
}

TEST_F(DelimitedTest, WithoutAHeaderColumnsAreNumbered) {
  const TableFile file(write("1,2,3\n4,5,6"), {});
  EXPECT_FALSE(file.has_header());
  EXPECT_EQ(file.columns(), (std::vector<std::string>{"x0", "x1", "x2"}));
  EXPECT_EQ(lines_of(file.read_for_training("", {})), (Lines{1, 2}));
}

TEST_F(DelimitedTest, ReadsTheSmallestTables) {
  EXPECT_EQ(row_of(read(write("1,2")), 0), Numbers{1});
  const TableFile one_column(write("v\n1\n2\n"), {});
  const std::vector<Index> predictors = {0};
  const Table table = one_column.read(predictors, std::nullopt);
  EXPECT_EQ(table.values.values, (Numbers{1, 2}));
  EXPECT_TRUE(table.target.empty());
  EXPECT_TRUE(table.target_name.empty());
}

TEST_F(DelimitedTest, SkipsBlankAndCommentLinesAndKeepsCountOfThem) {
  const Table table = read(write("# about\n\n a , y \r\n\r\n1,2\r\n  \t\n# more\n\n 3 ,\t4\r\n5,6\n\n\n"));
  EXPECT_EQ(table.columns, std::vector<std::string>{"a"});
  EXPECT_EQ(table.values.values, (Numbers{1, 3, 5}));
  EXPECT_EQ(table.target, (Numbers{2, 4, 6}));
  EXPECT_EQ(lines_of(table), (Lines{5, 9, 10}));
}

TEST_F(DelimitedTest, CommentLinesAreCounted) {
  const Table above = read(write("# one\n# two\na,y\n1,2\n3,4\n"));
  ASSERT_FALSE(above.remarks.empty());
  expect_message(above.remarks.back(), {"comments: 2 lines above"});
  EXPECT_TRUE(above.warnings.empty());
  const Table below = read(write("a,y\n#7,2\n1,2\n\n#8,5\n3,4\n"));
  EXPECT_EQ(below.rows(), 2);
  ASSERT_EQ(below.warnings.size(), 1U);
  expect_message(below.warnings[0], {"table.csv: 2 lines begin with #", "`comment=\"\"`"});
  expect_message(read(write("1,2\n#1,5\n3,4\n")).warnings.at(0), {"1 line begins with #"});
  expect_message(read(write("1 1:2\n# 1:5\n-1 2:4\n")).warnings.at(0), {"1 line begins with #"});
  // In quotes it is text.
  const Table quoted = read(write("a,id,y\n1,#1,2\n"));
  EXPECT_EQ(quoted.rows(), 1);
  const Table rows = read(write("id,a,y\n\"#1\",1,2\n\"#2\",3,4\n"));
  EXPECT_EQ(rows.rows(), 2);
  EXPECT_EQ(rows.text_columns.at(0).levels, (std::vector<std::string>{"#1", "#2"}));
  EXPECT_TRUE(rows.warnings.empty());
}

TEST_F(DelimitedTest, ALineOfDelimitersIsNoTable) {
  expect_message(error_of(ErrorKind::kBadData, [&] { TableFile(write(std::string(10'000'001, ',')), {}); }),
                 {"table.csv: ", "10000002 columns", "delimiter"});
  const std::string broken = "a,b\n1,2\n3" + std::string(100'000, ',') + "\n";
  expect_message(
      error_of(ErrorKind::kBadData, [&] { (void)TableFile(write(broken), {}).read_for_training("", {}); }),
      {":3:3: ", "expected 2 fields", "at least 1002"});
}

TEST_F(DelimitedTest, CommentPrefixCanBeChosenOrNone) {
  ReadOptions options;
  options.comment = "//";
  EXPECT_EQ(lines_of(read(write("//x\na,b\n1,2\n//x\n3,4\n"), options)), (Lines{3, 5}));
  options.comment = "";
  expect_message(read_error(write("a,b\n3,2\n#1,2\n"), ErrorKind::kBadData, options), {":3:1: found \"#1\""});
}

TEST_F(DelimitedTest, SkipsAByteOrderMark) {
  EXPECT_EQ(read(write("\xEF\xBB\xBF"
                       "a,y\n1,2\n"))
                .columns,
            std::vector<std::string>{"a"});
}

TEST_F(DelimitedTest, QuotedFieldsHoldDelimitersNewlinesAndQuotes) {
  const std::string file = write(
      "\"a\nname\",b,\"the \"\"y\"\"\"\n\"1\",\"x,\ny\n\",p\n# \"\n2,5\" pipe,\" q \"\"r\"\"\"\n3,,p\n");
  const Table table = read(file, {}, "", {"b"});
  EXPECT_EQ(table.columns, std::vector<std::string>{"a\nname"});
  EXPECT_EQ(table.target_name, "the \"y\"");
  EXPECT_EQ(table.values.values, (Numbers{1, 2, 3}));
  EXPECT_EQ(table.labels, (std::vector<std::string>{" q \"r\"", "p"}));
  EXPECT_EQ(table.target, (Numbers{1, 0, 1}));
  EXPECT_EQ(lines_of(table), (Lines{3, 7, 8}));
}

TEST_F(DelimitedTest, QuotedNumbersAreNumbers) {
  const Table table = read(write("\"a\",\"y\"\n\"1.5\" , \" 2 \"\n3,\"4\"\n"));
  EXPECT_EQ(table.values.values, (Numbers{1.5, 3}));
  EXPECT_EQ(table.target, (Numbers{2, 4}));
  EXPECT_TRUE(table.labels.empty());
}

TEST_F(DelimitedTest, FindsTheDelimiter) {
  const std::string tabs = write("a\tb, c\t y\n1\t2\t3\n");
  EXPECT_EQ(TableFile(tabs, {}).format(), "tsv");
  EXPECT_EQ(read(tabs).columns, (std::vector<std::string>{"a", "b, c"}));
  const std::string semicolons = write("\"a,b,c\";y\n1;2\n");
  EXPECT_EQ(TableFile(semicolons, {}).format(), "csv");
  EXPECT_EQ(row_of(read(semicolons), 0), Numbers{1});
  ReadOptions options;
  options.format = "csv";
  EXPECT_EQ(TableFile(tabs, options).columns().size(), 2U);
  options.format = "tsv";
  EXPECT_EQ(TableFile(write("a,b;y\n"), options).columns(), std::vector<std::string>{"a,b;y"});
}

TEST_F(DelimitedTest, EmptyFieldsOfATsvAreFields) {
  ReadOptions options;
  options.missing = "error";
  expect_message(read_error(write("a\tb\ty\n1\t2\t3\n\t\t\n"), ErrorKind::kBadData, options),
                 {":3:1: found an empty field in column \"a\""});
}

TEST_F(DelimitedTest, SpacesAroundFieldsAreNoPartOfThem) {
  const Table table = read(write("39, Private, <=50K\n50, Local , >50K\n"), {}, "-1", {"x1"});
  EXPECT_EQ(table.labels, (std::vector<std::string>{"<=50K", ">50K"}));
}

TEST_F(DelimitedTest, ReadsChosenColumnsInTheAskedOrder) {
  const TableFile file(write("a,b,c,d\n1,text,3,4\n5,,7,8\n"), {});
  const std::vector<Index> predictors = {3, 0};
  const Table table = file.read(predictors, 2);
  EXPECT_EQ(table.columns, (std::vector<std::string>{"d", "a"}));
  EXPECT_EQ(table.values.values, (Numbers{4, 1, 8, 5}));
  EXPECT_EQ(table.target, (Numbers{3, 7}));
}

TEST_F(DelimitedTest, TextsOfAColumnThatIsGoneAreRefused) {
  const std::vector<Index> columns = {1};
  EXPECT_EQ(read_column_texts(write("a,id\n1,x\n"), {}, columns).at(0), std::vector<std::string>{"x"});
  const std::string changed = write("a\n1\n");
  expect_message(error_of(ErrorKind::kBadData, [&] { (void)read_column_texts(changed, {}, columns); }),
                 {"changed while it was read", "column 2"});
}

TEST_F(DelimitedTest, RaggedRows) {
  const std::string few = read_error(write("a,b,y\n1,2,3\n\n4,5\n1,2,3\n"), ErrorKind::kBadData);
  expect_message(few, {"table.csv:4:2: ", "expected 3 fields", "found 2"});
  const std::string many = read_error(write("a,b,y\n1,2,3\n4,5,6,\n"), ErrorKind::kBadData);
  expect_message(many, {"table.csv:3:4: ", "expected 3 fields", "found 4"});
  // The number of fields explains the text in a wrong place, so that it is what is reported.
  expect_message(read_error(write("a,b,y\nx,1,2,3\n"), ErrorKind::kBadData), {":2:4: ", "found 4"});
  // Columns that are not wanted count too.
  expect_message(read_error(write("a,b,y\n1,2\n"), ErrorKind::kBadData, {}, "a", {"y"}),
                 {":2:2: ", "found 2"});
}

TEST_F(DelimitedTest, TextInANumericColumn) {
  const std::string message = read_error(write("name,age,y\n1,2,3\n1,abc,3\n1,d,3\n"), ErrorKind::kBadData);
  EXPECT_EQ(
      message.substr(message.find("table.csv")),
      "table.csv:3:2: found \"abc\" in column \"age\"; expected a number (correct the row or leave it out, "
      "or "
      "leave the column out with `ignore=age`; a column that begins with a number is read as text if it is "
      "trained with `text=age`)");
  ReadOptions point;
  point.decimal = ".";
  expect_message(read_error(write("a;y\n1;2\n3,14;2\n"), ErrorKind::kBadData, point),
                 {":3:1: ", "\"3,14\"", "`decimal=,`"});
  for (const std::string bad : {"1x", "1 2", "--1", "+-1", "0x10", "\"1\"\"\"", "1e", "-", "+"}) {
    expect_message(read_error(write("a,y\n0,2\n" + bad + ",2\n"), ErrorKind::kBadData),
                   {":3:1: found ", "expected a number"});
  }
}

TEST_F(DelimitedTest, LongValuesAreShortenedInMessages) {
  const std::string message =
      read_error(write("a,y\n0,1\n" + std::string(500, 'z') + ",1\n"), ErrorKind::kBadData);
  expect_message(message, {"\"" + std::string(40, 'z') + "...\""});
}

TEST_F(DelimitedTest, MissingAndInfiniteValues) {
  ReadOptions options;
  options.missing = "error";
  for (const std::string bad : {"nan", "NaN", "inf", "-inf", "Infinity", "1e999"}) {
    expect_message(read_error(write("a,b,y\n1,2,3\n1," + bad + ",3\n"), ErrorKind::kBadData, options),
                   {":3:2: found \"" + bad + "\" in column \"b\"", "expected a finite number", "`ignore=b`"});
  }
  for (const std::string bad : {"", "  ", "\"\""}) {
    expect_message(read_error(write("a,b,y\n1," + bad + ",3\n"), ErrorKind::kBadData, options),
                   {":2:2: found an empty field in column \"b\"", "fill in a value"});
  }
  EXPECT_EQ(row_of(read(write("a,y\n1e-999,2\n")), 0), Numbers{0});
}

TEST_F(DelimitedTest, ColumnNamesMustExistAndDiffer) {
  expect_message(read_error(write("# c\na,b,a\n1,2,3\n"), ErrorKind::kBadData),
                 {"table.csv:2:3: ", "columns 1 and 3", "\"a\"", "`header=no`"});
  expect_message(read_error(write("a,,a\n1,2,3\n"), ErrorKind::kBadData), {"columns 1 and 3"});
}

TEST_F(DelimitedTest, FilesWithoutRows) {
  expect_message(read_error(write(""), ErrorKind::kBadData), {"table.csv: ", "is empty"});
  expect_message(read_error(write("\xEF\xBB\xBF"), ErrorKind::kBadData), {"is empty"});
  expect_message(read_error(write("# only\n\n"), ErrorKind::kBadData), {"has no rows"});
  expect_message(read_error(write("a,b\n\n# c\n"), ErrorKind::kBadData), {"a header but no rows"});
}

TEST_F(DelimitedTest, FaultsOfQuotes) {
  expect_message(read_error(write("a,b\n1,2\n3,\"4\n5,6\n7,8\n"), ErrorKind::kBadData),
                 {"table.csv:3:2: ", "never closed"});
  expect_message(read_error(write("a,\"b\n1,2\n"), ErrorKind::kBadData), {"table.csv:1:2: ", "never closed"});
  expect_message(read_error(write("a,b\n1,\"2\"3\n"), ErrorKind::kBadData),
                 {"table.csv:2:2: ", "after a closing quote"});
}

TEST_F(DelimitedTest, TheFirstErrorOfTheFileIsReported) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < 200; ++i) text += i % 50 == 43 ? fmt::format("1,bad{},3\n", i) : "1,2,3\n";
  expect_message(read_error(write(text), ErrorKind::kBadData), {"table.csv:45:2: found \"bad43\""});
}

// Random tables against a parser that only knows lines and commas.
TEST_F(DelimitedTest, RandomTablesRoundTrip) {
  std::mt19937_64 random(7);
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  for (int trial = 0; trial < 20; ++trial) {
    const int columns = 2 + below(6);
    const int rows = 1 + below(60);
    const std::string line_end = below(2) == 0 ? "\n" : "\r\n";
    std::string text;
    std::vector<std::vector<double>> expected;
    Lines expected_lines;
    Index line = 1;
    for (int row = 0; row < rows; ++row) {
      while (below(5) == 0) {
        text += (below(2) == 0 ? "" : "# 1,2\"") + line_end;
        ++line;
      }
      std::vector<std::string> fields;
      expected.emplace_back();
      for (int column = 0; column < columns; ++column) {
        const double value = std::normal_distribution<double>(0, 1)(random) * std::pow(10.0, below(40) - 20);
        const std::string number = below(3) == 0 ? fmt::format("{:.3g}", value) : fmt::format("{}", value);
        expected.back().push_back(std::stod(number));
        const std::string padding(static_cast<std::size_t>(below(3)), ' ');
        const bool is_quoted = trial % 2 == 1 && below(4) == 0;
        fields.push_back(fmt::format("{0}{1}{2}{1}{0}", padding, is_quoted ? "\"" : "", number));
      }
      text += fmt::format("{}", fmt::join(fields, ","));
      if (row + 1 < rows || below(2) == 0) text += line_end;
      expected_lines.push_back(line++);
    }
    const Table table = read(write(text));
    ASSERT_EQ(table.rows(), rows);
    EXPECT_EQ(lines_of(table), expected_lines);
    for (int row = 0; row < rows; ++row) {
      std::vector<double> values = row_of(table, row);
      values.push_back(table.target[static_cast<std::size_t>(row)]);
      EXPECT_EQ(values, expected[static_cast<std::size_t>(row)]);
    }
  }
}

}  // namespace
}  // namespace mfga
