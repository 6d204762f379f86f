// Pages as a browser lays them out.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace mfga {

// Empty: there is none in PATH.
std::string find_browser();

struct BrowserResult {
  nlohmann::json measured;            // of each width
  std::vector<std::string> messages;  // on the console: errors, and what a policy refused
};

// Shows a page in frames as wide as these and calls `measure(frame)`, a JavaScript function that `script`
// defines, for each; the page itself runs no script.
BrowserResult measure_page(const std::string& browser, const std::string& html,
                           const std::vector<int>& widths, std::string_view script);

}  // namespace mfga
