#include "data/column_texts.hpp"

#include <fmt/format.h>

#include "data/file_content.hpp"
#include "data/table_reader.hpp"
#include "mfga/error.hpp"
#include "mfga/thread_pool.hpp"

namespace mfga {

std::vector<std::vector<std::string>> read_column_texts(const std::string& path, const ReadOptions& options,
                                                        std::span<const Index> columns) {
  const FileContent content(path);
  ThreadPool pool(options.threads);
  const std::unique_ptr<TableReader> reader = make_reader(path, content.bytes(), options);
  // The positions were found when the file was opened before.
  const Index count = std::ssize(reader->columns());
  for (const Index column : columns) {
    if (column < count) continue;
    throw Error(ErrorKind::kBadData,
                fmt::format("{}: the file changed while it was read: it has no column {} now; try again",
                            path, column + 1));
  }
  return reader->texts(columns, pool);
}

}  // namespace mfga
