#include "mfga/describe.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reference.hpp"

namespace mfga {
namespace {

// Columns: numbers, the same again, heavy tails with missing values, one value, row numbers, and two levels.
struct DescribedTable {
  Matrix x = reference::random_matrix(400, 7, 3);
  std::vector<double> y;
  TrainingData data;

  DescribedTable() {
    for (Index n = 0; n < x.rows; ++n) {
      x(n, 1) = x(n, 0);
      x(n, 2) = n % 8 == 0 ? std::nan("") : std::exp(3 * x(n, 2));
      x(n, 3) = 7;
      x(n, 4) = static_cast<double>(n + 10);
      x(n, 5) = n % 4 == 0 ? 1 : 0;
      x(n, 6) = 1 - x(n, 5);
      y.push_back(std::sin(static_cast<double>(3 * n)));
    }
    data = {.x = x.view(),
            .y = y,
            .columns = {"a", "b", "c", "d", "e", "t=p", "t=q"},
            .text_columns = {{"t", 5, {"p", "q"}}}};
  }
};

TEST(Describe, TellsOfEachColumn) {
  const DescribedTable table;
  const TableDescription description = describe(table.data);
  EXPECT_EQ(description.rows, 400);
  EXPECT_EQ(description.task, Task::kRegression);
  ASSERT_EQ(description.columns.size(), 6U);
  const ColumnDescription& a = description.columns[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.distinct, 400);
  EXPECT_EQ(a.scale, "standard");
  EXPECT_TRUE(a.same_as.empty() && a.gives_away.empty() && !a.is_constant && !a.numbers_the_rows);
  EXPECT_EQ(description.columns[1].same_as, "a");
  const ColumnDescription& c = description.columns[2];
  EXPECT_EQ(c.missing, 50);
  EXPECT_EQ(c.distinct, 350);
  EXPECT_EQ(c.scale, "quantile");
  EXPECT_TRUE(c.tells_of_missing);
  EXPECT_TRUE(description.columns[3].is_constant);
  EXPECT_EQ(description.columns[3].mean, 7);
  EXPECT_TRUE(description.columns[4].numbers_the_rows);
  EXPECT_EQ(description.columns[4].lowest, 10);
  EXPECT_EQ(description.columns[4].highest, 409);
  const ColumnDescription& t = description.columns[5];
  EXPECT_TRUE(t.is_text);
  EXPECT_EQ(t.levels, (std::vector<std::pair<std::string, Index>>{{"q", 300}, {"p", 100}}));
}

TEST(Describe, SuspectsColumnsThatGiveTheTargetAway) {
  DescribedTable table;
  // Any rising function of the target, with a little noise.
  for (std::size_t n = 0; n < 400; ++n)
    table.x(static_cast<Index>(n), 0) =
        std::exp(5 * table.y[n]) * (1 + 1e-4 * std::sin(static_cast<double>(n)));
  EXPECT_NE(describe(table.data).columns[0].gives_away, "");
  EXPECT_EQ(describe(table.data).columns[2].gives_away, "");
  for (std::size_t n = 0; n < 400; ++n) table.x(static_cast<Index>(n), 0) = table.y[n];
  EXPECT_EQ(describe(table.data).columns[0].gives_away, "it is the target");

  // Classes: a text that has them, and a number that tells them apart.
  std::vector<double> classes;
  for (Index n = 0; n < 400; ++n) classes.push_back(n % 4 == 0 ? 1 : 0);
  table.data.y = classes;
  for (Index n = 0; n < 400; ++n) table.x(n, 0) = n % 4 == 0 ? 3 + std::abs(table.x(n, 1)) : 1;
  const TableDescription description = describe(table.data);
  EXPECT_EQ(description.classes, (std::vector<std::pair<std::string, Index>>{{"0", 300}, {"1", 100}}));
  EXPECT_NE(description.columns[0].gives_away, "");
  EXPECT_EQ(description.columns[1].gives_away, "");
  EXPECT_NE(description.columns[5].gives_away, "");
}

}  // namespace
}  // namespace mfga
