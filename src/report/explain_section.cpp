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

constexpr std::size_t kMostParts = 12;

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

// A line of a waterfall: from where the sum stands to where it goes. Of a sum, both are the same.
struct Step {
  std::string name;  // HTML
  double from = 0, to = 0;
  bool is_sum = false;
};

std::string waterfall_html(std::string_view label, const std::vector<Step>& steps) {
  double low = INFINITY;
  double high = -INFINITY;
  double largest = 0;
  for (const Step& step : steps) {
    low = std::min(low, step.to);
    high = std::max(high, step.to);
    largest = std::max(largest, std::abs(step.to - step.from));
  }
  const int decimals = charts::decimals_of(largest);
  const double range = high > low ? high - low : 1;
  std::string rows;
  for (const Step& step : steps) {
    const double left = (std::min(step.from, step.to) - low) / range;
    const double right = (std::max(step.from, step.to) - low) / range;
    fmt::format_to(std::back_inserter(rows),
                   "<tr{}><th scope=\"row\">{}</th><td class=\"chart\">{}</td><td>{}</td></tr>\n",
                   step.is_sum ? " class=\"sum\"" : "", step.name,
                   floating_bar_html(left, right,
                                     step.is_sum           ? "mark"
                                     : step.to < step.from ? "orange"
                                                           : "blue"),
                   step.is_sum ? charts::fixed_text(step.to, decimals)
                               : charts::signed_fixed_text(step.to - step.from, decimals));
  }
  return charts::scroll_html(label,
                             fmt::format("<table class=\"waterfall\"><thead><tr><th scope=\"col\">column</th>"
                                         "<th scope=\"col\"></th><th scope=\"col\">adds</th></tr></thead>\n"
                                         "<tbody>{}</tbody></table>\n",
                                         rows));
}

std::string explained(const Content& content, Index row, std::string_view heading) {
  const Model& model = content.model;
  const Sample& sample = *content.sample;
  std::vector<Index> columns(model.inputs.size());
  std::iota(columns.begin(), columns.end(), Index{0});
  const TableView one = sample.rows.view().middle_rows(row, 1);
  const Explanation explanation = content.explainer.by_column(one, columns);
  const auto outputs = static_cast<std::size_t>(model.n_outputs());
  const std::span<const double> scores =
      std::span(sample.scores).subspan(static_cast<std::size_t>(row) * outputs, outputs);
  const auto output = static_cast<std::size_t>(output_to_explain(model, scores));
  const auto added = [&](Index part) {
    return explanation.contribution(0, part, static_cast<Index>(output));
  };
  std::vector<Index> order(static_cast<std::size_t>(explanation.parts));
  std::iota(order.begin(), order.end(), Index{0});
  std::erase_if(order, [&](Index part) { return added(part) == 0; });
  std::ranges::stable_sort(order, std::greater<>(), [&](Index part) { return std::abs(added(part)); });
  // A line for one more column takes no more room than a line that says so.
  const std::size_t shown = order.size() <= kMostParts + 1 ? order.size() : kMostParts;
  double sum = explanation.averages[output];
  std::vector<Step> steps = {
      {content.explainer.knows_means() ? "average of the training rows" : "row of average values", sum, sum,
       true}};
  for (const Index part : std::span(order).first(shown)) {
    const std::string name =
        fmt::format("{} = {}", short_text(content.explainer.column_names()[static_cast<std::size_t>(part)]),
                    short_text(content.explainer.value_text(part, one, 0, columns)));
    steps.push_back({charts::escape_html(name), sum, sum + added(part)});
    sum += added(part);
  }
  const double total = explanation.totals[output];
  if (shown < order.size()) steps.push_back({counted(order.size() - shown, "other column"), sum, total});
  steps.push_back({shown_text(score_name(model, static_cast<Index>(output))), total, total, true});
  const double value = shown_values(model, scores)[output];
  return fmt::format(
      "<figure>\n<figcaption><h3>{}</h3><span class=\"soft\">{} {}</span></figcaption>\n{}</figure>\n",
      charts::escape_html(heading), shown_text(shown_name(model, static_cast<Index>(output))),
      ValueText(model, std::abs(total - explanation.averages[output]))(value),
      waterfall_html(fmt::format("explanation: {}", heading), steps));
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
      "<p class=\"soft\">What each column adds to the average score: blue raises it, orange lowers it, each "
      "bar "
      "from where the sum stands to where it goes. The numbers add up to the score.</p>\n<div class=\"panels "
      "wide\">\n" +
          explained(content, order.back(),
                    is_of_classes ? "The surest prediction" : "The row with the highest prediction") +
          explained(content, order[order.size() / 2], "A row in the middle") + "</div>\n");
}

}  // namespace mfga::report
