// Tables that come from Python batch by batch.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/stored_rows.hpp"
#include "mfga/options.hpp"
#include "mfga/thread_pool.hpp"
#include "src/arrays.hpp"

namespace mfga::python {

// Keeps rows on disk, as the command line keeps those of a large file; in memory if they turn out to be few.
class StoredTable {
 public:
  // So many numbers of each row; the options say how much memory there is.
  StoredTable(Index kept, const std::map<std::string, std::string>& options);
  // The next rows.
  void add(const Array& rows);
  // All rows are there. Of each number that is kept: nothing, or that it is the place of a text among so many
  // levels, each of which becomes a column of 0 and 1. `outputs`: scores per row.
  void finish(const std::vector<std::optional<Index>>& levels, Index outputs);

  [[nodiscard]] Index rows() const { return stored_ != nullptr ? stored_->rows() : in_memory_.rows; }
  [[nodiscard]] bool is_on_disk() const { return stored_ != nullptr; }
  [[nodiscard]] TableView view() const { return is_on_disk() ? TableView(*stored_) : in_memory_.view(); }

 private:
  FitOptions resources_;
  Index kept_;
  ThreadPool pool_;
  RowStore store_;
  std::shared_ptr<const StoredRows> stored_;
  Matrix in_memory_;
  bool is_finished_ = false;
};

}  // namespace mfga::python
