// What commands print. Everything that is shown goes through here, for it may hold names and texts from
// files: control characters and bytes that are not UTF-8 reach no terminal.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace mfga::cli {

// Line ends of the text are kept; other control characters and bytes that are not UTF-8 become \xNN.
void print_text(std::string_view text);
template <class... Values>
void print(fmt::format_string<Values...> format, Values&&... values) {
  print_text(fmt::format(format, std::forward<Values>(values)...));
}
// As one object over several lines; valid UTF-8 whatever its texts are.
void print_json(const nlohmann::ordered_json& json);
// One line on standard error, "mfga: MESSAGE". Line ends inside are escaped, too.
void print_message(std::string_view message);

// The text on one line, with control characters and bytes that are not UTF-8 as \n, \t, \r or \xNN.
[[nodiscard]] std::string escaped(std::string_view text);

// Takes the numbers of closed standard streams, so that no file gets one of them and is printed into.
void occupy_closed_streams();
// Writes out what is still held back; throws Error where standard output did not take everything.
void finish_standard_output();

}  // namespace mfga::cli
