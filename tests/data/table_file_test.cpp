#include "mfga/table.hpp"

#include <fmt/format.h>

#include "data/column_lookup.hpp"
#include "data/table_fixture.hpp"

namespace mfga {
namespace {

using TableFileTest = TableTest;

TEST_F(TableFileTest, UnknownOptionValuesAreNamedWithTheChoices) {
  const std::string file = write("1,2\n");
  ReadOptions options;
  options.format = "xls";
  expect_message(read_error(file, ErrorKind::kInvalidArgument, options),
                 {"`format`", "\"xls\"", "auto, csv, tsv, libsvm, npy"});
  options = {};
  options.header = "maybe";
  expect_message(read_error(file, ErrorKind::kInvalidArgument, options),
                 {"`header`", "\"maybe\"", "auto, yes, no"});
  options = {};
  options.n_features = -1;
  expect_message(read_error(file, ErrorKind::kInvalidArgument, options), {"`n_features`", "-1"});
  options = {};
  options.threads = -1;
  expect_message(error_of(ErrorKind::kInvalidArgument, [&] { TableFile(file, options); }),
                 {"`threads`", "-1"});
}

TEST_F(TableFileTest, BinaryFilesAreRefused) {
  using namespace std::string_literals;
  expect_message(read_error(write("a,b\n\0\1\n"s), ErrorKind::kBadData), {"is a binary file"});
  expect_message(read_error(write("PK\3\4...."s), ErrorKind::kBadData), {"is a binary file", "zip"});
  expect_message(read_error(write("PAR1\x15\4\x15\x10"s), ErrorKind::kBadData), {"Parquet", "Python", "CSV"});
  expect_message(read_error(write("\xFF\xFE"
                                  "1\0,\0"s),
                            ErrorKind::kBadData),
                 {"is a binary file", "UTF-16"});
  ReadOptions options;
  options.format = "csv";
  expect_message(read_error(write("\x93NUMPY\1\0"s), ErrorKind::kBadData, options), {"is a binary file"});
}

TEST_F(TableFileTest, CompressedFilesReadAsThePlainOnes) {
  using namespace std::string_literals;
  const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }";
  const std::string npy = "\x93NUMPY\1\0"s + static_cast<char>(header.size()) + '\0' + header +
                          "\0\0\0\0\0\0\xF0\x3F\0\0\0\0\0\0\0\x40"s;
  for (const std::string& content :
       {"a,y\n1,2\n\n3,4\n"s, "a\ty\n1\tp\n3\tq\n"s, "1 1:2 5:6\n0 2:3\n"s, npy}) {
    const TableFile plain(write(content, "plain"), {});
    const TableFile compressed(write(compress(content), "compressed"), {});
    EXPECT_EQ(plain.format(), compressed.format());
    expect_equal(read(plain.path()), read(compressed.path()));
  }
}

TEST_F(TableFileTest, FindsColumnsByNameThenByIndex) {
  ReadOptions options;
  options.header = "yes";
  const TableFile file(write("a,b,0\n1,2,3\n"), options);
  EXPECT_EQ(file.column("b", "`target`"), 1);
  EXPECT_EQ(file.column("0", "`target`"), 2);  // a name comes first
  EXPECT_EQ(file.column("1", "`target`"), 1);
  EXPECT_EQ(file.column("-1", "`target`"), 2);
  EXPECT_EQ(file.column("-3", "`target`"), 0);
  EXPECT_EQ(file.default_target(), 2);
  for (const std::string bad : {"3", "-4"}) {
    expect_message(error_of(ErrorKind::kInvalidArgument, [&] { (void)file.column(bad, "`target`"); }),
                   {"`target`: " + bad, "from -3 to 2", "a, b, 0"});
  }
}

TEST_F(TableFileTest, UnknownColumnsAreAnsweredWithWhatThereIs) {
  std::string names = "price,Weight";
  std::string values = "1,2";
  for (int i = 0; i < 20; ++i) {
    names += fmt::format(",column{}", i);
    values += ",3";
  }
  const TableFile file(write(names + "\n" + values + "\n"), {});
  const auto message = [&](const std::string& name) {
    return error_of(ErrorKind::kInvalidArgument, [&] { (void)file.column(name, "`target`"); });
  };
  expect_message(message("prise"), {"`target`: ", "no column \"prise\"", "did you mean \"price\"?",
                                    "column7, ... (22 in all)"});
  expect_message(message("weight"), {"did you mean \"Weight\"?"});
  EXPECT_EQ(message("entirely").find("did you mean"), std::string::npos);
  EXPECT_EQ(message("prise").find("column8"), std::string::npos);
}

TEST_F(TableFileTest, EditDistanceCountsChanges) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("", "ab"), 2U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("modle", "model"), 1U);
  EXPECT_EQ(edit_distance("ab", "ba"), 1U);
}

