// The formula, term by term, and in the units of the table with every digit.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <numeric>

#include "charts/frame.hpp"
#include "charts/page.hpp"
#include "charts/text.hpp"
#include "mfga/formula.hpp"
#include "model/readable_formula.hpp"
#include "report/sections.hpp"

namespace mfga::report {
namespace {

constexpr std::size_t kTermsAtFirst = 12;
constexpr std::size_t kMostTerms = 400;
constexpr std::size_t kLongestTerm = 240;        // letters
constexpr std::size_t kLongestFormula = 100000;  // bytes

class FormulaSection {
 public:
  explicit FormulaSection(const Content& content)
      : content_(content), model_(content.model), formula_(readable_formula(model_)) {}

  std::string html() {
    std::string body = introduction();
    body += "<div class=\"formula\">\n";
    body += fmt::format("<p>{}</p>\n", sum_text());
    const std::vector<std::size_t> order = order_of_terms();
    const std::size_t first = std::min(kTermsAtFirst, order.size());
    if (first > 0) body += table(std::span(order).first(first), constants());
    if (order.size() > first) {
      const std::size_t last = std::min(kMostTerms, order.size());
      body += charts::more_html("The other " + counted(last - first, "term"),
                                table(std::span(order).subspan(first, last - first)));
      if (last < order.size())
        body += fmt::format("<p class=\"soft\">{} more terms are not shown.</p>\n", order.size() - last);
    }
    body += "</div>\n";
    body += notes();
    body += in_full();
    return section_html("formula", "The formula", body);
  }

 private:
  // Prediction = shift + scale * score, with the constants of the terms.
  [[nodiscard]] double constant(std::size_t output) const {
    const Output& own = model_.outputs[output];
    double sum = own.shift + own.scale * own.intercept;
    for (std::size_t t = 0; t < formula_.terms.size(); ++t)
      sum += own.scale * model_.terms[t].coefficients[output] * formula_.terms[t].constant;
    return sum;
  }
  [[nodiscard]] std::string constant_text(std::size_t output) const {
    const double value = constant(output);
    return fmt::format("{}{:.6g}", value < 0 ? "\u2212" : "", std::abs(value));
  }
  [[nodiscard]] double coefficient(std::size_t term, std::size_t output) const {
    return model_.outputs[output].scale * model_.terms[term].coefficients[output] *
           formula_.terms[term].factor;
  }

  [[nodiscard]] std::string introduction() const {
    if (content_.term_shares.empty()) return {};
    return "<p class=\"soft\">The terms that explain most of the score come first. A share is the part of "
           "the "
           "score&#8217;s variance, over the rows of the data, that a term accounts for; shares add up to "
           "100 %, and "
           "one that other terms make up for is negative.</p>\n";
  }

  [[nodiscard]] std::string sum_text() const {
    const std::size_t terms = model_.terms.size();
    const std::string which = terms == 1 ? "this term" : fmt::format("these {} terms", terms);
    if (model_.has_one_output()) {
      return fmt::format("<b>{}</b> = {}{}", shown_text(formula_.titles.front()), constant_text(0),
                         terms == 0 ? "" : " + the sum of " + which);
    }
    return fmt::format(
        "{} {}: a constant + the sum of {}, each with a coefficient of its own.{}",
        model_.task == Task::kClassification
            ? fmt::format("Each of the {} classes of <b>{}</b>", model_.outputs.size(),
                          shown_text(model_.target_name))
            : fmt::format("Each of the {} targets", model_.outputs.size()),
        model_.task == Task::kClassification || !model_.loss.empty() ? "has a score" : "is predicted to be",
        which, has_column_for_each() ? "" : " Shown are the largest coefficients of each term.");
  }

  [[nodiscard]] std::vector<std::size_t> order_of_terms() const {
    std::vector<std::size_t> order(model_.terms.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (!content_.term_shares.empty()) {
      std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        return std::abs(content_.term_shares[a]) > std::abs(content_.term_shares[b]);
      });
    }
    return order;
  }

  // Whether there are so few outputs that the coefficients of each have a column.
  [[nodiscard]] bool has_column_for_each() const { return model_.outputs.size() <= 3; }

  [[nodiscard]] std::string heads_of_coefficients() const {
    std::string heads;
    for (const Output& output : model_.outputs) {
      const bool is_named = has_column_for_each() && !model_.has_one_output();
      heads += fmt::format("<th scope=\"col\">{}</th>",
                           is_named                  ? charts::escape_html(charts::shortened(output.name, 16))
                           : model_.has_one_output() ? "coefficient"
                                                     : "coefficients");
      if (!is_named) break;
    }
    return heads;
  }

