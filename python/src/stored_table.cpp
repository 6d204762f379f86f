#include "src/stored_table.hpp"

#include "data/row_collector.hpp"
#include "model/row_memory.hpp"
#include "src/options.hpp"

namespace mfga::python {
namespace {

constexpr const char* kName = "the dataset";  // in messages

// Those that say how much there is to work with.
FitOptions resources(const std::map<std::string, std::string>& texts) {
  const FitOptions all = options_of(texts).fit;
  return {.threads = all.threads, .memory_limit = all.memory_limit};
}

}  // namespace

StoredTable::StoredTable(Index kept, const std::map<std::string, std::string>& options)
    : resources_(resources(options)), kept_(kept), pool_(resources_.threads), store_("", kept) {}

void StoredTable::add(const Array& rows) {
  const TableView table = table_of(rows);
  if (table.cols != kept_ || is_finished_)
    throw Error(ErrorKind::kInvalidArgument, "the rows do not fit to those before");
  const nb::gil_scoped_release release;
  Matrix copy = Matrix::uninitialised(table.rows, table.cols);
  for (Index n = 0; n < table.rows; ++n) {
    for (Index j = 0; j < table.cols; ++j) copy(n, j) = table(n, j);
  }
  store_.add(copy, pool_);
}

void StoredTable::finish(const std::vector<std::optional<Index>>& levels, Index outputs) {
  if (std::ssize(levels) != kept_ || is_finished_)
    throw Error(ErrorKind::kInvalidArgument, "these are not the numbers that are kept");
  is_finished_ = true;
  const nb::gil_scoped_release release;
  StoredColumns columns;
  for (const std::optional<Index>& count : levels) {
    const Index place = columns.kept++;
    if (!count) {
      columns.numbers.emplace_back(place, columns.columns++);
      continue;
    }
    StoredColumns::Text text{place, {}};
    for (Index level = 0; level < *count; ++level) text.columns.push_back(columns.columns++);
    columns.texts.push_back(std::move(text));
  }
  const Index most = most_bytes_of_table(resources_);
  stored_ = store_.finish(std::move(columns), most_copied_numbers(most));
  const double bytes =
      static_cast<double>(stored_->rows()) * static_cast<double>(stored_->cols()) * sizeof(double);
  if (bytes > static_cast<double>(most)) {
    check_rows_have_room(kName, stored_->rows(), outputs, resources_);
    return;
  }
  in_memory_ = in_memory(*stored_, kName, pool_);
  stored_ = nullptr;
}

}  // namespace mfga::python