TEST_F(TableFileTest, TrainingNeedsATargetAndPredictors) {
  const std::string file = write("a,b,y\n1,2,3\n");
  const auto error = [&](std::string_view target, const std::vector<std::string>& ignore) {
    return read_error(file, ErrorKind::kInvalidArgument, {}, target, ignore);
  };
  expect_message(error("z", {}), {"`target`: ", "no column \"z\"", "a, b, y"});
  expect_message(error("", {"z"}), {"`ignore`: ", "no column \"z\""});
  expect_message(error("b", {"a", "b"}), {"`ignore`: ", "\"b\" is the target"});
  expect_message(error("", {"y"}), {"`ignore`: ", "\"y\" is the target", "`target` is not given"});
  expect_message(error("y", {"a", "b"}), {"no predictors are left"});
  expect_message(read_error(write("1\n2\n"), ErrorKind::kInvalidArgument),
                 {"no predictors are left", "`delimiter`"});
}

TEST_F(TableFileTest, ReadChecksThePositionsItIsGiven) {
  const TableFile file(write("a,b,y\n1,2,3\n"), {});
  const auto error = [&](const std::vector<Index>& predictors, std::optional<Index> target) {
    return error_of(ErrorKind::kInvalidArgument, [&] { (void)file.read(predictors, target); });
  };
  expect_message(error({0, 3}, 2), {"column 3", "0 to 2"});
  expect_message(error({0}, -1), {"column -1"});
  expect_message(error({0, 1, 0}, 2), {"\"a\" is asked for twice"});
  expect_message(error({0, 2}, 2), {"\"y\" is asked for twice"});
}

TEST_F(TableFileTest, ATableFileCanBeMovedAndReadAgain) {
  TableFile file(write("a,y\n1,2\n"), {});
  TableFile moved(std::move(file));
  expect_equal(moved.read_for_training("", {}), moved.read_for_training("", {}));
}

class RealDataTest : public TableTest {
 protected:
  void SetUp() override {
    const char* const folder = std::getenv("MFGA_DATA");
    if (folder == nullptr) GTEST_SKIP() << "MFGA_DATA is not set to a folder with the data sets";
    folder_ = folder;
  }
  [[nodiscard]] std::string data(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

TEST_F(RealDataTest, TablesHaveTheirKnownSizes) {
  struct Case {
    std::string file, target;
    std::vector<std::string> ignore;
    Index rows, predictors;
    std::size_t labels;
  };
  const std::vector<std::string> categorical = {"1", "3", "5", "6", "7", "8", "9", "13"};
  const std::vector<Case> cases = {
      {"adult/a9a", "", {}, 32561, 123, 0},
      {"adult/adult.data", "", categorical, 32561, 6, 2},
      {"adult/adult.test", "", categorical, 16281, 6, 2},
      {"news/train.csv", "shares", {}, 26561, 58, 0},
      {"epileptic/test.csv", "", {"recording"}, 2875, 178, 0},
      {"year/train.csv", "0", {}, 5000, 90, 0},
      {"letter/letter.csv", "target", {}, 20000, 16, 26},
      {"naval/naval.csv", "-1", {"compressor_decay"}, 11934, 16, 0},
  };
  for (const Case& expected : cases) {
    SCOPED_TRACE(expected.file);
    ReadOptions options;
    options.comment = "|";
    const TableFile file(data(expected.file), options);
    const Table table = file.read_for_training(expected.target, expected.ignore);
    EXPECT_EQ(table.rows(), expected.rows);
    EXPECT_EQ(table.values.cols, expected.predictors);
    EXPECT_EQ(table.labels.size(), expected.labels);
  }
}

TEST_F(RealDataTest, AllFeaturesOfATestFileAreKnownWhenGiven) {
  ReadOptions options;
  EXPECT_EQ(TableFile(data("adult/a9a.t"), options).columns().size(), 123U);
  options.n_features = 123;
  EXPECT_EQ(TableFile(data("adult/a9a.t"), options).columns().size(), 124U);
}

}  // namespace
}  // namespace mfga
