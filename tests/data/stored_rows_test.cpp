// Rows on disk: the same table, and errors where the disk fails.
#include "data/stored_rows.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "core/row_blocks.hpp"
#include "data/table_fixture.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

class StoredTableTest : public TableTest {
 protected:
  StoredTableTest() : TableTest(folder_in_memory()) {}
  [[nodiscard]] ReadOptions on_disk() const {
    ReadOptions options;
    options.cache = path("");
    return options;
  }
  [[nodiscard]] Index files_left() const {
    const std::filesystem::directory_iterator entries(path(""));
    return std::distance(begin(entries), end(entries));
  }
};

std::shared_ptr<const StoredRows> stored(const Matrix& x, const std::string& folder, Index at_once,
                                         Index most_copied = 0) {
  ThreadPool pool(2);
  RowStore store(folder, x.cols);
  for (Index first = 0; first < x.rows; first += at_once) {
    Matrix some(std::min(at_once, x.rows - first), x.cols);
    std::copy_n(x.row(first), some.rows * x.cols, some.row(0));
    store.add(some, pool);
  }
  StoredColumns columns;
  columns.columns = x.cols;
  for (Index j = 0; j < x.cols; ++j) columns.numbers.emplace_back(j, j);
  return store.finish(columns, most_copied);
}

TEST_F(StoredTableTest, GivesRowsInAnyOrder) {
  const Matrix x = reference::random_matrix(1700, 3, 1);
  for (const Index at_once : {1, 511, 512, 1700}) {
    const auto rows = stored(x, path(""), at_once);
    ASSERT_EQ(rows->rows(), x.rows);
    std::vector<Index> positions(static_cast<std::size_t>(x.rows));
    std::iota(positions.begin(), positions.end(), Index{0});
    for (const int step : {1, 7, 613}) {
      std::vector<Index> order;
      for (std::size_t n = 0; n < positions.size(); ++n)
        order.push_back(positions[n * static_cast<std::size_t>(step) % positions.size()]);
      std::vector<double> out(static_cast<std::size_t>(x.rows * x.cols));
      rows->read(order, x.rows, out.data());
      for (Index n = 0; n < x.rows; ++n) {
        for (Index j = 0; j < x.cols; ++j)
          ASSERT_EQ(out[static_cast<std::size_t>(j * x.rows + n)], x(order[static_cast<std::size_t>(n)], j));
      }
    }
    EXPECT_EQ(rows->number(1699, 2), x(1699, 2));
    EXPECT_EQ(rows->number(0, 1), x(0, 1));
  }
}

TEST_F(StoredTableTest, GivesTheSameBlocksAndSubsets) {
  const Matrix x = reference::random_matrix(1500, 4, 2);
  std::vector<InputColumn> inputs = {{0, 0.1, 2}, {3, -1, 0.5}, {1}};
  inputs[1].warp.limit = 0.7;
  std::vector<Index> some;
  for (Index n = 0; n < 700; ++n) some.push_back((n * 997) % 1500);
  for (const Index most_copied : {Index{0}, Index{1} << 20}) {
    const auto source = stored(x, path(""), 600, most_copied);
    const BlockedRows expected(x.view(), inputs);
    const BlockedRows found(*source, inputs);
    Workers workers(2);
    for (const auto& [a, b] :
         {std::pair(expected, found), std::pair(expected.subset(some), found.subset(some)),
          std::pair(expected.subset(some).subset(std::vector<Index>{3, 600, 5}),
                    found.subset(some).subset(std::vector<Index>{3, 600, 5}))}) {
      ASSERT_EQ(a.blocks(), b.blocks());
      for (Index i = 0; i < a.blocks(); ++i) {
        Arena arena;
        const RowBlock one = a.load(i, arena);
        const RowBlock other = b.load(i, arena);
        for (Index j = 0; j < one.inputs; ++j) {
          for (Index n = 0; n < one.rows; ++n) ASSERT_EQ(one.input(j)[n], other.input(j)[n]);
        }
        for (Index n = 0; n < one.rows; ++n) ASSERT_EQ(one.square_norms[n], other.square_norms[n]);
      }
    }
  }
}

