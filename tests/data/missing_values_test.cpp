// What stands for a missing value in files, and what becomes of it in tables.
#include <cmath>
#include <limits>

#include "data/missing_marks.hpp"
#include "data/npy.hpp"
#include "data/standardise.hpp"
#include "data/table_fixture.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

using Names = std::vector<std::string>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Equal, and missing where the other is.
void expect_values(const Table& table, const std::vector<std::vector<double>>& expected) {
  ASSERT_EQ(table.rows(), std::ssize(expected));
  for (Index i = 0; i < table.rows(); ++i) {
    const std::vector<double>& row = expected[static_cast<std::size_t>(i)];
    ASSERT_EQ(table.values.cols, std::ssize(row));
    for (Index j = 0; j < table.values.cols; ++j) {
      const double value = row[static_cast<std::size_t>(j)];
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(table.values(i, j))) << i << ", " << j;
      } else {
        EXPECT_EQ(table.values(i, j), value) << i << ", " << j;
      }
    }
  }
}

class MissingValuesTest : public TableTest {};

TEST_F(MissingValuesTest, EmptyFieldsAndMarksAreMissing) {
  const Table table = read(write("a,b,c,y\n1,,?,2\nNA,2,3,2\n \"\" ,nan,\"NA\",3\n4, na ,5,4\n,,,6\n"));
  EXPECT_EQ(table.columns, (Names{"a", "b", "c"}));
  expect_values(table, {{1, kNan, kNan}, {kNan, 2, 3}, {kNan, kNan, kNan}, {4, kNan, 5}, {kNan, kNan, kNan}});
  ASSERT_EQ(table.missing.size(), 3U);
  EXPECT_EQ(table.missing[0].column, "a");
  EXPECT_EQ(table.missing[0].count, 3);
  EXPECT_EQ(table.missing[0].first_line, 3);
  EXPECT_EQ(table.missing[1].count, 4);
  // Tabs, spaces and decimal commas.
  expect_values(read(write("a\tb\ty\n1\t\t3\n\t2\t3\n")), {{1, kNan}, {kNan, 2}});
  expect_values(read(write("a b y\n1 NA 3\n? 2 3\n")), {{1, kNan}, {kNan, 2}});
  expect_values(read(write("a;b;y\n1,5;;3\n?;2,5;3\n")), {{1.5, kNan}, {kNan, 2.5}});
}

TEST_F(MissingValuesTest, AColumnMayBeginWithThem) {
  const Table table = read(write("a,b,y\n?,,3\nNA,,3\n7,x,4\n8,y,4\n"));
  EXPECT_EQ(table.columns, (Names{"a", "b=missing", "b=x", "b=y"}));
  expect_values(table, {{kNan, 1, 0, 0}, {kNan, 1, 0, 0}, {7, 0, 1, 0}, {8, 0, 0, 1}});
  // All of a column.
  expect_values(read(write("a,b,y\n,1,3\n?,2,3\n")), {{kNan, 1}, {kNan, 2}});
}

TEST_F(MissingValuesTest, TextsAndNumbersThatAreNamedAreMissing) {
  ReadOptions options;
  options.missing = "-999, none";
  const Table table = read(write("a,b,y\n-999,none,3\n2,x,3\n-999.0,?,4\nnone,x,4\n"), options);
  EXPECT_EQ(table.columns, (Names{"a", "b=missing", "b=x"}));
  expect_values(table, {{kNan, 1, 0}, {2, 0, 1}, {kNan, 1, 0}, {kNan, 0, 1}});
  EXPECT_EQ(table.missing_texts, (Names{"-999", "none"}));
  options.missing = "a,,b";
  expect_message(read_error(write("a,y\n1,2\n"), ErrorKind::kInvalidArgument, options),
                 {"`missing`", "empty"});
}

TEST_F(MissingValuesTest, OfLibsvmAndNumpyFiles) {
  const std::string svm = write("1 1:nan 2:3\n-1 1:-999\n1 2:NA\n", "t.svm");
  expect_values(read(svm), {{kNan, 3}, {-999, 0}, {0, kNan}});
  ReadOptions options;
  options.missing = "-999";
  expect_values(read(svm, options), {{kNan, 3}, {kNan, 0}, {0, kNan}});
  const std::vector<double> numbers = {1, -999, 3, kNan, 5, 6};
  const std::string npy =
      write(npy_header("(2, 3)") +
                std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)),
            "t.npy");
  expect_values(read(npy), {{1, -999}, {kNan, 5}});
  expect_values(read(npy, options), {{1, kNan}, {kNan, 5}});
  EXPECT_EQ(read(npy).missing.front().column, "x0");
}

