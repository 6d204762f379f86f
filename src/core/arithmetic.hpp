// What the last digits of results depend on, beside the program itself. Ranks that compute the same must have
// the same of it, for they compare what they find without asking one another.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mfga {

// Names of such things, and what they are here.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> arithmetic_here();

}  // namespace mfga