TEST_F(StoredTableTest, NoticesDamage) {
  const Matrix x = reference::random_matrix(1200, 3, 3);
  std::vector<double> out(3);
  const auto error = [&](const StoredRows& rows, Index row) {
    const std::vector<Index> one = {row};
    return error_of(ErrorKind::kSystem, [&] { rows.read(one, 1, out.data()); });
  };
  {
    const auto rows = stored(x, path(""), 1200);
    const char flipped = 'x';
    ASSERT_EQ(::pwrite(rows->file().descriptor(), &flipped, 1, 20'000), 1);
    expect_message(error(*rows, 600), {path(""), "damaged", "rows 513 to 1024"});
    const std::vector<Index> first = {3};
    rows->read(first, 1, out.data());
    EXPECT_EQ(out[2], x(3, 2));
    expect_message(error(*rows, 700), {"damaged"});  // again
  }
  {
    const auto rows = stored(x, path(""), 1200);
    ASSERT_EQ(::ftruncate(rows->file().descriptor(), 30'000 - 5'000), 0);
    expect_message(error(*rows, 1199), {path(""), "cut short"});
  }
}

TEST_F(StoredTableTest, SaysThatTheDiskIsFull) {
  // A limit on the size of files stands for a full disk.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limited = before;
  limited.rlim_cur = 100'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limited), 0);
  const std::string message = error_of(ErrorKind::kSystem, [&] {
    static_cast<void>(stored(reference::random_matrix(20'000, 3, 4), path(""), 5000));
  });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  expect_message(message, {path(""), "cannot keep the table", "another folder", "`cache`"});
  EXPECT_EQ(files_left(), 0);
}

TEST_F(StoredTableTest, HasNoName) {
  const auto rows = stored(reference::random_matrix(600, 3, 4), path(""), 600);
  EXPECT_EQ(files_left(), 0);
  expect_message(error_of(ErrorKind::kIo, [&] { const ScratchFile none(path("no_folder")); }),
                 {"no_folder", "No such file"});
}

TEST_F(StoredTableTest, IsReadFromSeveralFiles) {
  const std::string a = "a,kind,y\n1,red,3\n2,blue,4\n,red,5\n";
  const std::string b = "a,kind,y\n7,green,6\n8,red,7\n";
  const std::string all = write(a + b.substr(b.find('\n') + 1), "all.csv");
  std::filesystem::create_directory(path("parts"));
  static_cast<void>(write(compress(b), "parts/2.csv.gz"));
  static_cast<void>(write(a, "parts/1.csv"));
  static_cast<void>(write("no table", "parts/.hidden"));
  const Table expected = read(all);
  for (const std::string& several : {path("parts"), path("parts/*.csv*")}) {
    for (const bool is_on_disk : {false, true}) {
      Table table = TableFile(several, is_on_disk ? on_disk() : ReadOptions()).read_for_training("", {});
      EXPECT_EQ(table.stored != nullptr, is_on_disk);
      table = in_memory(std::move(table));
      table.lines = expected.lines;
      expect_equal(table, expected);
      EXPECT_EQ(table.missing.size(), 1U);
    }
  }
  static_cast<void>(write("a,other,y\n1,2,3\n", "parts/3.csv"));
  expect_message(error_of(ErrorKind::kBadData,
                          [&] { static_cast<void>(TableFile(path("parts"), {}).read_for_training("", {})); }),
                 {"3.csv", "other", "kind", "the same columns"});
  expect_message(error_of(ErrorKind::kIo, [&] { const TableFile none(path("none*.csv"), {}); }),
                 {"none*.csv", "no file has such a name"});
}

TEST_F(StoredTableTest, TakesTheWidestOfSeveralLibsvmFiles) {
  static_cast<void>(write("1 1:2\n0 2:3\n", "a.svm"));
  static_cast<void>(write("1 4:2\n", "b.svm"));
  const Table table = TableFile(path("*.svm"), {}).read_for_training("", {});
  EXPECT_EQ(table.values.cols, 4);
  EXPECT_EQ(table.values(2, 3), 2);
  EXPECT_EQ(table.target, (std::vector<double>{1, 0, 1}));
}

TEST_F(StoredTableTest, GoesToTheDiskWhereMemoryEnds) {
  std::string text = "a,b,y\n";
  for (int n = 0; n < 3000; ++n) text += std::to_string(n) + "," + std::to_string(n % 7) + ",1.5\n";
  const std::string csv = write(text);
  const std::string gz = write(compress(text), "table.csv.gz");
  ReadOptions options;
  for (const std::string& file : {csv, gz}) {
    options.most_bytes = 3000 * 2 * 8 - 4000;
    const Table stored = TableFile(file, options).read_for_training("", {});
    ASSERT_NE(stored.stored, nullptr);
    EXPECT_EQ(stored.rows(), 3000);
    options.most_bytes = 3000 * 2 * 8 + 4000;
    const Table table = TableFile(file, options).read_for_training("", {});
    EXPECT_EQ(table.stored, nullptr);
    expect_equal(in_memory(stored), table);
    options.most_bytes = 5'000;  // what a gzip file holds goes to the disk as well
    expect_equal(in_memory(TableFile(file, options).read_for_training("", {})), table);
  }
}

TEST_F(StoredTableTest, IsSplit) {
  std::string text = "a,b,y\n";
  for (int n = 0; n < 1300; ++n)
    text += std::to_string(n) + "," + std::to_string(n % 7) + "," + std::to_string(n) + "\n";
  const std::string csv = write(text);
  Table expected = TableFile(csv, {}).read_for_training("", {});
  Table table = TableFile(csv, on_disk()).read_for_training("", {});
  const Table expected_part = split_off(expected, 0.3, 5);
  const Table part = split_off(table, 0.3, 5);
  expect_equal(in_memory(part), expected_part);
  expect_equal(in_memory(table), expected);
}

}  // namespace
}  // namespace mfga
