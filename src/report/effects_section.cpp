// The effect of each column, and of pairs of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "charts/page.hpp"
#include "charts/plots.hpp"
#include "charts/text.hpp"
#include "report/effects.hpp"
#include "report/sections.hpp"

namespace mfga::report {
namespace {

constexpr std::size_t kEffectsAtFirst = 9;
constexpr std::size_t kMostEffects = 30;
constexpr std::size_t kMostPairs = 6;

std::string shown_title(const Model& model, Index output) {
  return fmt::format("mean {}", short_text(shown_name(model, output)));
}

// The outputs whose means differ most between places, in their own units.
std::vector<Index> outputs_to_show(const Model& model, const Matrix& means) {
  std::vector<Index> order(static_cast<std::size_t>(means.cols));
  std::iota(order.begin(), order.end(), Index{0});
  std::vector<double> ranges(order.size());
  for (const Index k : order) {
    double low = INFINITY;
    double high = -INFINITY;
    for (Index i = 0; i < means.rows; ++i) {
      low = std::min(low, means(i, k));
      high = std::max(high, means(i, k));
    }
    const auto at = static_cast<std::size_t>(k);
    ranges[at] = (high - low) / (model.task == Task::kRegression ? model.outputs[at].scale : 1);
  }
  std::ranges::stable_sort(order, [&](Index a, Index b) {
    return ranges[static_cast<std::size_t>(a)] > ranges[static_cast<std::size_t>(b)];
  });
  // Targets have units of their own, which do not share an axis.
  const std::size_t most = model.task == Task::kRegression ? 1 : kMostCurves - 1;
  if (order.size() > most) order.resize(most);
  return order;
}

// The values that an axis must cover.
struct Range {
  double low = INFINITY, high = -INFINITY;
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

class EffectFigures {
 public:
  EffectFigures(const Content& content, std::vector<Effect> effects)
      : content_(content), model_(content.model), effects_(std::move(effects)) {}

  [[nodiscard]] std::string html(std::size_t first, std::size_t last) const {
    std::string figures = "<div class=\"panels\">\n";
    for (std::size_t i = first; i < last; ++i) {
      const Effect& effect = effects_[i];
      if (effect.means.rows == 0) continue;
      figures += effect.places.levels.empty() ? of_numbers(effect) : of_levels(effect);
    }
    return figures + "</div>\n";
  }

 private:
  [[nodiscard]] static Range range(const Effect& effect, const std::vector<Index>& outputs) {
    Range own;
    for (const Index k : outputs) {
      for (Index i = 0; i < effect.means.rows; ++i) own.include(effect.means(i, k));
      if (!effect.missing.empty()) own.include(effect.missing[static_cast<std::size_t>(k)]);
    }
    return own;
  }
  [[nodiscard]] static charts::Axis axis(const Effect& effect, const std::vector<Index>& outputs) {
    const Range own = range(effect, outputs);
    return charts::Axis::linear(own.low, own.high, false);
  }
  [[nodiscard]] ValueText value_text(const Effect& effect, const std::vector<Index>& outputs) const {
    const Range own = range(effect, outputs);
    return ValueText(model_, own.high - own.low);
  }

  [[nodiscard]] charts::ChartTexts texts(const Effect& effect, Index output) const {
    const std::string name = short_text(content_.column(effect.column).name);
    Index lowest = 0;
    Index highest = 0;
    for (Index i = 0; i < effect.means.rows; ++i) {
      if (effect.means(i, output) < effect.means(lowest, output)) lowest = i;
      if (effect.means(i, output) > effect.means(highest, output)) highest = i;
    }
    const ValueText text = value_text(effect, {output});
    const auto place = [&](Index i) {
      const auto at = static_cast<std::size_t>(i);
      return effect.places.levels.empty() ? charts::number_text(effect.places.values[at])
                                          : short_text(effect.places.levels[at]);
    };
    return {fmt::format("effect-{}", effect.column), fmt::format("Effect of {}", name),
            fmt::format("{}, from {} where {} is {} to {} where it is {}.", shown_title(model_, output),
                        text(effect.means(lowest, output)), name, place(lowest),
                        text(effect.means(highest, output)), place(highest))};
  }

