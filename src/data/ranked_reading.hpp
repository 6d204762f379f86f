// A table that several ranks read together, each a part of its file (ReadOptions::communicator).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/table_parts.hpp"
#include "mfga/table.hpp"

namespace mfga {

// The ranks that read; null: there are no others.
[[nodiscard]] Communicator* reading_ranks(const ReadOptions& options);
// Opens the file; several ranks do it together, and throw where it is not the same for all.
[[nodiscard]] std::unique_ptr<TableParts> open_parts(const std::string& path, const ReadOptions& options);
// Leaves each rank its part of the file; of one rank nothing is changed.
void divide(TableParts& parts, const ReadOptions& options);
// Throws where a plan has columns of text, whose levels would have to be found in all parts.
void refuse_texts(const TableReader& reader, const ColumnPlan& plan, const std::string& path);
// Makes the labels of all ranks' rows those of the table, and its target positions among them.
void share_labels(Table& table, Communicator& ranks);
// The numbers of the groups of this rank's rows, where they are counted in the order of all rows. Null: there
// is one rank.
[[nodiscard]] std::vector<Index> group_numbers(const std::vector<double>& own, Communicator* ranks);

}  // namespace mfga
