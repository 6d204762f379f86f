// What the operating system refuses.
#pragma once

#include <string>
#include <string_view>

#include "mfga/error.hpp"

namespace mfga {

// The error for a code such as ENOSPC, with its reason in parentheses. What a user can mend by another name
// or by permissions is an Error(kIo); a full disk, a broken one, no more memory: Error(kSystem).
[[nodiscard]] Error system_error(std::string_view message, int code);

}  // namespace mfga
