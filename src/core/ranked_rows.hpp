// A table whose rows are divided among ranks (core/ranks.hpp): each has some of them, and a piece of the
// table that stands for the others.
#pragma once

#include <span>
#include <vector>

#include "core/ranks.hpp"
#include "mfga/views.hpp"

namespace mfga {

// Rows that other ranks have. They cannot be read, but asked for by all ranks together.
class RowsElsewhere final : public RowSource {
 public:
  // Rank r has the rows from first_rows[r] to first_rows[r + 1]. `most_copied`: how many numbers of some rows
  // every rank may have a copy of.
  RowsElsewhere(Ranks& ranks, std::vector<Index> first_rows, Index cols, Index most_copied)
      : ranks_(ranks), first_rows_(std::move(first_rows)), cols_(cols), most_copied_(most_copied) {}

  [[nodiscard]] Index rows() const override { return first_rows_.back(); }
  [[nodiscard]] Index cols() const override { return cols_; }
  [[noreturn]] void read(std::span<const Index> positions, Index stride, double* out) const override;
  [[noreturn]] double number(Index row, Index column) const override;
  [[nodiscard]] Index most_copied() const override { return most_copied_; }

  [[nodiscard]] Ranks& ranks() const { return ranks_; }
  // These rows of the table, in their order, for every rank.
  [[nodiscard]] Matrix collect(const TableView& table, std::span<const Index> rows) const;
  // The rows are those of some blocks, which are divided among the ranks: those of this rank's blocks that
  // others have. Every rank sends what belongs to others.
  [[nodiscard]] Matrix fetch(const TableView& table, std::span<const Index> rows) const;

 private:
  [[nodiscard]] int holder(Index row) const;

  Ranks& ranks_;
  std::vector<Index> first_rows_;
  Index cols_;
  Index most_copied_;
};

// The piece of a table that stands for rows elsewhere; null: there is none.
[[nodiscard]] const RowsElsewhere* rows_elsewhere(const TableView& table);

// As TableView::read, on all ranks.
void read_rows(const TableView& table, std::span<const Index> rows, Index stride, double* out);

}  // namespace mfga
