#include "data/table_fixture.hpp"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>

namespace mfga {
namespace {

// In memory, and on disk.
void for_each_setting(ReadOptions options, const std::function<void(const ReadOptions&)>& action) {
  for (const Index chunk_bytes : {Index{1} << 20, Index{1}, Index{7}, Index{64}}) {
    for (const int threads : {1, 2, 5}) {
      options.chunk_bytes = chunk_bytes;
      options.threads = threads;
      options.cache.clear();
      action(options);
      if (threads > 2) continue;
      options.cache = folder_in_memory().string();
      action(options);
    }
  }
}

}  // namespace

std::filesystem::path folder_in_memory() {
  const std::filesystem::path memory = "/dev/shm";
  return ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

TableTest::TableTest(const std::filesystem::path& parent) {
  std::string pattern = (parent / "mfga_table_XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
  folder_ = pattern;
}

TableTest::~TableTest() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string TableTest::write(std::string_view content, const std::string& name) const {
  std::ofstream(path(name), std::ios::binary) << content;
  return path(name);
}

std::string TableTest::compress(std::string_view content) {
  z_stream stream{};
  constexpr int kGzipHeader = 16;
  EXPECT_EQ(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzipHeader, 8, Z_DEFAULT_STRATEGY),
            Z_OK);
  std::string input(content);
  std::string output(deflateBound(&stream, input.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(output.data());
  stream.avail_out = static_cast<uInt>(output.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  output.resize(stream.total_out);
  deflateEnd(&stream);
  return output;
}

Table TableTest::read(const std::string& path, const ReadOptions& options, std::string_view target,
                      const std::vector<std::string>& ignore, const std::vector<std::string>& text) {
  std::optional<Table> first;
  for_each_setting(options, [&](const ReadOptions& setting) {
    Table table = in_memory(TableFile(path, setting).read_for_training(target, ignore, text));
    if (!first) {
      first = std::move(table);
      return;
    }
    expect_equal(*first, table);
  });
  return std::move(*first);
}

Table TableTest::in_memory(Table table) {
  if (table.stored == nullptr) return table;
  table.values = Matrix(table.rows(), table.cols());
  for (Index i = 0; i < table.rows(); ++i) {
    for (Index j = 0; j < table.cols(); ++j) table.values(i, j) = table.stored->number(i, j);
  }
  table.stored = nullptr;
  return table;
}

std::string TableTest::read_error(const std::string& path, ErrorKind kind, const ReadOptions& options,
                                  std::string_view target, const std::vector<std::string>& ignore,
                                  const std::vector<std::string>& text) {
  std::optional<std::string> first;
  for_each_setting(options, [&](const ReadOptions& setting) {
    const std::string message =
        error_of(kind, [&] { (void)TableFile(path, setting).read_for_training(target, ignore, text); });
    if (!first) first = message;
    EXPECT_EQ(*first, message) << setting.threads << " threads, chunks of " << setting.chunk_bytes
                               << setting.cache;
  });
  return *first;
}

std::string TableTest::error_of(ErrorKind kind, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "expected an error";
  return {};
}

void TableTest::expect_equal(const Table& a, const Table& b) {
  EXPECT_EQ(a.columns, b.columns);
  EXPECT_EQ(a.text_columns, b.text_columns);
  EXPECT_EQ(a.values.rows, b.values.rows);
  // A missing value equals another.
  EXPECT_TRUE(std::ranges::equal(a.values.values, b.values.values, [](double one, double other) {
    return one == other || (std::isnan(one) && std::isnan(other));
  }));
  EXPECT_EQ(a.target_name, b.target_name);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(lines_of(a), lines_of(b));
}

std::vector<Index> TableTest::lines_of(const Table& table) {
  std::vector<Index> lines;
  for (Index row = 0; row < table.rows(); ++row) lines.push_back(table.lines.line_of_row(row));
  return lines;
}

std::vector<double> TableTest::row_of(const Table& table, Index row) {
  return {table.values.row(row), table.values.row(row) + table.values.cols};
}

void expect_message(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "\"" << part << "\" is not in: " << message;
  }
}

}  // namespace mfga
