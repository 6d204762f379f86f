#include "cli/spelling.hpp"

#include <algorithm>

namespace mfga::cli {

std::string flag_of(std::string_view option) {
  std::string flag = "--" + std::string(option);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::string spelled(std::string_view text) {
  std::string result;
  while (true) {
    const std::size_t open = text.find('`');
    const std::size_t close = open == std::string_view::npos ? open : text.find('`', open + 1);
    if (close == std::string_view::npos) return result += text;
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    const std::size_t name_end = std::min(inside.find('='), inside.size());
    const std::string_view name = inside.substr(0, name_end);
    const bool is_option =
        !name.empty() && std::ranges::all_of(name, [](char c) { return ('a' <= c && c <= 'z') || c == '_'; });
    result += text.substr(0, open);
    if (!is_option) {
      result += '`';
      text.remove_prefix(open + 1);
      continue;
    }
    result += flag_of(name);
    if (name_end < inside.size()) (result += ' ') += inside.substr(name_end + 1);
    text.remove_prefix(close + 1);
  }
}

std::vector<std::string> spelled(const std::vector<std::string>& texts) {
  std::vector<std::string> result;
  result.reserve(texts.size());
  for (const std::string& text : texts) result.push_back(spelled(text));
  return result;
}

}  // namespace mfga::cli
