#include "charts/page.hpp"

#include <fmt/format.h>

#include <iterator>

#include "charts/style.hpp"
#include "charts/text.hpp"

namespace mfga::charts {

std::string page_begin(std::string_view title, std::string_view more_style) {
  constexpr std::string_view kPolicy = "default-src 'none'; style-src 'unsafe-inline'";
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
      "<style>{}{}</style>\n</head>\n<body>\n",
      kPolicy, escape_html(title), kStyle, more_style);
}

std::string table_html(const TextTable& table) {
  std::string out = "<table>";
  const auto add = std::back_inserter(out);
  if (!table.caption.empty()) fmt::format_to(add, "<caption>{}</caption>", escape_html(table.caption));
  out += "<thead><tr>";
  for (const std::string& text : table.head)
    fmt::format_to(add, "<th scope=\"col\">{}</th>", escape_html(text));
  out += "</tr></thead>\n<tbody>";
  for (const std::vector<std::string>& row : table.rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == 0) fmt::format_to(add, "<th scope=\"row\">{}</th>", escape_html(row[i]));
      if (i > 0) fmt::format_to(add, "<td>{}</td>", escape_html(row[i]));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table>\n";
}

std::string figure_html(const Figure& figure) {
  std::string out = fmt::format("<figure>\n<figcaption><h3>{}</h3>", escape_html(figure.heading));
  if (!figure.note.empty())
    fmt::format_to(std::back_inserter(out), "<span class=\"soft\">{}</span>", escape_html(figure.note));
  out += "</figcaption>\n" + figure.drawing;
  if (!figure.numbers.rows.empty())
    out += details_html("Numbers", scroll_html("numbers: " + figure.heading, table_html(figure.numbers)));
  return out + "</figure>\n";
}

std::string details_html(std::string_view summary, std::string_view content) {
  return fmt::format("<details>\n<summary>{}</summary>\n{}</details>\n", escape_html(summary), content);
}

std::string more_html(std::string_view summary, std::string_view content) {
  return fmt::format("<details class=\"more\">\n<summary>{}</summary>\n{}</details>\n", escape_html(summary),
                     content);
}

std::string scroll_html(std::string_view label, std::string_view content) {
  return fmt::format("<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n{}</div>\n",
                     escape_html(label), content);
}

}  // namespace mfga::charts
