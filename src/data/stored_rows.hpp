// Rows of a table on disk: in a file without a name, block by block (core/row_blocks.hpp), each column as
// short as it can be without loss, with a checksum of each block. A text is one number there, and becomes its
// columns of 0 and 1 when it is read.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/scratch_file.hpp"
#include "mfga/table.hpp"
#include "mfga/thread_pool.hpp"

namespace mfga {

// How what is kept of a row becomes a row of a table.
struct StoredColumns {
  Index kept = 0;
  Index columns = 0;
  // Of a kept number, the column; of a kept text, by its number those that are 1; -1: none.
  struct Text {
    Index place = 0;
    std::vector<Index> columns;
  };
  std::vector<std::pair<Index, Index>> numbers;  // places, and columns of the table
  std::vector<Text> texts;
};

struct StoredBlock {
  std::uint64_t place = 0;
  std::uint32_t bytes = 0;
  std::uint32_t checksum = 0;
};

class StoredRows final : public RowSource {
 public:
  StoredRows(std::unique_ptr<ScratchFile> file, std::vector<StoredBlock> blocks, Index rows,
             StoredColumns columns, Index most_copied);
  [[nodiscard]] Index rows() const override { return rows_; }
  [[nodiscard]] Index cols() const override { return columns_.columns; }
  void read(std::span<const Index> positions, Index stride, double* out) const override;
  [[nodiscard]] double number(Index row, Index column) const override;
  [[nodiscard]] Index most_copied() const override { return most_copied_; }

  [[nodiscard]] const ScratchFile& file() const { return *file_; }

 private:
  // The block that a thread decoded last: rows that are looked at one after the other are mostly near.
  struct LastBlock {
    Index block = -1;
    std::string bytes;
    std::vector<double> numbers;
  };
  // Of the calling thread. Not `thread_local`: where glibc finds no memory to note that such a thing has to
  // be destroyed, it ends the program.
  [[nodiscard]] LastBlock& last_block() const;
  // What is kept of a block, [kept x block rows]; valid until the thread asks for another.
  [[nodiscard]] std::span<const double> block(Index block) const;

  std::unique_ptr<ScratchFile> file_;
  std::vector<StoredBlock> blocks_;
  Index rows_;
  StoredColumns columns_;
  Index most_copied_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::thread::id, LastBlock> last_;
};

// How many numbers of some rows on disk may be copied into memory, where a table there may take so many
// bytes; 0: any amount.
[[nodiscard]] Index most_copied_numbers(Index most_bytes);

// Writes them.
class RowStore {
 public:
  RowStore(const std::string& folder, Index kept)
      : file_(std::make_unique<ScratchFile>(folder)), kept_(kept) {}
  // Takes the next rows, with what is to be kept of each.
  void add(const Matrix& rows, ThreadPool& pool);
  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] std::shared_ptr<const StoredRows> finish(StoredColumns columns, Index most_copied);

 private:
  void write(const std::vector<std::string>& blocks);

  std::unique_ptr<ScratchFile> file_;
  Index kept_;
  Index rows_ = 0;
  Matrix pending_;  // less than a block
  std::vector<StoredBlock> blocks_;
};

// Some rows of others, in any order.
class SomeRows final : public RowSource {
 public:
  SomeRows(std::shared_ptr<const RowSource> all, std::vector<Index> positions)
      : all_(std::move(all)), positions_(std::move(positions)) {}
  [[nodiscard]] Index rows() const override { return std::ssize(positions_); }
  [[nodiscard]] Index cols() const override { return all_->cols(); }
  void read(std::span<const Index> positions, Index stride, double* out) const override;
  [[nodiscard]] double number(Index row, Index column) const override {
    return all_->number(positions_[static_cast<std::size_t>(row)], column);
  }
  [[nodiscard]] Index most_copied() const override { return all_->most_copied(); }

 private:
  std::shared_ptr<const RowSource> all_;
  std::vector<Index> positions_;
};

}  // namespace mfga
