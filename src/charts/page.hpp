// The parts of a page that needs nothing else: no script, no network.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mfga::charts {

// Up to <body>, with the style sheet that pages share and what this one adds to it. A policy lets nothing be
// loaded or run, whatever texts the page holds.
[[nodiscard]] std::string page_begin(std::string_view title, std::string_view more_style);
inline constexpr std::string_view kPageEnd = "</body>\n</html>\n";

// Texts are plain; they are escaped when the table is written. The first column says what a row is.
struct TextTable {
  std::string caption = {};
  std::vector<std::string> head = {};
  std::vector<std::vector<std::string>> rows = {};
};
[[nodiscard]] std::string table_html(const TextTable& table);

// A chart with its heading and the same numbers as a table, closed at first. `drawing` is HTML.
struct Figure {
  std::string heading;
  std::string note = {};
  std::string drawing;
  TextTable numbers = {};
};
[[nodiscard]] std::string figure_html(const Figure& figure);

// What is shown when somebody asks for it. `content` is HTML.
[[nodiscard]] std::string details_html(std::string_view summary, std::string_view content);
// The same of the rest of what is shown, which belongs on paper.
[[nodiscard]] std::string more_html(std::string_view summary, std::string_view content);
// A box that may be wider than the screen: it scrolls, and is reached by the keyboard.
[[nodiscard]] std::string scroll_html(std::string_view label, std::string_view content);

}  // namespace mfga::charts