TEST_F(MissingValuesTest, MissingTargetsAndWeightsAreErrors) {
  for (const std::string mark : {"NA", "?", "nan"}) {
    const std::string file = write("a,b,y,w\n1,5,2,1\n2,6," + mark + ",1\n3,5,4," + mark + "\n");
    expect_message(read_error(file, ErrorKind::kBadData, {}, "y"),
                   {":3:3: found \"" + mark + "\" in the target", "leave the row out"});
    expect_message(error_of(ErrorKind::kBadData,
                            [&] { (void)TableFile(file, {}).read_for_training("a", Names{"y"}, {}, "w"); }),
                   {":4: the weight \"w\" is missing"});
    expect_message(
        error_of(ErrorKind::kBadData,
                 [&] { (void)TableFile(file, {}).read_for_training("a", {}, {}, "", Names{"y"}); }),
        {":3: the target \"y\" is missing"});
  }
}

TEST_F(MissingValuesTest, KnownLevelsAreLookedForFirst) {
  const std::string file = write("b,a\nx,1\n?,2\n,3\nz,\n");
  const auto table_of = [&](const TextColumn& known) {
    std::vector<ColumnSource> sources;
    for (const std::string& level : known.levels) sources.push_back({0, level, &known});
    sources.push_back({1});
    sources.push_back({1});  // twice, as an input that tells of missing values needs it
    return TableFile(file, {}).read(sources, std::nullopt);
  };
  // A question mark was a text once.
  const Table old = table_of({"b", 0, {"?", "x"}});
  expect_values(old, {{0, 1, 1, 1}, {1, 0, 2, 2}, {kNan, kNan, 3, 3}, {0, 0, kNan, kNan}});
  EXPECT_EQ(old.unknown_texts.front().count, 1);
  EXPECT_EQ(old.missing.front().count, 1);
  expect_values(table_of({"b", 0, {"missing", "x"}}),
                {{0, 1, 1, 1}, {1, 0, 2, 2}, {1, 0, 3, 3}, {0, 0, kNan, kNan}});
  // Texts that are not known count as rare ones do.
  const Table grouped = table_of({"b", 0, {"other", "x"}, {"w", "z"}});
  expect_values(grouped, {{0, 1, 1, 1}, {kNan, kNan, 2, 2}, {kNan, kNan, 3, 3}, {1, 0, kNan, kNan}});
  EXPECT_TRUE(grouped.unknown_texts.empty());
}

TEST(MissingValues, AreLeftOutOfMeansAndDeviations) {
  Matrix x = reference::random_matrix(1500, 4, 8);
  std::vector<double> weights = reference::random_vector(1500, 9);
  for (double& weight : weights) weight = std::abs(weight);
  for (Index n = 0; n < 1500; n += 7) x(n, 1) = kNan;
  for (Index n = 0; n < 1500; n += 300) x(n, 2) = kNan;  // too few to learn from
  for (Index n = 0; n < 1500; ++n) x(n, 3) = n % 2 == 0 ? 5 : kNan;
  for (const bool is_weighted : {false, true}) {
    Workers workers(2);
    const Standardisation found = fit_standardisation(
        x.view(), workers, {}, is_weighted ? std::span<const double>(weights) : std::span<const double>());
    ASSERT_EQ(found.inputs.size(), 5U);
    EXPECT_EQ(found.constant_columns, std::vector<Index>{3});
    EXPECT_EQ(found.missing, (std::vector<Index>{0, 215, 5, 750}));
    double total = 0;
    double sum = 0;
    double all = 0;
    for (Index n = 0; n < 1500; ++n) {
      const double weight = is_weighted ? weights[static_cast<std::size_t>(n)] : 1;
      all += weight;
      if (n % 7 == 0) continue;
      total += weight;
      sum += weight * x(n, 1);
    }
    EXPECT_NEAR(found.inputs[1].mean, sum / total, 1e-12);
    EXPECT_FALSE(found.inputs[1].is_missing);
    EXPECT_TRUE(found.inputs[2].is_missing);
    EXPECT_EQ(found.inputs[2].column, 1);
    EXPECT_NEAR(found.inputs[2].mean, 1 - total / all, 1e-12);
    EXPECT_EQ(found.inputs[3].column, 2);
    // A column of one value may still be missing or not.
    EXPECT_TRUE(found.inputs[4].is_missing);
    EXPECT_EQ(found.inputs[4].column, 3);
  }
}

}  // namespace
}  // namespace mfga
