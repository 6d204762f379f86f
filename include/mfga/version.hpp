#pragma once

#include <string_view>

namespace mfga {

// The library's version, e.g. "0.1.0".
[[nodiscard]] std::string_view version();

}  // namespace mfga
