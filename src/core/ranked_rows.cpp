#include "core/ranked_rows.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/rank_messages.hpp"
#include "core/row_blocks.hpp"

namespace mfga {
namespace {

// How many numbers are sent at a time, of all ranks.
constexpr Index kMostSent = Index{1} << 22U;  // 32 MiB

// Calls pass(first, end) for parts of so many rows, few enough to be sent together.
template <class Pass>
void in_parts(Index rows, Index cols, const Pass& pass) {
  const Index at_once = std::max<Index>(1, kMostSent / std::max<Index>(cols, 1));
  for (Index first = 0; first < rows; first += at_once) pass(first, std::min(rows, first + at_once));
}

// Appends the numbers of these rows, which are here, row by row.
void append(const TableView& table, std::span<const Index> rows, std::string& message) {
  std::vector<double> block(static_cast<std::size_t>(kBlockRows * table.cols));
  std::vector<double> row(static_cast<std::size_t>(table.cols));
  for (std::size_t first = 0; first < rows.size(); first += kBlockRows) {
    const std::span<const Index> some =
        rows.subspan(first, std::min(rows.size() - first, static_cast<std::size_t>(kBlockRows)));
    table.read(some, kBlockRows, block.data());
    for (std::size_t n = 0; n < some.size(); ++n) {
      for (std::size_t j = 0; j < row.size(); ++j) row[j] = block[j * kBlockRows + n];
      message += bytes_of(row);
    }
  }
}

}  // namespace

void RowsElsewhere::read(std::span<const Index> /*positions*/, Index /*stride*/, double* /*out*/) const {
  throw std::logic_error("rows of another rank were read");
}

double RowsElsewhere::number(Index /*row*/, Index /*column*/) const {
  throw std::logic_error("a number of another rank was read");
}

int RowsElsewhere::holder(Index row) const {
  return static_cast<int>(std::ranges::upper_bound(first_rows_, row) - first_rows_.begin()) - 1;
}

Matrix RowsElsewhere::collect(const TableView& table, std::span<const Index> rows) const {
  Matrix result = Matrix::uninitialised(std::ssize(rows), cols_);
  const auto bytes_of_row = static_cast<std::size_t>(cols_) * sizeof(double);
  in_parts(std::ssize(rows), cols_, [&](Index first, Index end) {
    std::vector<Index> own;
    std::vector<std::size_t> counts(static_cast<std::size_t>(ranks_.size()));
    for (Index i = first; i < end; ++i) {
      const Index row = rows[static_cast<std::size_t>(i)];
      const int rank = holder(row);
      ++counts[static_cast<std::size_t>(rank)];
      if (rank == ranks_.rank()) own.push_back(row);
    }
    std::string message;
    append(table, own, message);
    const std::vector<std::string> all = ranks_.talk(message);
    for (int rank = 0; rank < ranks_.size(); ++rank)
      Ranks::expect(all, rank, counts[static_cast<std::size_t>(rank)] * bytes_of_row);
    std::vector<std::size_t> taken(all.size());
    for (Index i = first; i < end; ++i) {
      const auto rank = static_cast<std::size_t>(holder(rows[static_cast<std::size_t>(i)]));
      if (bytes_of_row > 0) std::memcpy(result.row(i), all[rank].data() + taken[rank], bytes_of_row);
      taken[rank] += bytes_of_row;
    }
  });
  return result;
}

Matrix RowsElsewhere::fetch(const TableView& table, std::span<const Index> rows) const {
  const Index blocks = (std::ssize(rows) + kBlockRows - 1) / kBlockRows;
  std::vector<Index> ends;  // of each rank's rows
  for (int rank = 0; rank < ranks_.size(); ++rank)
    ends.push_back(std::min(blocks_of_rank(blocks, rank, ranks_.size()).end * kBlockRows, std::ssize(rows)));
  std::vector<Index> moved;  // of `rows`, those that are not where they belong
  std::vector<int> to;
  Index own = 0;
  for (Index i = 0; i < std::ssize(rows); ++i) {
    const int owner = static_cast<int>(std::ranges::upper_bound(ends, i) - ends.begin());
    if (holder(rows[static_cast<std::size_t>(i)]) == owner) continue;
    moved.push_back(rows[static_cast<std::size_t>(i)]);
    to.push_back(owner);
    own += owner == ranks_.rank() ? 1 : 0;
  }
  Matrix result = Matrix::uninitialised(own, cols_);
  Index filled = 0;
  in_parts(std::ssize(moved), cols_, [&](Index first, Index end) {
    const auto part =
        std::span(moved).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
    const Matrix numbers = collect(table, part);
    for (Index i = first; i < end; ++i) {
      if (to[static_cast<std::size_t>(i)] != ranks_.rank()) continue;
      std::copy_n(numbers.row(i - first), cols_, result.row(filled++));
    }
  });
  return result;
}

const RowsElsewhere* rows_elsewhere(const TableView& table) {
  for (const TableView::Piece& piece : table.pieces) {
    if (const auto* others = dynamic_cast<const RowsElsewhere*>(piece.source); others != nullptr)
      return others;
  }
  return nullptr;
}

void read_rows(const TableView& table, std::span<const Index> rows, Index stride, double* out) {
  const RowsElsewhere* const others = rows_elsewhere(table);
  if (others == nullptr) {
    table.read(rows, stride, out);
    return;
  }
  const Matrix numbers = others->collect(table, rows);
  for (Index n = 0; n < numbers.rows; ++n) {
    for (Index j = 0; j < numbers.cols; ++j) out[j * stride + n] = numbers(n, j);
  }
}

}  // namespace mfga
