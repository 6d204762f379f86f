#include "data/stored_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/row_blocks.hpp"
#include "core/sealed_file.hpp"
#include "data/number_codec.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

// The column that is 1 for what is kept of a text; -1: none. Whatever the disk gives back is looked at first.
Index column_of(const StoredColumns::Text& text, double kept) {
  if (!(kept >= 0 && kept < static_cast<double>(text.columns.size()))) return -1;
  return text.columns[static_cast<std::size_t>(kept)];
}

}  // namespace

StoredRows::StoredRows(std::unique_ptr<ScratchFile> file, std::vector<StoredBlock> blocks, Index rows,
                       StoredColumns columns, Index most_copied)
    : file_(std::move(file)),
      blocks_(std::move(blocks)),
      rows_(rows),
      columns_(std::move(columns)),
      most_copied_(most_copied) {}

StoredRows::LastBlock& StoredRows::last_block() const {
  const std::lock_guard lock(mutex_);
  return last_[std::this_thread::get_id()];
}

std::span<const double> StoredRows::block(Index block) const {
  LastBlock& last = last_block();
  const Index rows = std::min(kBlockRows, rows_ - block * kBlockRows);
  if (last.block == block) return last.numbers;
  // A thread that goes on from block to block has what comes next read while it works on this one.
  constexpr Index kAhead = 8;
  if (block > 0 && last.block == block - 1 && block % kAhead == 0) {
    const StoredBlock& end =
        blocks_[static_cast<std::size_t>(std::min(block + 2 * kAhead, std::ssize(blocks_)) - 1)];
    const std::uint64_t place = blocks_[static_cast<std::size_t>(block)].place;
    file_->will_read(place, end.place + end.bytes - place);
  }
  last.block = -1;
  const StoredBlock& where = blocks_[static_cast<std::size_t>(block)];
  last.bytes.resize(where.bytes);
  file_->read(where.place, where.bytes, last.bytes.data());
  const auto fail = [&] {
    throw Error(ErrorKind::kSystem,
                fmt::format("{}: the table that is kept there is damaged: the checksum of rows {} "
                            "to {} does not match; check the disk and train again",
                            file_->folder(), block * kBlockRows + 1, block * kBlockRows + rows));
  };
  std::string_view bytes = last.bytes;
  if (checksum(bytes) != where.checksum) fail();
  last.numbers.resize(static_cast<std::size_t>(columns_.kept * rows));
  for (Index j = 0; j < columns_.kept; ++j) {
    if (!decode_numbers(bytes,
                        std::span(last.numbers)
                            .subspan(static_cast<std::size_t>(j * rows), static_cast<std::size_t>(rows))))
      fail();
  }
  last.block = block;
  return last.numbers;
}

void StoredRows::read(std::span<const Index> positions, Index stride, double* out) const {
  const auto count = std::ssize(positions);
  for (Index begin = 0; begin < count;) {
    const Index place = positions[static_cast<std::size_t>(begin)] / kBlockRows;
    const Index first = place * kBlockRows;
    Index end = begin;
    bool are_neighbours = true;
    for (; end < count && positions[static_cast<std::size_t>(end)] / kBlockRows == place; ++end)
      are_neighbours = are_neighbours && positions[static_cast<std::size_t>(end)] ==
                                             positions[static_cast<std::size_t>(begin)] + end - begin;
    const std::span<const double> kept = block(place);
    const Index rows = std::min(kBlockRows, rows_ - first);
    const std::span<const Index> here =
        positions.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    for (const auto& [from, to] : columns_.numbers) {
      const double* const source = kept.data() + from * rows;
      double* const own = out + to * stride + begin;
      if (are_neighbours) {
        std::copy_n(source + (here.front() - first), std::ssize(here), own);
      } else {
        for (std::size_t n = 0; n < here.size(); ++n) own[n] = source[here[n] - first];
      }
    }
    for (const StoredColumns::Text& text : columns_.texts) {
      for (const Index column : text.columns) {
        if (column >= 0) std::fill_n(out + column * stride + begin, std::ssize(here), 0.0);
      }
      const double* const source = kept.data() + text.place * rows;
      for (std::size_t n = 0; n < here.size(); ++n) {
        const Index column = column_of(text, source[here[n] - first]);
        if (column >= 0) out[column * stride + begin + static_cast<Index>(n)] = 1;
      }
    }
    begin = end;
  }
}

