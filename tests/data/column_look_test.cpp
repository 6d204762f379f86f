// What is found out about a delimited text by its looks: header, decimal sign, delimiter.
#include "data/column_look.hpp"

#include <fmt/format.h>

#include "data/table_fixture.hpp"

namespace mfga {
namespace {

using ColumnLookTest = TableTest;
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

std::string remarks_of(const Table& table) { return fmt::format("{}", fmt::join(table.remarks, "; ")); }

TEST_F(ColumnLookTest, TextOverNumbersIsAHeader) {
  const auto has_header = [&](const std::string& text) { return TableFile(write(text), {}).has_header(); };
  EXPECT_TRUE(has_header("a,b,c\n1,2,3\n"));
  EXPECT_TRUE(has_header("a,2,c\n1,2,3\n"));
  EXPECT_TRUE(has_header("\"1\",b\n1,2\n"));
  EXPECT_TRUE(has_header("2019,2020,growth\n1,2,3\n4,5,6\n"));
  EXPECT_TRUE(has_header("a;b\n1,5;2\n"));
  EXPECT_FALSE(has_header("1,2,3\n4,5,6\n"));
  EXPECT_FALSE(has_header("39,Private,<=50K\n50,Local,>50K\n"));
  EXPECT_FALSE(has_header("1,5%\n2,7%\n"));
  // A missing value is no name.
  EXPECT_FALSE(has_header("1,NA,3\n1,2.5,3\n"));
  // Nothing but text: names, as ever.
  EXPECT_TRUE(has_header("a,b\nred,L\n"));
  const Table table = read(write("a,2,c\n1,2,3\n"));
  EXPECT_EQ(table.columns, (Names{"a", "2"}));
  expect_message(table.remarks.at(0), {"header: yes", "\"a\" over numbers"});
  expect_message(read(write("1,2,3\n4,5,6\n")).remarks.at(0), {"header: no"});
}

TEST_F(ColumnLookTest, TheHeaderCanBeGiven) {
  ReadOptions options;
  options.header = "no";
  const std::string file = write("a,b,c\n1,2,3\n");
  EXPECT_FALSE(TableFile(file, options).has_header());
  options.header = "yes";
  EXPECT_EQ(TableFile(write("1,2,3\n4,5,6\n"), options).columns(), (Names{"1", "2", "3"}));
  EXPECT_TRUE(TableFile(write("1,2,3\n4,5,6\n"), options).read_for_training("", {}).remarks.empty());
}

TEST_F(ColumnLookTest, NumbersAsNamesAreTold) {
  // As pandas writes columns without names, with a target of text and one of numbers.
  EXPECT_EQ(read(write("0,1,2,target\n1.5,2,7,yes\n2.5,3,1,no\n")).columns, (Names{"0", "1", "2"}));
  EXPECT_EQ(read(write("0,1,2,3\n1.5,2,7,9\n2.5,3,1,8\n")).columns, (Names{"0", "1", "2"}));
  std::string many = "0,1,2,3,4,5,6,7\n";
  for (int i = 0; i < 5; ++i) many += fmt::format("{},3,3,3,3,3,3,{}\n", i, i);
  EXPECT_EQ(read(write(many)).rows(), 5);
  EXPECT_EQ(read(write("2019,2020,2021,2022\n1.5,2,7,9\n")).columns, (Names{"2019", "2020", "2021"}));
  // Rows that count up themselves.
  EXPECT_EQ(read(write("0,1,2\n3,4,5\n6,7,8\n")).rows(), 3);
  EXPECT_EQ(read(write("0,1,2\n7,7,5\n6,7,8\n")).rows(), 3);
}

TEST_F(ColumnLookTest, AFirstLineWithTheNamesLookedForIsAHeader) {
  const std::string file = write("2019,2021\n7,8\n9,3\n");
  EXPECT_FALSE(TableFile(file, {}).has_header());
  ReadOptions options;
  options.names = {"2021"};
  EXPECT_TRUE(TableFile(file, options).has_header());
  EXPECT_EQ(read(file, options, "2021").target, (Numbers{8, 3}));
  options.names = {"2021", "2022"};
  EXPECT_FALSE(TableFile(file, options).has_header());
  // 1 is the position of a column, and says nothing; nor do equal fields.
  options.names = {"1"};
  EXPECT_FALSE(TableFile(write("1,5,1\n2,3,4\n"), options).has_header());
  EXPECT_FALSE(TableFile(write("1,5,7\n2,3,4\n"), options).has_header());
  options.names = {"5"};
  EXPECT_FALSE(TableFile(write("5,5,7\n2,3,4\n"), options).has_header());
}

TEST_F(ColumnLookTest, AnUnnamedColumnThatNumbersTheRowsIsLeftOut) {
  const std::string file = write(",a,b,target\n0,1.2,3,5\n1,2.5,4,6\n");
  EXPECT_EQ(TableFile(file, {}).index_column(), 0);
  const Table table = read(file);
  EXPECT_EQ(table.columns, (Names{"a", "b"}));
  expect_message(table.remarks.back(), {"left out: column 1 has no name"});
  // Also after a shuffle, and as R writes it.
  EXPECT_EQ(read(write("\"\",\"a\",\"y\"\n\"17\",1,2\n\"3\",4,5\n")).columns, Names{"a"});
  // Others are called by their positions.
  EXPECT_EQ(read(write(",a,,y\n0.5,1,2,3\n0.7,1,2,4\n")).columns, (Names{"x0", "a", "x2"}));
  EXPECT_EQ(read(write("x1,,y\n1,2,3\n1,2,4\n")).columns, (Names{"x1", "x1_"}));
}

TEST_F(ColumnLookTest, DecimalCommasAreTold) {
  const Table table = read(write("a;b;y\n1,5;2;0,25\n-2,25;3;1\n1.234,5;4;2\n"));
  EXPECT_EQ(row_of(table, 0), (Numbers{1.5, 2}));
  EXPECT_EQ(row_of(table, 1), (Numbers{-2.25, 3}));
  EXPECT_EQ(row_of(table, 2), (Numbers{1234.5, 4}));
  EXPECT_EQ(table.target, (Numbers{0.25, 1, 2}));
  expect_message(remarks_of(table), {"decimal commas"});
  // Without a header, where commas are as frequent as semicolons.
  EXPECT_EQ(row_of(read(write("1,5;2,5\n3,5;4,5\n")), 1), Numbers{3.5});
  // For a model, too.
  const std::vector<ColumnSource> sources = {{0, ""}};
  EXPECT_EQ(TableFile(write("a;y\n1,5;2\n"), {}).read(sources, 1).values.values, Numbers{1.5});
}

TEST_F(ColumnLookTest, ThousandsAndPercentSignsAreTold) {
  const Table table = read(write("a,b,y\n\"1,234.50\",5%,1\n\"12,000\",7.5 %,2\n"));
  EXPECT_EQ(row_of(table, 0), (Numbers{1234.5, 5}));
  EXPECT_EQ(row_of(table, 1), (Numbers{12000, 7.5}));
  expect_message(remarks_of(table), {"thousands separators or percent signs in a, b"});
  EXPECT_EQ(read(write("a;y\n1 234,5;1\n1'000,5;2\n")).values.values, (Numbers{1234.5, 1000.5}));
}

TEST_F(ColumnLookTest, CommasThatMayMeanBothAreRefused) {
  const std::string file = write("a;y\n1,234;1\n2,500;2\n");
  expect_message(read_error(file, ErrorKind::kBadData), {"\"a\"", "decimals or thousands", "`decimal=,`"});
  ReadOptions options;
  options.decimal = ",";
  EXPECT_EQ(read(file, options).values.values, (Numbers{1.234, 2.5}));
  options.decimal = ".";
  EXPECT_EQ(read(file, options).values.values, (Numbers{1234, 2500}));
  expect_message(read_error(write("a;y\n3,682%;1\n4,125%;2\n"), ErrorKind::kBadData),
                 {"\"a\"", "decimals or thousands", "`decimal=,`"});
  EXPECT_EQ(read(write("a;y\n3.682%;1\n4%;2\n")).values.values, (Numbers{3.682, 4}));
  expect_message(read_error(write("a;b;y\n1,5;2.5;1\n2,5;3.5;2\n"), ErrorKind::kBadData),
                 {"\"a\"", "decimal comma", "\"b\"", "decimal point"});
  expect_message(read_error(write("a,y\n1,2\n", "t"), ErrorKind::kInvalidArgument,
                            [] {
                              ReadOptions wrong;
                              wrong.decimal = ";";
                              return wrong;
                            }()),
                 {"`decimal`"});
}

TEST_F(ColumnLookTest, NumbersThatDoNotFitAreNoCategories) {
  expect_message(read_error(write("a;y\n1,5;2\nmany;2\n3,5;2\n4,5;2\n"), ErrorKind::kBadData),
                 {":2:1: found \"1,5\"", "expected a number", "`decimal`"});
  expect_message(read_error(write("a;y\n5%;2\n6;2\n7%;3\n"), ErrorKind::kBadData), {":2:1: found \"5%\""});
  // Beyond the rows that are looked at first.
  std::string text = "a;b;y\n";
  for (int i = 0; i < 1500; ++i) text += fmt::format("{};2,5;3\n", i);
  text += "1x;2,5;3\n";
  expect_message(
      error_of(ErrorKind::kBadData, [&] { (void)TableFile(write(text), {}).read_for_training("", {}); }),
      {":1502:1: found \"1x\""});
}

TEST_F(ColumnLookTest, ThousandsBelowThePlainRowsAreReadIfThePointIsAskedFor) {
  std::string text = "a,y\n";
  for (int i = 0; i < 1500; ++i) text += fmt::format("{},3\n", i);
  const std::string file = write(text + "\"1,234\",3\n");
  ReadOptions options;
  const auto read_once = [&] { return TableFile(file, options).read_for_training("", {}); };
  expect_message(error_of(ErrorKind::kBadData, [&] { (void)read_once(); }),
                 {":1502:1: found \"1,234\"", "thousands separators is read with `decimal=.`",
                  "comma with `decimal=,`"});
  options.decimal = ".";
  const Table table = read_once();
  EXPECT_EQ(row_of(table, 1500), Numbers{1234});
  EXPECT_EQ(remarks_of(table).find("thousands"), std::string::npos);
}

TEST_F(ColumnLookTest, ANameWithASpaceIsNotSplit) {
  const std::string file = write("full name\nAnn Lee\nBob Ray\n");
  EXPECT_EQ(TableFile(file, {}).columns(), (Names{"full", "name"}));
  ReadOptions options;
  options.names = {"full name"};
  EXPECT_EQ(TableFile(file, options).columns(), Names{"full name"});
}

TEST_F(ColumnLookTest, DelimitersAreTold) {
  EXPECT_EQ(read(write("a|b|y\n1|2|3\n4|5|6\n")).columns, (Names{"a", "b"}));
  EXPECT_EQ(read(write("name, first|b|y\n1|2|3\n4|5|6\n")).columns.at(0), "name, first");
  const Table spaces = read(write("  a   b y \n1 2\t 3\r\n  4  \"5\"  6\n"));
  EXPECT_EQ(spaces.columns, (Names{"a", "b"}));
  EXPECT_EQ(spaces.values.values, (Numbers{1, 2, 4, 5}));
  EXPECT_EQ(spaces.target, (Numbers{3, 6}));
  ReadOptions options;
  options.delimiter = ":";
  EXPECT_EQ(read(write("a:b:y\n1:2:3\n"), options).columns, (Names{"a", "b"}));
  options.delimiter = "space";
  EXPECT_EQ(read(write("a,1 b y\n1 2 3\n"), options).columns, (Names{"a,1", "b"}));
  options.delimiter = "tab";
  EXPECT_EQ(TableFile(write("a,1 b\ty\n1\t2\n"), options).format(), "tsv");
  for (const std::string wrong : {"", "ab", "1", "\""}) {
    options.delimiter = wrong;
    expect_message(read_error(write("a,b\n1,2\n"), ErrorKind::kInvalidArgument, options), {"`delimiter`"});
  }
  options.delimiter = ";";
  options.format = "npy";
  expect_message(read_error(write("a,b\n1,2\n"), ErrorKind::kInvalidArgument, options), {"`format=npy`"});
  expect_message(read_error(write("a:b:y\n1:2:3\n"), ErrorKind::kInvalidArgument),
                 {"1 column", "`delimiter`"});
}

}  // namespace
}  // namespace mfga
