// What matters: columns and families of terms.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "charts/page.hpp"
#include "charts/text.hpp"
#include "report/sections.hpp"

namespace mfga::report {
namespace {

constexpr std::size_t kColumnsAtFirst = 15;
constexpr std::size_t kMostColumns = 200;

std::string columns_table(const Content& content, std::span<const ColumnImportance> columns) {
  const Importance& importance = *content.importance;
  const bool is_known = !importance.measure.empty();
  // The bars show what the order is by.
  const auto size = [&](const ColumnImportance& one) { return is_known ? one.loss : one.share; };
  double largest = 1e-300;
  for (const ColumnImportance& one : importance.columns) largest = std::max(largest, std::abs(size(one)));
  const int decimals = charts::decimals_of(largest);
  std::string rows;
  for (const ColumnImportance& one : columns) {
    fmt::format_to(std::back_inserter(rows), "<tr><th scope=\"row\">{}</th><td class=\"chart\">{}</td>",
                   shown_text(content.column(one.column).name), bar_html(size(one) / largest));
    if (is_known)
      fmt::format_to(std::back_inserter(rows), "<td>{} <span class=\"error\">\u00b1 {}</span></td>",
                     charts::signed_fixed_text(one.loss, decimals),
                     charts::fixed_text(one.standard_error, decimals));
    fmt::format_to(std::back_inserter(rows), "<td>{}</td><td>{}</td></tr>\n", charts::percent_text(one.share),
                   one.terms);
  }
  return charts::scroll_html(
      "columns by importance",
      fmt::format("<table><thead><tr><th scope=\"col\">column</th>{}<th scope=\"col\">share of variance</th>"
                  "<th scope=\"col\">terms</th></tr></thead>\n<tbody>{}</tbody></table>\n",
                  is_known ? fmt::format("<th scope=\"colgroup\" colspan=\"2\">growth of {}</th>",
                                         charts::escape_html(importance.measure))
                           : "<th scope=\"col\"></th>",
                  rows));
}

std::string families_table(const Content& content) {
  struct Family {
    Index terms = 0;
    double share = 0;
  };
  std::map<std::string, Family> families;
  for (std::size_t t = 0; t < content.model.terms.size(); ++t) {
    Family& family = families[content.model.terms[t].atom.family];
    ++family.terms;
    if (!content.term_shares.empty()) family.share += content.term_shares[t];
  }
  std::vector<std::pair<std::string, Family>> order(families.begin(), families.end());
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) {
    return std::pair(a.second.share, a.second.terms) > std::pair(b.second.share, b.second.terms);
  });
  const bool has_shares = !content.term_shares.empty();
  std::string rows;
  for (const auto& [name, family] : order) {
    fmt::format_to(
        std::back_inserter(rows),
        "<tr><th scope=\"row\">{}</th><td class=\"chart\">{}</td>{}<td>{}</td></tr>\n",
        charts::escape_html(name),
        bar_html(has_shares
                     ? family.share
                     : static_cast<double>(family.terms) / static_cast<double>(content.model.terms.size())),
        has_shares ? fmt::format("<td>{}</td>", charts::percent_text(family.share)) : "", family.terms);
  }
  return fmt::format(
      "<h3>Families of terms</h3>\n{}",
      charts::scroll_html(
          "families by importance",
          fmt::format("<table><thead><tr><th scope=\"col\">family</th><th scope=\"col\"></th>{}"
                      "<th scope=\"col\">terms</th></tr></thead>\n<tbody>{}</tbody></table>\n",
                      has_shares ? "<th scope=\"col\">share of variance</th>" : "", rows)));
}

}  // namespace

std::string importance_section(const Content& content) {
  if (content.model.terms.empty()) return {};
  std::string body;
  if (content.importance) {
    const Importance& importance = *content.importance;
    const std::string growth =
        importance.measure.empty()
            ? ""
            : fmt::format(
                  "Each column is shuffled among {} rows, so that it tells nothing any more: the error grows "
                  "({} as they are: {}), here with the standard error over {} shuffles. ",
                  charts::with_thousands(importance.rows), importance.measure,
                  charts::number_text(importance.error), importance.shuffles);
    body += fmt::format(
        "<p class=\"soft\">{}</p>\n",
        charts::escape_html(fmt::format("{}The share of variance is the part of the score\u2019s variance "
                                        "that the column accounts for, over "
                                        "all its terms; these shares add up to 100 %, and one that other "
                                        "columns make up for is negative. "
                                        "Columns that go along with one another share what they tell. {} of "
                                        "{} columns are in the formula.",
                                        growth, importance.columns.size(), content.columns.size())));
    const std::span<const ColumnImportance> all = importance.columns;
    const std::size_t first = std::min(all.size(), kColumnsAtFirst);
    const std::size_t last = std::min(all.size(), kMostColumns);
    body += columns_table(content, all.first(first));
    if (last > first)
      body += charts::more_html(counted(last - first, "more column"),
                                columns_table(content, all.subspan(first, last - first)));
  }
  body += fmt::format("<div class=\"one\">\n{}</div>\n", families_table(content));
  return section_html("importance", "What matters", body);
}

}  // namespace mfga::report
