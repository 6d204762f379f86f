#include "data/target_column.hpp"

#include <fmt/format.h>

#include "data/table_fixture.hpp"

namespace mfga {
namespace {

using TargetColumnTest = TableTest;
using Numbers = std::vector<double>;

TEST_F(TargetColumnTest, TextsBecomePositionsAmongTheSortedLabels) {
  const Table table = read(write("a,y\n1,pear\n2,apple\n3,\"pear\"\n4,\"\"\"fig\"\"\"\n"));
  EXPECT_EQ(table.labels, (std::vector<std::string>{"\"fig\"", "apple", "pear"}));
  EXPECT_EQ(table.target, (Numbers{2, 1, 2, 0}));
}

TEST_F(TargetColumnTest, NumbersAmongTextsAreTexts) {
  const Table table = read(write("a,y\n1,10\n2,b\n3,9\n4,10\n"));
  EXPECT_EQ(table.labels, (std::vector<std::string>{"10", "9", "b"}));
  EXPECT_EQ(table.target, (Numbers{0, 2, 1, 0}));
}

TEST_F(TargetColumnTest, AFewTextsAmongNumbersAreAnError) {
  std::string text = "a,y\n";
  for (int i = 0; i < 40; ++i) text += i == 17 || i == 30 ? fmt::format("1,?{}\n", i) : "1,2\n";
  expect_message(read_error(write(text), ErrorKind::kBadData),
                 {"table.csv:19:2: found \"?17\" in the target \"y\"", "expected a number", "38 of 40 rows"});
}

TEST_F(TargetColumnTest, NineTenthsOfNumbersAreStillText) {
  std::string text = "a,y\n";
  for (int i = 0; i < 10; ++i) text += i == 4 ? "1,b\n" : "1,2\n";
  EXPECT_EQ(read(write(text)).labels, (std::vector<std::string>{"2", "b"}));
}

TEST_F(TargetColumnTest, TheFirstFaultOfANumericTargetIsReported) {
  std::string text = "a,y\n";
  for (int i = 0; i < 50; ++i) text += i == 20 ? "1,nan\n" : i == 30 ? "1,b\n" : "1,2\n";
  expect_message(read_error(write(text), ErrorKind::kBadData),
                 {":22:2: found \"nan\" in the target", "missing", "leave the row out"});
  ReadOptions options;
  options.missing = "error";
  expect_message(read_error(write(text), ErrorKind::kBadData, options),
                 {":22:2: found \"nan\" in the target", "finite"});
}

TEST_F(TargetColumnTest, AnEmptyTargetIsAnError) {
  for (const std::string empty : {"", " ", "\"\""}) {
    expect_message(read_error(write("a,y\n1,b\n2," + empty + "\n"), ErrorKind::kBadData),
                   {"table.csv:3:2: found an empty field in the target \"y\""});
  }
}

}  // namespace
}  // namespace mfga