  [[nodiscard]] charts::TextTable numbers(const Effect& effect, const std::vector<Index>& outputs) const {
    charts::TextTable table{.head = {"value"}};
    for (const Index k : outputs) table.head.push_back(shown_title(model_, k));
    const bool has_parts = !effect.places.levels.empty() || effect.places.are_few;
    if (has_parts) table.head.emplace_back("rows");
    const ValueText text = value_text(effect, outputs);
    // Of a long curve every other place, or so.
    constexpr Index kMostRows = 21;
    const Index apart = has_parts ? 1 : (std::ssize(effect.listed) + kMostRows - 1) / kMostRows;
    for (Index place = 0; place < std::ssize(effect.listed); place += apart) {
      const Index i = effect.listed[static_cast<std::size_t>(place)];
      const auto at = static_cast<std::size_t>(i);
      std::vector<std::string> row = {effect.places.levels.empty()
                                          ? charts::number_text(effect.places.values[at])
                                          : short_text(effect.places.levels[at])};
      for (const Index k : outputs) row.push_back(text(effect.means(i, k)));
      if (has_parts) row.push_back(charts::percent_text(effect.rows[at]));
      table.rows.push_back(std::move(row));
    }
    if (effect.missing.empty()) return table;
    std::vector<std::string> row = {"missing"};
    for (const Index k : outputs) row.push_back(text(effect.missing[static_cast<std::size_t>(k)]));
    if (has_parts) row.push_back(charts::percent_text(effect.missing_rows));
    table.rows.push_back(std::move(row));
    return table;
  }

  [[nodiscard]] std::string note(const Effect& effect, const std::vector<Index>& outputs) const {
    const std::string missing =
        effect.missing.empty()
            ? ""
            : fmt::format(
                  "; missing in {} of the rows: {}", charts::percent_text(effect.missing_rows),
                  value_text(effect, outputs)(effect.missing[static_cast<std::size_t>(outputs.front())]));
    const std::string what = outputs.size() > 1 ? "mean probability, of the classes it moves most"
                                                : shown_title(model_, outputs.front());
    const std::size_t levels = content_.column(effect.column).levels.size();
    const std::string more =
        levels > effect.places.levels.size() && !effect.places.levels.empty()
            ? fmt::format("; the {} most frequent of {} levels", effect.places.levels.size(), levels)
            : "";
    return what + more + missing;
  }

  [[nodiscard]] std::string of_numbers(const Effect& effect) const {
    const std::vector<Index> outputs = outputs_to_show(model_, effect.means);
    const std::string name = short_text(content_.column(effect.column).name);
    charts::LineChart chart{.texts = texts(effect, outputs.front()), .across_title = name, .curves = {}};
    const std::vector<double>& values = effect.places.values;
    chart.across = charts::Axis::exact(values.front(), values.back());
    chart.up = axis(effect, outputs);
    for (std::size_t c = 0; c < outputs.size(); ++c) {
      charts::Curve curve{.style = std::string(kCurveStyles[c]), .has_markers = effect.places.are_few};
      if (outputs.size() > 1) curve.label = model_.outputs[static_cast<std::size_t>(outputs[c])].name;
      for (std::size_t i = 0; i < values.size(); ++i)
        curve.points.push_back({values[i], effect.means(static_cast<Index>(i), outputs[c])});
      chart.curves.push_back(std::move(curve));
    }
    // Bars of values that are few stand at these.
    const double width = effect.places.are_few
                             ? (values.back() - values.front()) / 40
                             : (values.back() - values.front()) / static_cast<double>(effect.rows.size());
    for (std::size_t b = 0; b < effect.rows.size(); ++b) {
      const double from =
          effect.places.are_few ? values[b] - width / 2 : values.front() + width * static_cast<double>(b);
      chart.density.push_back({from, from + width, effect.rows[b]});
    }
    return charts::figure_html({.heading = name,
                                .note = note(effect, outputs),
                                .drawing = charts::line_chart(chart),
                                .numbers = numbers(effect, outputs)});
  }

