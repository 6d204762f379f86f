#include <algorithm>
#include <cmath>
#include <limits>

#include "data/table_fixture.hpp"

namespace mfga {
namespace {

using SplitTest = TableTest;

// Row r holds (r, 10 r), its target is -r, and it stands on a line that depends on r.
Table make_table(Index rows) {
  Table table;
  table.source = std::string("t.csv");
  table.columns = {"a", "b"};
  table.text_columns = {{"a", 0, {"p", "q"}}};
  table.target_name = std::string("y");
  table.values = Matrix(rows, 2);
  for (Index row = 0; row < rows; ++row) {
    table.values(row, 0) = static_cast<double>(row);
    table.values(row, 1) = 10.0 * static_cast<double>(row);
    table.target.push_back(-static_cast<double>(row));
  }
  table.unnamed_columns = 3;
  table.lines.first_line = 2;
  table.lines.skips = {{3, 2}, {7, 3}};
  return table;
}

TEST_F(SplitTest, RowsAreDividedAndStayWhole) {
  for (const Index rows : {2, 10, 11, 1000}) {
    for (const double fraction : {0.1, 0.5, 0.77}) {
      const auto count = static_cast<Index>(std::floor(fraction * static_cast<double>(rows)));
      if (count == 0) continue;
      const Table whole = make_table(rows);
      Table kept = make_table(rows);
      const Table taken = split_off(kept, fraction, 5);
      EXPECT_EQ(taken.rows(), count);
      EXPECT_EQ(kept.rows(), rows - count);
      std::vector<bool> seen(static_cast<std::size_t>(rows));
      for (const Table* part : {&std::as_const(kept), &taken}) {
        EXPECT_EQ(part->columns, whole.columns);
        EXPECT_EQ(part->text_columns, whole.text_columns);
        EXPECT_EQ(part->target_name, "y");
        EXPECT_EQ(part->unnamed_columns, 3);
        EXPECT_EQ(part->source, "t.csv");
        ASSERT_EQ(std::ssize(part->values.values), part->rows() * 2);
        ASSERT_EQ(std::ssize(part->target), part->rows());
        for (Index i = 0; i < part->rows(); ++i) {
          const auto row = static_cast<Index>(part->values(i, 0));
          if (i > 0) {
            EXPECT_GT(part->values(i, 0), part->values(i - 1, 0));
          }
          EXPECT_EQ(part->values(i, 1), 10.0 * static_cast<double>(row));
          EXPECT_EQ(part->target[static_cast<std::size_t>(i)], -static_cast<double>(row));
          EXPECT_EQ(part->lines.line_of_row(i), whole.lines.line_of_row(row));
          EXPECT_FALSE(seen[static_cast<std::size_t>(row)]);
          seen[static_cast<std::size_t>(row)] = true;
        }
      }
    }
  }
}

TEST_F(SplitTest, TheSeedChoosesTheRows) {
  const auto taken = [](std::uint64_t seed) {
    Table table = make_table(100);
    return split_off(table, 0.3, seed).values.values;
  };
  EXPECT_EQ(taken(1), taken(1));
  EXPECT_NE(taken(1), taken(2));
}

TEST_F(SplitTest, EveryRowIsChosenAboutAsOften) {
  constexpr int kTrials = 2000;
  std::vector<int> counts(20);
  for (int seed = 0; seed < kTrials; ++seed) {
    Table table = make_table(20);
    const Table taken = split_off(table, 0.25, static_cast<std::uint64_t>(seed));
    for (Index i = 0; i < taken.rows(); ++i) ++counts[static_cast<std::size_t>(taken.values(i, 0))];
  }
  // 500 are expected with a standard deviation of 19.
  for (const int count : counts) EXPECT_NEAR(count, 0.25 * kTrials, 100);
}

TEST_F(SplitTest, CanBeDoneAgain) {
  Table table = make_table(40);
  const Table whole = make_table(40);
  (void)split_off(table, 0.5, 1);
  const Table second = split_off(table, 0.5, 1);
  for (Index i = 0; i < second.rows(); ++i) {
    EXPECT_EQ(second.lines.line_of_row(i), whole.lines.line_of_row(static_cast<Index>(second.values(i, 0))));
  }
}

TEST_F(SplitTest, TablesWithoutATargetSplitToo) {
  Table table = make_table(10);
  table.target.clear();
  const Table taken = split_off(table, 0.5, 1);
  EXPECT_TRUE(taken.target.empty());
  EXPECT_TRUE(table.target.empty());
}

TEST_F(SplitTest, FractionsThatCannotBe) {
  for (const double fraction : {0.0, 1.0, -0.5, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    Table table = make_table(10);
    expect_message(error_of(ErrorKind::kInvalidArgument, [&] { (void)split_off(table, fraction, 1); }),
                   {"between 0 and 1"});
  }
  Table table = make_table(10);
  expect_message(error_of(ErrorKind::kInvalidArgument, [&] { (void)split_off(table, 0.05, 1); }),
                 {"0 of 10 rows", "at least one row"});
  EXPECT_EQ(table.rows(), 10);
}

}  // namespace
}  // namespace mfga
