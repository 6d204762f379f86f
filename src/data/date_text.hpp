// Tells dates and times by their form.
#pragma once

#include <string_view>

namespace mfga {

// 2024-01-31, 31.1.2024, 1/31/24, 31-Jan-2024 and the like, or a time such as 12:30:05, or both, with a zone.
[[nodiscard]] bool looks_like_date(std::string_view text);

}  // namespace mfga
