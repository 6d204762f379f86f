#include "data/libsvm.hpp"

#include <fmt/format.h>

#include <random>

#include "data/table_fixture.hpp"

namespace mfga {
namespace {

using LibsvmTest = TableTest;
using Numbers = std::vector<double>;

std::string error_in_line_2(const std::string& line) { return "1 1:1 5:2\n" + line + "\n"; }

TEST_F(LibsvmTest, ReadsSparseRowsAsDenseOnes) {
  const std::string file = write("# c\n-1 2:0.5 4:1e1 \n\n+1\n1 1:-3 4:+2 # 9:1\r\n", "table");
  EXPECT_EQ(TableFile(file, {}).format(), "libsvm");
  const Table table = read(file);
  EXPECT_EQ(table.columns, (std::vector<std::string>{"x1", "x2", "x3", "x4"}));
  EXPECT_EQ(table.target_name, "label");
  EXPECT_EQ(table.target, (Numbers{-1, 1, 1}));
  EXPECT_EQ(table.values.values, (Numbers{0, 0.5, 0, 10, 0, 0, 0, 0, -3, 0, 0, 2}));
  EXPECT_EQ(lines_of(table), (std::vector<Index>{2, 4, 5}));
}

TEST_F(LibsvmTest, RecognisedWhenTheFirstRowsNameNoFeature) {
  EXPECT_EQ(TableFile(write("0\n1\n1 2:3\n"), {}).format(), "libsvm");
  EXPECT_EQ(TableFile(write("0\n1\n2\n"), {}).format(), "csv");
  EXPECT_EQ(TableFile(write("1\t1:2\t2:3\n"), {}).format(), "libsvm");
  EXPECT_EQ(TableFile(write("at 12:30,5\n"), {}).format(), "csv");
}

TEST_F(LibsvmTest, LabelsMayBeText) {
  const Table table = read(write("spam 1:1\nham 1:2\nspam 2:1\n"));
  EXPECT_EQ(table.labels, (std::vector<std::string>{"ham", "spam"}));
  EXPECT_EQ(table.target, (Numbers{1, 0, 1}));
}

TEST_F(LibsvmTest, AFeatureCanBeTheTargetAndColumnsIgnored) {
  const Table table = read(write("1 1:4 2:5\n0 2:6 3:7\n"), {}, "x1", {"label", "x3"});
  EXPECT_EQ(table.columns, std::vector<std::string>{"x2"});
  EXPECT_EQ(table.target, (Numbers{4, 0}));
  EXPECT_EQ(table.values.values, (Numbers{5, 6}));
}

TEST_F(LibsvmTest, TheNumberOfFeaturesCanBeGiven) {
  ReadOptions options;
  options.n_features = 6;
  EXPECT_EQ(read(write("1 1:1\n"), options).columns.size(), 6U);
  options.n_features = 3;
  expect_message(read_error(write("1 1:1\n1 2:1 5:2\n"), ErrorKind::kBadData, options),
                 {":2:3: found \"5:2\"", "above the number of features, 3", "`n_features=5`"});
}

TEST_F(LibsvmTest, FaultsOfPairs) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"1 0:1", {":2:2: found \"0:1\"", "begin at 1"}},
      {"1 1:1 3:1 2:1", {":2:4: found \"2:1\"", "before it is 3", "must rise"}},
      {"1 2:1 2:3", {":2:3: found \"2:3\"", "the same", "once"}},
      {"1 1:1 3", {":2:3: found \"3\"", "expected a pair index:value"}},
      {"1 a:1", {":2:2: found \"a:1\"", "whole number"}},
      {"1 -1:1", {":2:2: found \"-1:1\"", "whole number"}},
      {"1 qid:3 1:1", {":2:2: found \"qid:3\"", "expected a pair"}},
      {"1 99999999999999999999:1", {":2:2: found", "expected a pair"}},
      {"1 1:", {":2:2: found \"1:\"", "expected a pair"}},
      {"1 1:x", {":2:2: found \"x\" in column \"x1\"", "expected a number"}},
      {"1 1:2:3", {":2:2: found \"2:3\" in column \"x1\"", "expected a number"}},
      {"1 4:inf", {":2:2: found \"inf\" in column \"x4\"", "finite"}},
      {"1:2 2:3", {":2:1: found \"1:2\" where the label should be"}},
  };
  for (const auto& [line, parts] : cases) {
    expect_message(read_error(write(error_in_line_2(line), "table.svm"), ErrorKind::kBadData), parts);
  }
}

TEST_F(LibsvmTest, ATableWithoutFeaturesOrTooManyIsAnError) {
  ReadOptions options;
  options.format = "libsvm";
  expect_message(read_error(write("1\n0\n"), ErrorKind::kBadData, options),
                 {"no line has an index:value pair"});
  const std::string huge = "1 2147483647:1\n";
  std::string text;
  for (int i = 0; i < 3000; ++i) text += huge;
  options.n_features = 2147483647;
  expect_message(TableTest::error_of(ErrorKind::kBadData, [&] { TableFile(write(text), options); }),
                 {"GB of memory"});
}

TEST_F(LibsvmTest, RandomTablesRoundTrip) {
  std::mt19937_64 random(3);
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  for (int trial = 0; trial < 10; ++trial) {
    const int features = 1 + below(30);
    const int rows = 1 + below(40);
    ReadOptions options;
    options.format = "libsvm";
    options.n_features = features;
    std::string text;
    Numbers values;
    Numbers target;
    for (int row = 0; row < rows; ++row) {
      target.push_back(below(5) - 2);
      text += fmt::format("{}", target.back());
      for (int j = 1; j <= features; ++j) {
        const double value = below(3) == 0 ? std::normal_distribution<double>(0, 1)(random) : 0.0;
        if (value != 0) text += fmt::format(" {}:{}", j, value);
        values.push_back(value);
      }
      text += "\n";
    }
    const Table table = read(write(text), options);
    EXPECT_EQ(table.values.values, values);
    EXPECT_EQ(table.target, target);
  }
}

TEST_F(LibsvmTest, AnIndexFarAboveTheNumberOfPairsIsRefusedBeforeItTakesMemory) {
  const std::string file = write("1 1:2 2:3\n-1 1:1 100000000:2\n", "t");
  expect_message(error_of(ErrorKind::kBadData, [&] { const TableFile table(file, {}); }),
                 {"t: ", "largest index is 100000000", "4 pairs", "`n_features=100000000`"});
  ReadOptions options;
  options.n_features = 1'500'000;
  EXPECT_EQ(TableFile(write("1 1:2 1500000:3\n"), options).columns().size(), 1'500'001U);
}

}  // namespace
}  // namespace mfga
