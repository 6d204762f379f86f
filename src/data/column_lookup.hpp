// Finds a column by what a user wrote: a name, or an index that may count from the end. Where there is no
// such column, the error says what there is and suggests the most similar name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mfga/views.hpp"

namespace mfga {

[[nodiscard]] Index find_column(const std::vector<std::string>& columns, std::string_view name_or_index,
                                std::string_view option, std::string_view path);

// The most similar name, or an empty text when none is similar.
[[nodiscard]] std::string nearest_name(const std::vector<std::string>& names, std::string_view name);

// The smallest number of inserted, removed, changed and swapped neighbouring characters that makes one text
// the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace mfga