  // A cell for each output, or one with the largest two of many.
  [[nodiscard]] std::string cells_of_coefficients(std::size_t term) const {
    std::string cells;
    if (has_column_for_each()) {
      for (std::size_t k = 0; k < model_.outputs.size(); ++k)
        cells += k == 0 ? fmt::format("<th scope=\"row\">{}</th>", charts::signed_text(coefficient(term, k)))
                        : fmt::format("<td>{}</td>", charts::signed_text(coefficient(term, k)));
      return cells;
    }
    std::vector<std::size_t> order(model_.outputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto size = [&](std::size_t k) { return std::abs(model_.terms[term].coefficients[k]); };
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
    for (const std::size_t k : std::span(order).first(2))
      cells += fmt::format("{}<span class=\"whole\">{} {}</span>", cells.empty() ? "" : ", ",
                           charts::escape_html(charts::shortened(model_.outputs[k].name, 16)),
                           charts::signed_text(coefficient(term, k)));
    return fmt::format("<th scope=\"row\" class=\"several\">{}</th>", cells);
  }

  // Of a few outputs, as a row above those of the terms.
  [[nodiscard]] std::string constants() const {
    if (model_.has_one_output() || !has_column_for_each()) return {};
    std::string row;
    for (std::size_t k = 0; k < model_.outputs.size(); ++k)
      row += fmt::format("<{0}>{1}</{2}>", k == 0 ? "th scope=\"row\"" : "td", constant_text(k),
                         k == 0 ? "th" : "td");
    return fmt::format("<tr>{}<td class=\"term\">1</td>{}</tr>\n", row,
                       content_.term_shares.empty() ? "" : "<td class=\"chart\"></td><td></td>");
  }

  [[nodiscard]] std::string table(std::span<const std::size_t> terms, std::string rows = "") const {
    const bool has_shares = !content_.term_shares.empty();
    double largest = 1e-300;
    for (const double share : content_.term_shares) largest = std::max(largest, std::abs(share));
    for (const std::size_t t : terms) {
      fmt::format_to(std::back_inserter(rows), "<tr>{}<td class=\"term\">{}</td>", cells_of_coefficients(t),
                     charts::escape_html(charts::shortened(formula_.terms[t].text, kLongestTerm)));
      if (has_shares)
        fmt::format_to(std::back_inserter(rows), "<td class=\"chart\">{}</td><td>{}</td>",
                       bar_html(content_.term_shares[t] / largest),
                       charts::percent_text(content_.term_shares[t]));
      rows += "</tr>\n";
    }
    return charts::scroll_html(
        "terms of the formula",
        fmt::format("<table><thead><tr>{}<th scope=\"col\" class=\"text\">term</th>{}</tr></thead>\n"
                    "<tbody>{}</tbody></table>\n",
                    heads_of_coefficients(),
                    has_shares ? "<th scope=\"col\" class=\"chart\"></th><th scope=\"col\">share</th>" : "",
                    rows));
  }

  [[nodiscard]] std::string notes() const {
    std::string all;
    for (const ReadableTerm& term : formula_.terms) all += term.text + ' ';
    std::vector<std::string> parts;
    // Not as the end of a longer name.
    const auto has = [&](std::string_view symbol) {
      for (std::size_t at = all.find(symbol); at != std::string::npos; at = all.find(symbol, at + 1)) {
        if (at == 0 || !std::isalpha(static_cast<unsigned char>(all[at - 1]))) return true;
      }
      return false;
    };
    if (has("[")) parts.emplace_back("[condition] is 1 where the condition holds, else 0");
    if (has("near("))
      parts.emplace_back(
          "near(values; width) is 1 where the columns have these values, and falls off around them");
    if (has("z(")) parts.emplace_back("z(column) is its standardised value, (value \u2212 mean) / deviation");
    if (has("r(")) parts.emplace_back("r(column) is its standardised value, cut off far from the median");
    if (has("q("))
      parts.emplace_back("q(column) is the normal quantile of the part of the training rows below the value");
    if (has("m(")) parts.emplace_back("m(column) is a combination of all columns");
    if (model_.task == Task::kClassification && model_.has_one_output() && model_.loss.empty())
      parts.push_back(fmt::format("the probability of {} is 1 / (1 + exp(\u2212log-odds))",
                                  short_text(model_.labels[1])));
    if (parts.empty()) return {};
    return fmt::format("<p class=\"soft\">Here {}.</p>\n",
                       charts::escape_html(fmt::format("{}", fmt::join(parts, "; "))));
  }

  [[nodiscard]] std::string in_full() const {
    if (model_.mixing.rows > 0) return {};
    const std::string text = table_formula_text(model_);
    if (text.size() > kLongestFormula) {
      return fmt::format(
          "<p class=\"soft\">With nine digits the formula is {} kB long; <code>mfga inspect</code> prints "
          "it.</p>\n",
          charts::with_thousands(static_cast<Index>(text.size() / 1000)));
    }
    return charts::details_html(
        "The whole formula with nine digits, in the units of the table",
        charts::scroll_html("the formula in full",
                            fmt::format("<pre>{}</pre>\n", charts::escape_html(text))));
  }

  const Content& content_;
  const Model& model_;
  ReadableFormula formula_;
};

}  // namespace

std::string formula_section(const Content& content) { return FormulaSection(content).html(); }

}  // namespace mfga::report
