#include "data/column_texts.hpp"

#include "core/threads.hpp"
#include "data/file_content.hpp"
#include "data/table_reader.hpp"

namespace mfga {

std::vector<std::vector<std::string>> read_column_texts(const std::string& path, const ReadOptions& options,
                                                        std::span<const Index> columns) {
  const FileContent content(path);
  ThreadPool pool(options.threads);
  return make_reader(path, content.bytes(), options)->texts(columns, pool);
}

}  // namespace mfga