  [[nodiscard]] std::string of_levels(const Effect& effect) const {
    std::vector<Index> outputs = outputs_to_show(model_, effect.means);
    outputs.resize(1);
    const Index k = outputs.front();
    charts::DotChart chart{.texts = texts(effect, k), .across_title = shown_title(model_, k), .dots = {}};
    chart.across = axis(effect, outputs);
    double mean = 0;
    double parts = 0;
    for (std::size_t i = 0; i < effect.places.levels.size(); ++i) {
      const double value = effect.means(static_cast<Index>(i), k);
      chart.dots.push_back({effect.places.levels[i], value, charts::percent_text(effect.rows[i])});
      mean += effect.rows[i] * value;
      parts += effect.rows[i];
    }
    if (parts > 0) chart.reference = mean / parts;
    return charts::figure_html({.heading = short_text(content_.column(effect.column).name),
                                .note = note(effect, outputs) + "; right: share of the rows",
                                .drawing = charts::dot_chart(chart),
                                .numbers = numbers(effect, outputs)});
  }

  const Content& content_;
  const Model& model_;
  std::vector<Effect> effects_;
};

charts::Side side_of(const Column& column, const Places& places) {
  charts::Side side{.title = short_text(column.name)};
  if (!places.levels.empty()) {
    side.names = places.levels;
  } else if (places.are_few) {
    for (const double value : places.values) side.names.push_back(charts::tick_text(value));
    side.is_upward = true;
  } else {
    const double half = (places.values[1] - places.values[0]) / 2;
    side.axis = charts::Axis::exact(places.values.front() - half, places.values.back() + half);
  }
  return side;
}

std::string place_text(const Places& places, std::size_t i) {
  return places.levels.empty() ? charts::number_text(places.values[i]) : short_text(places.levels[i]);
}

std::string pair_figure(const Content& content, const PairEffect& effect) {
  const Column& across = content.column(effect.pair.first);
  const Column& up = content.column(effect.pair.second);
  charts::HeatMap map{
      .texts = {fmt::format("pair-{}-{}", effect.pair.first, effect.pair.second),
                fmt::format("{} and {} together", short_text(across.name), short_text(up.name)), ""},
      .across = side_of(across, effect.across),
      .up = side_of(up, effect.up),
      .values = effect.means,
      .middle = effect.middle};
  Range range;
  for (const double value : effect.means.values) {
    if (!std::isnan(value)) range.include(value);
  }
  const ValueText text(content.model, range.high - range.low);
  map.reach = std::max(range.high - effect.middle, effect.middle - range.low);
  if (!(map.reach > 0)) map.reach = 1;
  const std::string what = shown_title(content.model, effect.output);
  map.texts.description =
      fmt::format("{}, from {} to {}; over all rows it is {}. Cells without rows are empty.", what,
                  text(range.low), text(range.high), text(effect.middle));
  charts::TextTable numbers;
  numbers.head.push_back(fmt::format("{} \\ {}", short_text(up.name), short_text(across.name)));
  // Of many places every other one.
  constexpr std::size_t kMost = 8;
  const auto apart = [](const Places& places) { return (places.size() + kMost - 1) / kMost; };
  for (std::size_t j = 0; j < effect.across.size(); j += apart(effect.across))
    numbers.head.push_back(place_text(effect.across, j));
  for (std::size_t i = 0; i < effect.up.size(); i += apart(effect.up)) {
    std::vector<std::string> row = {place_text(effect.up, i)};
    for (std::size_t j = 0; j < effect.across.size(); j += apart(effect.across)) {
      const double value = effect.means(static_cast<Index>(i), static_cast<Index>(j));
      row.push_back(std::isnan(value) ? "" : text(value));
    }
    numbers.rows.push_back(std::move(row));
  }
  const std::string legend = fmt::format(
      "<p class=\"legend\"><i></i> <span>{} from {} to {}; blue is above the mean of all rows, {}, and "
      "orange "
      "below it</span></p>\n",
      charts::escape_html(what), charts::escape_html(text(range.low)), charts::escape_html(text(range.high)),
      charts::escape_html(text(effect.middle)));
  return charts::figure_html(
      {.heading = fmt::format("{} and {}", short_text(across.name), short_text(up.name)),
       .note = fmt::format("{} {}", effect.pair.terms, effect.pair.terms == 1 ? "term" : "terms"),
       .drawing = charts::heat_map(map) + legend,
       .numbers = numbers});
}

}  // namespace

std::string effects_section(const Content& content) {
  if (!content.sample || content.model.terms.empty() || content.importance->columns.empty()) return {};
  const Effects effects(content.predictor, content.columns, *content.sample);
  std::vector<Effect> all;
  for (const ColumnImportance& one : content.importance->columns) {
    if (all.size() == kMostEffects) break;
    all.push_back(effects.of(one.column));
  }
  const std::size_t count = all.size();
  const EffectFigures figures(content, std::move(all));
  std::string body =
      "<p class=\"soft\">What the model predicts on average when one column is set to a value and all others "
      "stay as they are in the rows (partial dependence), the most important column first. Grey bars along "
      "the "
      "foot say where the rows are: believe a curve where there are some. Where columns go together, such "
      "rows may not exist. Each chart has a scale of its own.</p>\n";
  const std::size_t first = std::min(count, kEffectsAtFirst);
  body += figures.html(0, first);
  if (count > first)
    body += charts::more_html(counted(count - first, "more column"), figures.html(first, count));
  if (content.importance->columns.size() > count)
    body += fmt::format("<p class=\"soft\">The {} least important columns are not shown.</p>\n",
                        content.importance->columns.size() - count);
  return section_html("effects", "The effect of each column", body);
}

std::string pairs_section(const Content& content) {
  if (!content.sample || content.model.terms.empty()) return {};
  bool is_additive = true;
  for (Index t = 0; t < std::ssize(content.model.terms); ++t)
    is_additive = is_additive && content.explainer.columns_of_term(t).size() <= 1;
  std::string body;
  if (is_additive) {
    body =
        "<p>No term joins two columns: the score is a sum of the effects of single columns, and nothing "
        "depends on "
        "how two of them go together.</p>\n";
    return section_html("pairs", "Columns that act together", body);
  }
  std::vector<Pair> pairs = pairs_in_terms(content.explainer, content.term_shares);
  bool are_guessed = false;
  if (pairs.empty()) {
    // All terms that join columns look at very many: the most important ones are the ones to look at.
    constexpr std::size_t kMostImportant = 3;
    const std::vector<ColumnImportance>& columns = content.importance->columns;
    for (std::size_t i = 0; i < std::min(kMostImportant, columns.size()); ++i) {
      for (std::size_t j = i + 1; j < std::min(kMostImportant, columns.size()); ++j)
        pairs.push_back(
            {columns[i].column, columns[j].column, 0, std::min(columns[i].terms, columns[j].terms)});
    }
    are_guessed = true;
  }
  const Effects effects(content.predictor, content.columns, *content.sample);
  const std::size_t count = std::min(pairs.size(), kMostPairs);
  body = fmt::format(
      "<p class=\"soft\">The mean prediction when two columns are set to a value each. {} Empty cells: no "
      "row is like "
      "that.</p>\n<div class=\"panels\">\n",
      are_guessed
          ? "Terms of this model look at many columns at a time; shown are pairs of the most important ones."
      : count < pairs.size()
          ? fmt::format(
                "Shown are {} of the {} pairs that are together in terms, those that matter most first.",
                count, pairs.size())
          : "Shown are the pairs that are together in terms, those that matter most first.");
  for (std::size_t i = 0; i < count; ++i) {
    const PairEffect effect = effects.of(pairs[i]);
    if (effect.means.rows > 0) body += pair_figure(content, effect);
  }
  return section_html("pairs", "Columns that act together", body + "</div>\n");
}

}  // namespace mfga::report
