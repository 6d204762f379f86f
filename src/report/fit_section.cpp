// How the model came about: its size, and what was tried and chosen.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "charts/page.hpp"
#include "charts/plots.hpp"
#include "charts/text.hpp"
#include "report/sections.hpp"

namespace mfga::report {
namespace {

constexpr double kLogarithmicRatio = 30;

charts::Axis terms_axis(double most, double least) {
  if (least > 0 && most / least > kLogarithmicRatio) return charts::Axis::logarithmic(least, most);
  return charts::Axis::linear(0, most, true);
}

void add_fact(std::string& facts, std::string_view name, const std::string& text) {
  fmt::format_to(std::back_inserter(facts), "<dt>{}</dt><dd>{}</dd>\n", name, text);
}

std::string tuning_text(const TuningReport& tuning, int steps, const ShownLosses& losses) {
  std::string text =
      tuning.is_used ? fmt::format("tuned, by {} steps", steps) : fmt::format("not tuned: {}", tuning.reason);
  if (tuning.held_out_without > 0)
    text += fmt::format("; {} of held-out rows {} with tuning, {} without", losses.name,
                        losses.text(tuning.held_out_with), losses.text(tuning.held_out_without));
  return text;
}

std::string dictionaries_table(const FitRecord& record, const ShownLosses& losses) {
  if (record.dictionaries.size() < 2) return {};
  // Losses can be compared within a heat.
  std::vector<TriedDictionary> order = record.dictionaries;
  std::ranges::stable_sort(order, [](const TriedDictionary& a, const TriedDictionary& b) {
    if (a.is_chosen != b.is_chosen) return a.is_chosen;
    return a.heats != b.heats ? a.heats > b.heats : a.held_out < b.held_out;
  });
  std::string rows;
  for (const TriedDictionary& one : order) {
    fmt::format_to(std::back_inserter(rows),
                   "<tr><td class=\"wrap\"><code>{}</code>{}</td><td>{}</td><td>{}</td></tr>\n",
                   charts::escape_html(one.features), one.is_chosen ? " <b>(chosen)</b>" : "",
                   losses.text(one.held_out), one.heats);
  }
  return fmt::format(
      "<h3>Dictionaries that were tried</h3>\n<p class=\"soft\">The best after a first heat on few rows went "
      "on "
      "to the next; losses after different numbers of heats are of different rows and cannot be compared. A "
      "simpler dictionary is taken where held-out rows hardly tell the difference.</p>\n{}",
      charts::scroll_html("dictionaries",
                          "<table><thead><tr><th scope=\"col\" class=\"text\">candidate features</th>"
                          "<th scope=\"col\">" +
                              charts::escape_html(losses.name) +
                              " of held-out rows</th><th scope=\"col\">heats</th></tr>"
                              "</thead>\n<tbody>" +
                              rows + "</tbody></table>\n"));
}

std::string ridges_table(const FitRecord& record, const ShownLosses& losses) {
  const std::vector<TriedRidge>& ridges = record.ridges;
  if (ridges.size() < 2) return {};
  charts::TextTable table{.head = {"ridge", losses.name + " of held-out rows", "standard error"}};
  for (const TriedRidge& one : ridges)
    table.rows.push_back({charts::number_text(one.ridge), losses.text(one.held_out),
                          charts::number_text(losses.standard_error(one.held_out, one.standard_error))});
  return fmt::format("<h3>Ridges that were tried</h3>\n{}",
                     charts::scroll_html("ridges", charts::table_html(table)));
}

}  // namespace

std::string size_section(const Content& content) {
  const FitRecord& record = content.model.training.fit;
  if (record.sizes.size() < 2 && record.path.size() < 3) return {};
  charts::LineChart chart{.texts = {"size", "Loss against the number of terms", ""},
                          .across_title = "number of terms",
                          .curves = {}};
  double low = INFINITY;
  double high = -INFINITY;
  double most = 1;
  double least = INFINITY;
  const auto include = [&](double terms, double value) {
    low = std::min(low, value);
    high = std::max(high, value);
    most = std::max(most, terms);
    if (terms > 0) least = std::min(least, terms);
  };
  const ShownLosses losses = shown_losses(content.model);
  charts::TextTable numbers{.head = {"terms", "rows", losses.name, "standard error"}};
  charts::Curve held_out{.label = "held-out", .style = "blue", .points = {}, .has_markers = true};
  for (const TriedSize& size : record.sizes) {
    const auto terms = static_cast<double>(size.terms);
    const double loss = losses.value(size.held_out);
    const double error = losses.standard_error(size.held_out, size.standard_error);
    held_out.points.push_back({terms, loss});
    held_out.band.push_back({loss - error, loss + error});
    include(terms, loss - error);
    include(terms, loss + error);
    numbers.rows.push_back({fmt::format("{}", size.terms), size.is_chosen ? "held-out, chosen" : "held-out",
                            charts::number_text(loss), charts::number_text(error)});
    if (!size.is_chosen) continue;
    chart.mark = charts::Point{terms, loss};
    chart.mark_label = fmt::format("{} terms", size.terms);
  }
  const bool has_held_out = record.sizes.size() > 1;
  if (has_held_out) chart.curves.push_back(held_out);
  // Between the rounds of tuning the terms are not yet where they fit best.
  if (!record.tuning.is_used && record.path.size() > 2) {
    charts::Curve training{.label = "training", .style = "orange", .points = {}, .is_dashed = true};
    for (const TrainingLoss& step : record.path) {
      const auto terms = static_cast<double>(step.terms);
      // The first terms gain so much that the rest would be a flat line.
      if (has_held_out && terms < static_cast<double>(record.sizes.front().terms)) continue;
      training.points.push_back({terms, losses.value(step.risk)});
      include(terms, losses.value(step.risk));
      numbers.rows.push_back({fmt::format("{}", step.terms), "training", losses.text(step.risk), ""});
    }
    if (training.points.size() > 1) chart.curves.push_back(training);
  }
  if (chart.curves.empty()) return {};
  chart.across = terms_axis(most, least);
  chart.up = charts::Axis::linear(low, high, false);
  chart.height = 270;
  std::string words = "The table below has the same numbers.";
  if (chart.mark)
    words = fmt::format("With {} terms that of held-out rows is {}.", chart.mark->x,
                        charts::number_text(chart.mark->y));
  chart.texts.description = fmt::format("{} against the number of terms. {}", losses.name, words);
  const std::string text = has_held_out
                               ? "Errors of rows that were held out of the fit; the band is one standard "
                                 "error to either side. More terms "
                                 "are worth it as long as the curve falls by more than its band."
                               : "The error of the training rows. No rows were held out to compare sizes.";
  return section_html(
      "size", "Error and number of terms",
      fmt::format("<p class=\"soft\">{}</p>\n<div class=\"one\">\n{}</div>\n", charts::escape_html(text),
                  charts::figure_html(
                      {.heading = losses.name, .drawing = charts::line_chart(chart), .numbers = numbers})));
}

std::string fit_section(const Content& content) {
  const Model& model = content.model;
  const TrainingRecord& training = model.training;
  const FitRecord& record = training.fit;
  const ShownLosses losses = shown_losses(model);
  std::string facts;
  if (training.rows > 0) add_fact(facts, "Training rows", charts::with_thousands(training.rows));
  if (!training.features.empty())
    add_fact(facts, "Candidate features",
             fmt::format("<code>{}</code>", charts::escape_html(training.features)));
  if (record.candidates > 0)
    add_fact(facts, "Candidates",
             fmt::format("{}, of which {} were chosen", charts::with_thousands(record.candidates),
                         model.terms.size()));
  if (training.rows > 0) {
    add_fact(facts, training.bend > 0 ? "Log-cosh penalty" : "Ridge", charts::number_text(training.ridge));
    add_fact(facts, "Error of these rows", fmt::format("{} {}", losses.name, losses.text(training.risk)));
  }
  if (record.tuning.is_tried)
    add_fact(facts, "Tuning", charts::escape_html(tuning_text(record.tuning, training.tuning_steps, losses)));
  if (record.stability >= 0)
    add_fact(facts, "Stability",
             fmt::format("{:.0f} % of the first terms are found again when the model is learned "
                         "from the other half of the rows",
                         100 * record.stability));
  if (record.seconds > 0) add_fact(facts, "Time", charts::duration(record.seconds));
  if (facts.empty()) return {};
  return section_html("fit", "What was tried and chosen",
                      fmt::format("<dl class=\"facts\">\n{}</dl>\n{}{}", facts,
                                  dictionaries_table(record, losses), ridges_table(record, losses)));
}

}  // namespace mfga::report
