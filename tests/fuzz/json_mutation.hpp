// Changes a JSON text as one who knows JSON, and the words of our files, would.
#pragma once

#include <random>
#include <string>
#include <string_view>

namespace mfga::fuzz {

// Empty where it is no JSON.
[[nodiscard]] std::string mutated_json(std::string_view text, std::mt19937& random);

}  // namespace mfga::fuzz
