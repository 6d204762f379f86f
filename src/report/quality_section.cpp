// How good the predictions are: residuals of numbers; calibration, ranks and confusion of classes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "charts/page.hpp"
#include "charts/plots.hpp"
#include "charts/text.hpp"
#include "mfga/evaluate.hpp"
#include "report/curves.hpp"
#include "report/sections.hpp"

namespace mfga::report {
namespace {

constexpr std::size_t kMostTargets = 6;
constexpr Index kMostClassesInMap = 30;

std::string or_dash(const std::optional<double>& value, bool is_percent = false) {
  if (!value) return "\u2013";
  return is_percent ? charts::percent_text(*value) : fmt::format("{:.3f}", *value);
}

// A chart of parts against parts, both from 0 to 1.
charts::LineChart unit_chart(std::string id, std::string title, std::string across) {
  charts::LineChart chart{
      .texts = {std::move(id), std::move(title), ""}, .across_title = std::move(across), .curves = {}};
  chart.across = charts::Axis::linear(0, 1, true);
  chart.up = charts::Axis::linear(0, 1, true);
  chart.height = 300;
  return chart;
}

// ---- numbers

class NumberFigures {
 public:
  NumberFigures(std::string id, std::string name, std::span<const double> predictions,
                std::span<const double> targets, std::span<const double> weights)
      : id_(std::move(id)),
        name_(std::move(name)),
        predictions_(predictions),
        targets_(targets),
        weights_(weights),
        bins_(residual_bins(predictions, targets, weights)) {
    for (std::size_t n = 0; n < targets.size(); ++n) residuals_.push_back(targets[n] - predictions[n]);
  }

  [[nodiscard]] std::string html() const {
    return "<div class=\"panels\">\n" + against_targets() + along_predictions() + residuals() + "</div>\n";
  }

 private:
  static constexpr double kTail = 0.005;

  [[nodiscard]] double quantile(std::span<const double> values, double part) const {
    return quantile_of(values, weights_, part);
  }

  [[nodiscard]] std::string against_targets() const {
    constexpr Index kCells = 24;
    double low = std::min(quantile(predictions_, kTail), quantile(targets_, kTail));
    double high = std::max(quantile(predictions_, 1 - kTail), quantile(targets_, 1 - kTail));
    if (!(high > low)) high = low + 1;
    charts::HeatMap map{.texts = {id_ + "-observed", "Observed against predicted", ""},
                        .across = {.title = "predicted", .axis = charts::Axis::exact(low, high)},
                        .up = {.title = "observed", .axis = charts::Axis::exact(low, high)},
                        .values = Matrix(kCells, kCells),
                        .has_diagonal = true};
    const auto cell = [&](double value) {
      return static_cast<Index>(std::floor((value - low) / (high - low) * static_cast<double>(kCells)));
    };
    double all = 0;
    double outside = 0;
    double squares = 0;
    for (std::size_t n = 0; n < targets_.size(); ++n) {
      const double weight = weights_.empty() ? 1 : weights_[n];
      all += weight;
      squares += weight * residuals_[n] * residuals_[n];
      const Index i = std::min(cell(targets_[n]), targets_[n] == high ? kCells - 1 : kCells);
      const Index j = std::min(cell(predictions_[n]), predictions_[n] == high ? kCells - 1 : kCells);
      if (i < 0 || j < 0 || i >= kCells || j >= kCells)
        outside += weight;
      else
        map.values(i, j) += weight;
    }
    const double most = std::ranges::max(map.values.values);
    // Square roots show both dense and thin places.
    for (double& count : map.values.values) count = count == 0 ? NAN : std::sqrt(count / most);
    charts::TextTable table{.head = {"mean predicted", "mean observed", "rows"}};
    for (const ResidualBin& bin : bins_)
      table.rows.push_back({charts::number_text(bin.predicted), charts::number_text(bin.observed),
                            charts::with_thousands(bin.rows)});
    map.texts.description = fmt::format(
        "Numbers of rows by predicted and observed {}. Rows on the diagonal are predicted exactly; the root "
        "of "
        "the mean squared residual is {}.",
        name_, charts::number_text(std::sqrt(squares / all)));
    return charts::figure_html(
        {.heading = "Observed against predicted",
         .note = fmt::format("darker: more rows; {} of the rows are outside of the picture",
                             charts::percent_text(outside / all)),
         .drawing = charts::heat_map(map),
         .numbers = table});
  }

