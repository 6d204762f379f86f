// The library names an option as `tune_every`, or with a value as `tune=no`. On the command line these are
// --tune-every and --tune no.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mfga::cli {

// --tune-every for tune_every.
[[nodiscard]] std::string flag_of(std::string_view option);
// A text of the library with its options spelled that way.
[[nodiscard]] std::string spelled(std::string_view text);
[[nodiscard]] std::vector<std::string> spelled(const std::vector<std::string>& texts);

}  // namespace mfga::cli
