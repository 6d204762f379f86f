#include "export/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mfga/error.hpp"

namespace mfga {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

[[noreturn]] void refuse(std::string_view text, std::string_view what, std::string_view where) {
  throw Error(ErrorKind::kInvalidArgument, fmt::format("the model cannot be exported: the text {} has {}, "
                                                       "which cannot stand in {}",
                                                       c_literal(text), what, where));
}

// The next character of UTF-8, which is taken off.
char32_t next_character(std::string_view& rest, std::string_view text, std::string_view where) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length == 0 || length > rest.size() || first > 0xf4) refuse(text, "bytes that are not UTF-8", where);
  char32_t character = length == 1 ? first : first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) refuse(text, "bytes that are not UTF-8", where);
    character = character << 6U | (byte(i) & 0x3fU);
  }
  rest.remove_prefix(length);
  return character;
}

std::string doubled(std::string_view text, char quote) {
  if (text.find('\0') != std::string_view::npos) refuse(text, "a zero byte", "SQL");
  std::string result(1, quote);
  for (const char c : text) result += c == quote ? std::string(2, quote) : std::string(1, c);
  return result + quote;
}

}  // namespace

std::string identifier_from(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_upper || is_kept) {
      result += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!result.empty() && result.back() != '_') {
      result += '_';
    }
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  constexpr std::size_t kLongest = 40;
  result.resize(std::min(result.size(), kLongest));
  if (result.empty()) return "model";
  return result[0] >= '0' && result[0] <= '9' ? fmt::format("model_{}", result) : result;
}

std::string c_literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '?') {  // of ??, which may begin a trigraph
      result += fmt::format("\\{}", c);
    } else if (is_control(c) || !is_ascii(c)) {
      result += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string python_literal(std::string_view text) {
  std::string result = "\"";
  for (std::string_view rest = text; !rest.empty();) {
    const char32_t c = next_character(rest, text, "Python");
    if (c == '"' || c == '\\') {
      result += fmt::format("\\{}", static_cast<char>(c));
    } else if (c < 0x20 || c >= 0x7f) {
      result += fmt::format("\\U{:08x}", static_cast<std::uint32_t>(c));
    } else {
      result += static_cast<char>(c);
    }
  }
  return result + "\"";
}

std::string sql_literal(std::string_view text) { return doubled(text, '\''); }
std::string sql_name(std::string_view name) { return doubled(name, '"'); }

std::string xml_attribute(std::string_view text) {
  std::string result;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view before = rest;
    const char32_t c = next_character(rest, text, "XML");
    const bool is_known = c == '\t' || c == '\n' || c == '\r' ||
                          (c >= 0x20 && c != 0xfffe && c != 0xffff && (c < 0xd800 || c > 0xdfff));
    if (!is_known) refuse(text, "a control character", "XML");
    if (c == '&' || c == '<' || c == '>' || c == '"' || c < 0x20) {
      result += fmt::format("&#{};", static_cast<std::uint32_t>(c));
    } else {
      result += before.substr(0, before.size() - rest.size());
    }
  }
  return result;
}

std::string latex_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\textbackslash{}";
    } else if (c == '~' || c == '^') {
      result += fmt::format("\\{}{{}}", c);
    } else if (std::string_view("{}$&#%_").find(c) != std::string_view::npos) {
      result += fmt::format("\\{}", c);
    } else {
      result += is_control(c) ? ' ' : c;
    }
  }
  return fmt::format("\\text{{{}}}", result);
}

std::string c_comment(std::string_view text) {
  std::string result;
  for (const char c : c_literal(text)) {
    const char before = result.empty() ? ' ' : result.back();
    if ((before == '*' && c == '/') || (before == '/' && c == '*')) result += ' ';
    result += c;
  }
  return result;
}

std::string full_number(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace mfga
