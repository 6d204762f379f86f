#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "mfga/error.hpp"
#include "mfga/views.hpp"

namespace mfga {

TableView TableView::of_pieces(std::span<const TableView> tables) {
  TableView result;
  for (const TableView& table : tables) {
    if (result.pieces.empty()) result.cols = table.cols;
    if (table.cols != result.cols) {
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("a piece of the table has {} columns, and those before it have {}", table.cols,
                              result.cols));
    }
    for (Piece piece : table.pieces) {
      if (piece.rows == 0) continue;
      piece.first_row += result.rows;
      result.pieces.push_back(piece);
    }
    result.rows += table.rows;
  }
  return result;
}

void TableView::read(std::span<const Index> positions, Index stride, double* out) const {
  const auto count = positions.size();
  for (std::size_t begin = 0; begin < count;) {
    const Piece& piece = piece_of(positions[begin]);
    std::size_t end = begin;
    std::vector<Index> in_piece;
    for (; end < count && &piece_of(positions[end]) == &piece; ++end)
      in_piece.push_back(positions[end] - piece.first_row);
    if (piece.source != nullptr) {
      piece.source->read(in_piece, stride, out + begin);
    } else {
      for (std::size_t n = 0; n < in_piece.size(); ++n) {
        for (Index j = 0; j < cols; ++j)
          out[j * stride + static_cast<Index>(begin + n)] = piece.number(in_piece[n], j);
      }
    }
    begin = end;
  }
}

}  // namespace mfga
