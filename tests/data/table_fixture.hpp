// A folder of small files for tests of tables, and how to open them, read them and catch their errors.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mfga/error.hpp"
#include "mfga/table.hpp"

namespace mfga {

inline bool operator==(const decltype(Matrix::values)& a, const std::vector<double>& b) {
  return std::ranges::equal(a, b);
}

// Where a file need not reach a disk, which takes long for files that are written again and again.
std::filesystem::path folder_in_memory();

class TableTest : public ::testing::Test {
 protected:
  explicit TableTest(const std::filesystem::path& parent = std::filesystem::temp_directory_path());
  ~TableTest() override;

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string write(std::string_view content, const std::string& name = "table.csv") const;
  static std::string compress(std::string_view content);

  // Reads with several numbers of threads and chunk sizes, which must not matter; returns one of the tables.
  [[nodiscard]] static Table read(const std::string& path, const ReadOptions& options = {},
                                  std::string_view target = "", const std::vector<std::string>& ignore = {},
                                  const std::vector<std::string>& text = {});
  // The error of reading, which must be the same for any number of threads and any chunk size.
  [[nodiscard]] static std::string read_error(const std::string& path, ErrorKind kind,
                                              const ReadOptions& options = {}, std::string_view target = "",
                                              const std::vector<std::string>& ignore = {},
                                              const std::vector<std::string>& text = {});

  // With the rows in memory, if they are on disk.
  [[nodiscard]] static Table in_memory(Table table);
  static std::string error_of(ErrorKind kind, const std::function<void()>& action);
  static void expect_equal(const Table& a, const Table& b);
  static std::vector<Index> lines_of(const Table& table);
  static std::vector<double> row_of(const Table& table, Index row);

 private:
  std::filesystem::path folder_;
};

// Passes when the message holds each of the parts; shows it when not.
void expect_message(const std::string& message, const std::vector<std::string>& parts);

}  // namespace mfga