double StoredRows::number(Index row, Index column) const {
  const std::span<const double> kept = block(row / kBlockRows);
  const Index rows = std::min(kBlockRows, rows_ - row / kBlockRows * kBlockRows);
  const auto of_row = [&](Index place) {
    return kept[static_cast<std::size_t>(place * rows + row % kBlockRows)];
  };
  for (const auto& [from, to] : columns_.numbers) {
    if (to == column) return of_row(from);
  }
  for (const StoredColumns::Text& text : columns_.texts) {
    if (std::ranges::find(text.columns, column) == text.columns.end()) continue;
    return column_of(text, of_row(text.place)) == column ? 1 : 0;
  }
  return 0;
}

Index most_copied_numbers(Index most_bytes) {
  constexpr Index kUsual = Index{1} << 28;
  constexpr Index kPart = 4;
  return (most_bytes == 0 ? kUsual : most_bytes / kPart) / Index{sizeof(double)};
}

void RowStore::add(const Matrix& rows, ThreadPool& pool) {
  const Index all = pending_.rows + rows.rows;
  const Index blocks = all / kBlockRows;
  const auto row = [&](Index n) { return n < pending_.rows ? pending_.row(n) : rows.row(n - pending_.rows); };
  // A few blocks per thread at a time, so that what is encoded takes little memory.
  const Index at_once = 4 * pool.threads();
  for (Index first = 0; first < blocks; first += at_once) {
    std::vector<std::string> encoded(static_cast<std::size_t>(std::min(at_once, blocks - first)));
    pool.run(std::ssize(encoded), [&](Index i) {
      std::vector<double> column(kBlockRows);
      for (Index j = 0; j < kept_; ++j) {
        for (Index n = 0; n < kBlockRows; ++n)
          column[static_cast<std::size_t>(n)] = row((first + i) * kBlockRows + n)[j];
        encode_numbers(column, encoded[static_cast<std::size_t>(i)]);
      }
    });
    write(encoded);
  }
  Matrix left = Matrix::uninitialised(all - blocks * kBlockRows, kept_);
  for (Index n = 0; n < left.rows; ++n) std::copy_n(row(blocks * kBlockRows + n), kept_, left.row(n));
  pending_ = std::move(left);
  rows_ += rows.rows;
}

void RowStore::write(const std::vector<std::string>& blocks) {
  for (const std::string& bytes : blocks) {
    if (bytes.size() > std::numeric_limits<std::uint32_t>::max()) throw std::bad_alloc();
    blocks_.push_back({file_->append(bytes), static_cast<std::uint32_t>(bytes.size()),
                       static_cast<std::uint32_t>(checksum(bytes))});
  }
}

std::shared_ptr<const StoredRows> RowStore::finish(StoredColumns columns, Index most_copied) {
  if (pending_.rows > 0) {
    std::string encoded;
    std::vector<double> column(static_cast<std::size_t>(pending_.rows));
    for (Index j = 0; j < kept_; ++j) {
      for (Index n = 0; n < pending_.rows; ++n) column[static_cast<std::size_t>(n)] = pending_(n, j);
      encode_numbers(column, encoded);
    }
    write({encoded});
  }
  pending_ = {};
  columns.kept = kept_;
  return std::make_shared<const StoredRows>(std::move(file_), std::move(blocks_), rows_, std::move(columns),
                                            most_copied);
}

void SomeRows::read(std::span<const Index> positions, Index stride, double* out) const {
  std::vector<Index> rows;
  rows.reserve(positions.size());
  for (const Index position : positions) rows.push_back(positions_[static_cast<std::size_t>(position)]);
  all_->read(rows, stride, out);
}

}  // namespace mfga