  [[nodiscard]] std::string along_predictions() const {
    charts::LineChart chart{.texts = {id_ + "-residuals", "Residuals along the predictions", ""},
                            .across_title = "predicted " + name_,
                            .curves = {}};
    charts::Curve curve{.style = "blue", .points = {}, .has_markers = true};
    charts::TextTable table{.head = {"predicted", "10 % are below", "median residual", "10 % are above"}};
    double low = 0;
    double high = 0;
    for (const ResidualBin& bin : bins_) {
      curve.points.push_back({bin.predicted, bin.median});
      curve.band.push_back({bin.low, bin.high});
      low = std::min(low, bin.low);
      high = std::max(high, bin.high);
      table.rows.push_back({charts::number_text(bin.predicted), charts::number_text(bin.low),
                            charts::number_text(bin.median), charts::number_text(bin.high)});
    }
    const double first = bins_.front().predicted;
    const double last = std::max(bins_.back().predicted, first);
    chart.across = charts::Axis::exact(first, last);
    chart.up = charts::Axis::linear(low, high, false);
    chart.reference = {{first, 0}, {last, 0}};
    chart.curves.push_back(std::move(curve));
    chart.height = 286;
    chart.texts.description = fmt::format(
        "Median of observed minus predicted in {} groups of rows by their prediction, with the range of the "
        "middle 80 %. A model without bias has medians near zero everywhere.",
        bins_.size());
    return charts::figure_html({.heading = "Residuals along the predictions",
                                .note = "observed \u2212 predicted: median, and the middle 80 %",
                                .drawing = charts::line_chart(chart),
                                .numbers = table});
  }

  [[nodiscard]] std::string residuals() const {
    constexpr std::size_t kResidualBins = 40;
    charts::Histogram chart{.texts = {id_ + "-histogram", "Distribution of the residuals", ""},
                            .across_title = "observed \u2212 predicted",
                            .bins = binned(residuals_, weights_, kResidualBins, kTail)};
    chart.across = charts::Axis::exact(chart.bins.front().from, chart.bins.back().to);
    charts::TextTable table{.head = {"part of the rows below", "residual"}};
    for (const double part : {0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99})
      table.rows.push_back({charts::percent_text(part), charts::number_text(quantile(residuals_, part))});
    chart.texts.description = fmt::format("Half of the residuals are between {} and {}; their median is {}.",
                                          charts::number_text(quantile(residuals_, 0.25)),
                                          charts::number_text(quantile(residuals_, 0.75)),
                                          charts::number_text(quantile(residuals_, 0.5)));
    return charts::figure_html({.heading = "Distribution of the residuals",
                                .note = "number of rows, without the outermost 1 %",
                                .drawing = charts::histogram(chart),
                                .numbers = table});
  }

