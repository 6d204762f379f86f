// Texts of a model, which may come from a stranger's file, as they can stand in programs.
#pragma once

#include <string>
#include <string_view>

namespace mfga {

// Letters, digits and underscores of a text, in small letters; never empty, and no digit first.
[[nodiscard]] std::string identifier_from(std::string_view text);

// A literal of C and C++, in ASCII.
[[nodiscard]] std::string c_literal(std::string_view text);
// A literal of Python, in ASCII. Throws where the text is not UTF-8.
[[nodiscard]] std::string python_literal(std::string_view text);
// 'a text' and "a name". Throws where there is a zero byte, which SQL does not know.
[[nodiscard]] std::string sql_literal(std::string_view text);
[[nodiscard]] std::string sql_name(std::string_view name);
// For an attribute in double quotes. Throws where there is a character that XML does not know.
[[nodiscard]] std::string xml_attribute(std::string_view text);
// \text{...}; control characters become spaces.
[[nodiscard]] std::string latex_text(std::string_view text);
// For /* a comment */: printable ASCII.
[[nodiscard]] std::string c_comment(std::string_view text);

// A number that is read back to the last bit, with a point or an exponent so that it is no whole number.
[[nodiscard]] std::string full_number(double value);

}  // namespace mfga
