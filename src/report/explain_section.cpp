// Two predictions explained: what each column adds to the score of the average row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "charts/page.hpp"
#include "charts/text.hpp"
#include "report/sections.hpp"

namespace mfga::report {
namespace {

constexpr std::size_t kMostParts = 8;

// Of several outputs, that of the predicted class, or the first target.
Index output_to_explain(const Model& model, std::span<const double> scores) {
  if (model.task == Task::kRegression) return 0;
  return std::ranges::max_element(scores) - scores.begin();
}

std::string score_name(const Model& model, Index output) {
  const std::string& name = model.outputs[static_cast<std::size_t>(output)].name;
  if (model.task == Task::kRegression) return model.has_one_output() ? model.target_name : name;
  if (model.has_one_output())
    return fmt::format("{} of {}", model.loss.empty() ? "log-odds" : "score", model.labels[1]);
  return fmt::format("score of {}", name);
}

std::string row_html(std::string_view name, double value, double part, bool is_sum) {
  return fmt::format("<tr{}><th scope=\"row\">{}</th><td class=\"chart\">{}</td><td>{}</td></tr>\n",
                     is_sum ? " class=\"sum\"" : "", name, is_sum ? "" : bar_html(part),
                     is_sum ? charts::number_text(value) : charts::signed_text(value));
}

std::string explained(const Content& content, Index row, std::string_view heading) {
  const Model& model = content.model;
  const Sample& sample = *content.sample;
  std::vector<Index> columns(model.inputs.size());
  std::iota(columns.begin(), columns.end(), Index{0});
  const TableView one = sample.rows.view().middle_rows(row, 1);
  const Explanation explanation = content.explainer.by_column(one, columns);
  const auto outputs = static_cast<std::size_t>(model.n_outputs());
  const Index output = output_to_explain(
      model, std::span(sample.scores).subspan(static_cast<std::size_t>(row) * outputs, outputs));
  std::vector<Index> order(static_cast<std::size_t>(explanation.parts));
  std::iota(order.begin(), order.end(), Index{0});
  const auto size = [&](Index part) { return std::abs(explanation.contribution(0, part, output)); };
  std::ranges::stable_sort(order, [&](Index a, Index b) { return size(a) > size(b); });
  const double largest = order.empty() || size(order.front()) == 0 ? 1 : size(order.front());
  std::string rows = row_html("average row", explanation.averages[static_cast<std::size_t>(output)], 0, true);
  double others = explanation.rounding[static_cast<std::size_t>(output)];
  Index n_others = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double value = explanation.contribution(0, order[i], output);
    if (i >= kMostParts) {
      others += value;
      ++n_others;
      continue;
    }
    if (value == 0) continue;
    const std::string name = fmt::format(
        "{} = {}", short_text(content.explainer.column_names()[static_cast<std::size_t>(order[i])]),
        short_text(content.explainer.value_text(order[i], one, 0, columns)));
    rows += row_html(charts::escape_html(name), value, value / largest, false);
  }
  if (n_others > 0)
    rows += row_html(counted(static_cast<std::size_t>(n_others), "other column"), others, others / largest,
                     false);
  rows += row_html(shown_text(score_name(model, output)),
                   explanation.totals[static_cast<std::size_t>(output)], 0, true);
  const std::vector<double> values =
      shown_values(model, std::span(sample.scores).subspan(static_cast<std::size_t>(row) * outputs, outputs));
  return fmt::format(
      "<figure>\n<figcaption><h3>{}</h3><span class=\"soft\">{} {}</span></figcaption>\n{}</figure>\n",
      charts::escape_html(heading), shown_text(shown_name(model, output)),
      charts::number_text(values[static_cast<std::size_t>(output)]),
      charts::scroll_html(fmt::format("explanation: {}", heading),
                          fmt::format("<table><thead><tr><th scope=\"col\">column</th><th scope=\"col\"></th>"
                                      "<th scope=\"col\">adds</th></tr></thead>\n<tbody>{}</tbody></table>\n",
                                      rows)));
}

}  // namespace

std::string explain_section(const Content& content) {
  if (!content.sample || content.model.terms.empty() || content.explainer.column_names().empty()) return {};
  const Sample& sample = *content.sample;
  const auto outputs = content.model.n_outputs();
  // By what is predicted first, or by how sure the model is of a class.
  const auto rank = [&](Index row) {
    const auto own = std::span(sample.scores)
                         .subspan(static_cast<std::size_t>(row * outputs), static_cast<std::size_t>(outputs));
    return content.model.task == Task::kRegression ? own.front() : std::ranges::max(own);
  };
  std::vector<Index> order(static_cast<std::size_t>(sample.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, [&](Index a, Index b) { return rank(a) < rank(b); });
  const bool is_of_classes = !content.model.has_one_output() && content.model.task == Task::kClassification;
  return section_html(
      "explain", "Two predictions explained",
      "<p class=\"soft\">What each column adds to the score of the average row of the training. The numbers "
      "add up to the score.</p>\n<div class=\"panels wide\">\n" +
          explained(content, order.back(),
                    is_of_classes ? "The surest prediction" : "The row with the highest prediction") +
          explained(content, order[order.size() / 2], "A row in the middle") + "</div>\n");
}

}  // namespace mfga::report
