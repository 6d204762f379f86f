// Recognises the format of a table from its content, whatever the file is called: .npy by its magic, LIBSVM
// by its index:value pairs, and delimited text by the delimiter of its first row.
#pragma once

#include <string>
#include <string_view>

#include "mfga/table.hpp"

namespace mfga {

enum class TableFormat { kDelimited, kLibsvm, kNpy };

struct DetectedFormat {
  TableFormat format = TableFormat::kDelimited;
  char delimiter = ',';
};

// `bytes` without a byte order mark. A format that the options name is not questioned, but that the content
// is text and which delimiter it uses is still found out.
[[nodiscard]] DetectedFormat detect_format(std::string_view path, std::string_view bytes,
                                           const ReadOptions& options);

// As it is called in messages.
[[nodiscard]] std::string delimiter_name(char delimiter);

}  // namespace mfga