  std::string id_, name_;
  std::span<const double> predictions_, targets_, weights_;
  std::vector<ResidualBin> bins_;
  std::vector<double> residuals_;
};

std::string number_quality(const Content& content) {
  const Model& model = content.model;
  const Sample& sample = *content.sample;
  const std::vector<double> predictions = model.predictions_from_scores(sample.scores);
  const Evaluation evaluation = evaluate_scores(model, sample.scores, sample.targets, sample.weights);
  const Index outputs = model.n_outputs();
  std::string body;
  if (outputs > 1) {
    charts::TextTable table{.head = {"target", "RMSE", "MAE", "R\u00b2"}};
    for (const TargetMetrics& one : evaluation.targets)
      table.rows.push_back({short_text(one.name), charts::number_text(one.metrics.rmse),
                            charts::number_text(one.metrics.mae), or_dash(one.metrics.r2)});
    body += charts::scroll_html("errors by target", charts::table_html(table));
  }
  const std::size_t shown = std::min<std::size_t>(kMostTargets, model.outputs.size());
  for (std::size_t k = 0; k < shown; ++k) {
    std::vector<double> own;
    for (Index n = 0; n < sample.size(); ++n)
      own.push_back(predictions[static_cast<std::size_t>(n * outputs) + k]);
    const auto rows = static_cast<std::size_t>(sample.size());
    const std::string name = short_text(shown_name(model, static_cast<Index>(k)));
    if (outputs > 1) body += fmt::format("<h3>{}</h3>\n", charts::escape_html(name));
    body += NumberFigures(fmt::format("quality-{}", k), name, own,
                          std::span(sample.targets).subspan(k * rows, rows), sample.weights)
                .html();
  }
  if (shown < model.outputs.size())
    body +=
        fmt::format("<p class=\"soft\">{} more targets are not drawn.</p>\n", model.outputs.size() - shown);
  return body;
}

// ---- classes

std::string confusion_figure(const Model& model, const Matrix& counts) {
  const Index classes = counts.rows;
  if (classes > kMostClassesInMap) return {};
  charts::HeatMap map{.texts = {"confusion", "Confusion matrix", ""},
                      .across = {.title = "predicted class", .names = {}},
                      .up = {.title = "true class", .names = {}},
                      .values = Matrix(classes, classes),
                      .shows_values = true};
  charts::TextTable table{.head = {"true \\ predicted"}};
  double right = 0;
  double all = 0;
  for (Index i = 0; i < classes; ++i) {
    const std::string label = model.labels[static_cast<std::size_t>(i)];
    map.across.names.push_back(label);
    map.up.names.push_back(label);
    table.head.push_back(short_text(label));
    double total = 0;
    for (Index j = 0; j < classes; ++j) total += counts(i, j);
    std::vector<std::string> row = {short_text(label)};
    for (Index j = 0; j < classes; ++j) {
      map.values(i, j) = total > 0 ? counts(i, j) / total : 0;
      row.push_back(charts::number_text(counts(i, j)));
    }
    table.rows.push_back(std::move(row));
    right += counts(i, i);
    all += total;
  }
  map.texts.description = fmt::format(
      "For each true class, the parts of its rows that are predicted to be each class. {} of all rows are "
      "right.",
      charts::percent_text(all > 0 ? right / all : 0));
  return charts::figure_html({.heading = "Confusion matrix",
                              .note = "of each true class, the part predicted as each class",
                              .drawing = charts::heat_map(map),
                              .numbers = table});
}

std::string calibration_figure(const std::vector<CalibrationBin>& bins, const std::string& what) {
  charts::LineChart chart = unit_chart("calibration", "Calibration", "predicted " + what);
  chart.reference = {{0, 0}, {1, 1}};
  charts::Curve curve{.style = "blue", .points = {}, .has_markers = true};
  charts::TextTable table{.head = {"predicted", "observed", "standard error", "rows"}};
  for (const CalibrationBin& bin : bins) {
    curve.points.push_back({bin.predicted, bin.observed});
    curve.band.push_back(
        {std::max(0.0, bin.observed - bin.standard_error), std::min(1.0, bin.observed + bin.standard_error)});
    table.rows.push_back({fmt::format("{:.3f}", bin.predicted), fmt::format("{:.3f}", bin.observed),
                          fmt::format("{:.3f}", bin.standard_error), charts::with_thousands(bin.rows)});
  }
  chart.curves.push_back(std::move(curve));
  double farthest = 0;
  for (const CalibrationBin& bin : bins)
    farthest = std::max(farthest, std::abs(bin.observed - bin.predicted));
  chart.texts.description = fmt::format(
      "Observed part of the rows against the predicted {}, in {} groups of rows; the largest difference is "
      "{:.3f}.",
      what, bins.size(), farthest);
  return charts::figure_html(
      {.heading = "Calibration",
       .note =
           "observed part of the rows, with its standard error; on the dotted line probabilities are right",
       .drawing = charts::line_chart(chart),
       .numbers = table});
}

// One class against all others.
struct ClassCurves {
  std::string label;
  RankCurves curves;
  std::optional<double> auc;
};

charts::TextTable table_of_points(const std::vector<charts::Point>& points, std::string across,
                                  std::string up) {
  charts::TextTable table{.head = {std::move(across), std::move(up)}};
  constexpr std::size_t kMostRows = 15;
  const std::size_t apart = std::max<std::size_t>(1, points.size() / kMostRows);
  for (std::size_t i = 0; i < points.size(); i += apart)
    table.rows.push_back({fmt::format("{:.3f}", points[i].x), fmt::format("{:.3f}", points[i].y)});
  return table;
}

std::string rank_figures(const std::vector<ClassCurves>& classes, const std::string& note) {
  charts::LineChart roc = unit_chart("roc", "ROC curve", "false positives, part of the others");
  charts::LineChart precision =
      unit_chart("precision", "Precision and recall", "recall, part of the class that is found");
  roc.reference = {{0, 0}, {1, 1}};
  std::vector<std::string> areas;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const std::string label = classes.size() > 1 ? classes[c].label : "";
    const std::string style(kCurveStyles[c]);
    if (!classes[c].curves.roc.empty())
      roc.curves.push_back({.label = label, .style = style, .points = classes[c].curves.roc});
    if (!classes[c].curves.precision.empty())
      precision.curves.push_back({.label = label, .style = style, .points = classes[c].curves.precision});
    if (classes[c].auc)
      areas.push_back(fmt::format("{}{:.3f}", classes.size() > 1 ? short_text(classes[c].label) + " " : "",
                                  *classes[c].auc));
  }
  if (roc.curves.empty())
    return "<p class=\"soft\">All rows are of one class, so there is nothing to rank.</p>\n";
  const std::string area_text = "area under the curve " + charts::join_words(areas);
  roc.texts.description = fmt::format(
      "Part of the class that is found against the part of the others that is taken for it; {}.", area_text);
  precision.texts.description =
      "Part that is right of what is taken for the class, against the part of the class that is found.";
  const RankCurves& first = classes.front().curves;
  return charts::figure_html({.heading = "ROC curve",
                              .note = "true positives; " + area_text + note,
                              .drawing = charts::line_chart(roc),
                              .numbers = table_of_points(first.roc, "false positives", "true positives")}) +
         charts::figure_html({.heading = "Precision and recall",
                              .note = "precision, the part that is right of what is predicted" + note,
                              .drawing = charts::line_chart(precision),
                              .numbers = table_of_points(first.precision, "recall", "precision")});
}

std::string two_class_quality(const Content& content) {
  const Model& model = content.model;
  const Sample& sample = *content.sample;
  const std::vector<double> probabilities = shown_values(model, sample.scores);
  std::vector<bool> is_second;
  Matrix counts(2, 2);
  for (Index n = 0; n < sample.size(); ++n) {
    const auto at = static_cast<std::size_t>(n);
    is_second.push_back(sample.targets[at] > 0.5);
    counts(is_second.back() ? 1 : 0, sample.scores[at] > 0 ? 1 : 0) += sample.weight(n);
  }
  const Ranked ranked{probabilities, is_second, sample.weights};
  const Evaluation evaluation = evaluate_scores(model, sample.scores, sample.targets, sample.weights);
  const std::string label = short_text(model.labels[1]);
  return "<div class=\"panels two\">\n" + calibration_figure(calibration(ranked), "probability of " + label) +
         rank_figures({{label, rank_curves(ranked), evaluation.classification->auc}}, "") +
         confusion_figure(model, counts) + "</div>\n";
}

std::string classes_table(const MultiClassMetrics& metrics) {
  charts::TextTable table{.head = {"class", "rows", "precision", "recall", "AUC"}};
  for (const ClassMetrics& one : metrics.classes)
    table.rows.push_back({short_text(one.label), charts::number_text(one.rows), or_dash(one.precision, true),
                          or_dash(one.recall, true), or_dash(one.auc)});
  return charts::more_html("Each class by itself", charts::scroll_html("classes", charts::table_html(table)));
}

std::string many_class_quality(const Content& content) {
  const Model& model = content.model;
  const Sample& sample = *content.sample;
  const Index classes = model.n_outputs();
  const std::vector<double> probabilities = shown_values(model, sample.scores);
  const Evaluation evaluation = evaluate_scores(model, sample.scores, sample.targets, sample.weights);
  const MultiClassMetrics& metrics = *evaluation.classes;

  std::vector<double> highest;
  std::vector<bool> is_right;
  for (Index n = 0; n < sample.size(); ++n) {
    const auto row = std::span(probabilities)
                         .subspan(static_cast<std::size_t>(n * classes), static_cast<std::size_t>(classes));
    const auto largest = std::ranges::max_element(row);
    highest.push_back(*largest);
    is_right.push_back(static_cast<double>(largest - row.begin()) ==
                       sample.targets[static_cast<std::size_t>(n)]);
  }
  // The classes that are hardest to tell, for the others all look alike.
  std::vector<std::size_t> order(static_cast<std::size_t>(classes));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t k) { return !metrics.classes[k].auc; });
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return *metrics.classes[a].auc < *metrics.classes[b].auc; });
  const bool are_all = order.size() <= kMostCurves;
  if (!are_all) order.resize(kMostCurves - 1);
  std::vector<ClassCurves> curves;
  for (const std::size_t k : order) {
    std::vector<double> likely;
    std::vector<bool> is_of_class;
    for (Index n = 0; n < sample.size(); ++n) {
      likely.push_back(probabilities[static_cast<std::size_t>(n * classes) + k]);
      is_of_class.push_back(sample.targets[static_cast<std::size_t>(n)] == static_cast<double>(k));
    }
    curves.push_back(
        {model.labels[k], rank_curves({likely, is_of_class, sample.weights}), metrics.classes[k].auc});
  }
  return "<div class=\"panels two\">\n" + confusion_figure(model, metrics.confusion) +
         calibration_figure(calibration({highest, is_right, sample.weights}),
                            "probability of the predicted class") +
         (curves.empty() ? ""
                         : rank_figures(curves, are_all ? "" : "; the classes that are hardest to tell")) +
         "</div>\n" + classes_table(metrics);
}

}  // namespace

std::string quality_section(const Content& content) {
  if (!content.has_targets()) return {};
  const Model& model = content.model;
  const std::string body = model.task == Task::kRegression ? number_quality(content)
                           : model.has_one_output()        ? two_class_quality(content)
                                                           : many_class_quality(content);
  return section_html("quality", "How good the predictions are", body);
}

}  // namespace mfga::report
