// A table in one file or in several, and a way over its rows that never holds all of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/file_content.hpp"
#include "data/table_reader.hpp"

namespace mfga {

// The files that a path stands for: a file; those of a folder; those that a pattern with * ? [ matches. In
// the order of their names. Throws Error(kIo) if there are none.
[[nodiscard]] std::vector<std::string> table_files(const std::string& path);

class TableParts {
 public:
  TableParts(const std::string& path, const ReadOptions& options);
  // One file that is in memory.
  TableParts(std::string_view bytes, const std::string& source, const ReadOptions& options);

  [[nodiscard]] bool are_several() const { return paths_.size() > 1; }
  // Of the first file, which decides how all of them are read.
  [[nodiscard]] TableReader& reader() const { return *reader_; }
  [[nodiscard]] const FileContent& content() const { return content_; }
  // Of all files, as they are read; of later files only when that has been done.
  [[nodiscard]] double bytes() const { return bytes_; }
  // Calls take for the parts of all files in their order, with the path of their file for messages.
  using Take = std::function<bool(RowsRead& rows, const std::string& path)>;
  void read(const ColumnPlan& plan, ThreadPool& pool, Index bytes, const Take& take);
  // How much memory the table of a plan will take, as far as its first rows tell.
  [[nodiscard]] double estimated_bytes(const ColumnPlan& plan, ThreadPool& pool) const;

 private:
  [[nodiscard]] std::unique_ptr<TableReader> open(const std::string& path, const FileContent& content) const;
  void check_columns(const std::string& path, const TableReader& reader) const;

  ReadOptions options_;
  std::vector<std::string> paths_;
  FileContent content_;
  std::unique_ptr<TableReader> reader_;
  double bytes_ = 0;
};

}  // namespace mfga
