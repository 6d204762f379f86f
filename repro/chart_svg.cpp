#include "repro/chart_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "charts/frame.hpp"
#include "charts/text.hpp"

namespace mfga::repro {
namespace {

// In units of the view box; the page scales the panel to its column.
constexpr double kWidth = 470;
constexpr double kHeight = 330;
constexpr double kLabelHeight = 17;
constexpr double kLabelLetterWidth = 9.2;  // bold
constexpr double kLabelGap = 12;
// Beyond this ratio of errors a linear scale would hide the better methods.
constexpr double kLogRatio = 8;

struct Series {
  std::string label;
  std::string style;  // class in the page's style sheet
  std::vector<CurvePoint> points;
  bool horizontal = false;
};

std::string style_of(const Curve& curve) {
  if (curve.part == kOurPart) return "ours";
  if (curve.part == kReferencePart) return "constant";
  for (const std::string_view known : {"MFGA", "RKS", "LKRF", "EERF", "GK", "GLK"}) {
    if (curve.method != known) continue;
    std::string lower(known);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char letter) { return static_cast<char>(letter - 'A' + 'a'); });
    return lower;
  }
  return "other";
}

std::vector<Series> collect_series(const DatasetResult& dataset) {
  std::vector<Curve> curves = dataset.figure;
  const bool has_reference = std::any_of(curves.begin(), curves.end(),
                                         [](const Curve& curve) { return curve.part == kReferencePart; });
  for (const MethodRow& row : dataset.rows) {
    if (has_reference || row.part != kReferencePart) continue;
    const auto& estimate = row.oracle ? row.oracle : row.honest;
    if (estimate)
      curves.push_back(
          {.method = row.method, .points = {{.terms = 0, .error = estimate->error}}, .part = row.part});
  }
  std::vector<Series> all;
  for (Curve& curve : curves) {
    std::erase_if(curve.points, [](const CurvePoint& point) { return !std::isfinite(point.error); });
    if (curve.points.empty()) continue;
    Series series{.label = curve.method, .style = style_of(curve), .points = std::move(curve.points)};
    if (curve.part == kOurPart && series.label == "MFGA") series.label = "MFGA, ours";
    std::sort(series.points.begin(), series.points.end(),
              [](const CurvePoint& left, const CurvePoint& right) { return left.terms < right.terms; });
    series.horizontal = series.points.back().terms == 0;
    all.push_back(std::move(series));
  }
  return all;
}

charts::Axis make_error_axis(const std::vector<Series>& all) {
  double lowest = INFINITY;
  double highest = -INFINITY;
  for (const Series& series : all) {
    for (const CurvePoint& point : series.points) {
      // The ends of error bars count only upwards: downwards they may leave the logarithm's domain.
      lowest = std::min(lowest, point.error);
      highest = std::max(highest, point.error + point.standard_error.value_or(0));
    }
  }
  if (lowest > 0 && highest / lowest > kLogRatio) return charts::Axis::logarithmic(lowest, highest);
  constexpr double kNearZero = 0.35;
  return charts::Axis::linear(lowest, highest, lowest >= 0 && lowest < kNearZero * highest);
}

charts::Axis make_terms_axis(const std::vector<Series>& all) {
  double lowest = INFINITY;
  double highest = 0;
  for (const Series& series : all) {
    for (const CurvePoint& point : series.points) {
      if (point.terms <= 0) continue;
      lowest = std::min(lowest, static_cast<double>(point.terms));
      highest = std::max(highest, static_cast<double>(point.terms));
    }
  }
  if (highest == 0) return charts::Axis::linear(0, 1, true);
  constexpr double kGeometricRatio = 25;
  if (highest / lowest > kGeometricRatio) return charts::Axis::logarithmic(lowest, highest);
  return charts::Axis::linear(0, highest, true);
}

std::string marker(const std::string& style, double x, double y) {
  if (style == "lkrf") {
    return fmt::format(R"(<rect class="marker" x="{:.1f}" y="{:.1f}" width="7" height="7"/>)", x - 3.5,
                       y - 3.5);
  }
  if (style == "eerf") {
    return fmt::format(R"(<path class="marker" d="M{:.1f} {:.1f}l4.4 7.6h-8.8z"/>)", x, y - 4.8);
  }
  if (style == "ours") {
    return fmt::format(R"(<path class="marker" d="M{:.1f} {:.1f}l5 5l-5 5l-5-5z"/>)", x, y - 5);
  }
  return fmt::format(R"(<circle class="marker" cx="{:.1f}" cy="{:.1f}" r="{}"/>)", x, y,
                     style == "mfga" ? "4.2" : "3.6");
}

std::string label_text(const std::string& label) {
  constexpr std::size_t kLongest = 16;
  return charts::shortened(label, kLongest);
}

charts::FrameShape shape_for(const std::vector<Series>& all) {
  std::size_t letters = 1;
  for (const Series& series : all) letters = std::max(letters, label_text(series.label).size());
  charts::FrameShape shape{.width = kWidth, .height = kHeight};
  shape.right = kLabelGap + 2 + kLabelLetterWidth * static_cast<double>(letters);
  return shape;
}

class Panel {
 public:
  explicit Panel(const DatasetResult& dataset)
      : all_(collect_series(dataset)),
        is_logarithmic_(make_error_axis(all_).is_logarithmic()),
        frame_(make_terms_axis(all_), make_error_axis(all_), "number of terms M", shape_for(all_)) {}

  std::string draw() {
    if (all_.empty()) return {};
    out_ += frame_.axes();
    for (const Series& series : all_) {
      if (series.horizontal) draw_line(series);
    }
    // Backwards, so that what is listed first lies on top.
    for (auto series = all_.rbegin(); series != all_.rend(); ++series) {
      if (!series->horizontal) draw_curve(*series);
    }
    draw_labels();
    return std::move(out_);
  }

  // What a reader who does not see the chart needs: where the curves end.
  [[nodiscard]] std::string description() const {
    std::vector<std::string> ends;
    for (const Series& series : all_) {
      const CurvePoint& last = series.points.back();
      ends.push_back(series.horizontal ? fmt::format("{} {}", series.label, charts::short_number(last.error))
                                       : fmt::format("{} {} with {} terms", series.label,
                                                     charts::short_number(last.error), last.terms));
    }
    return fmt::format("Test error on {} scale against the number of terms. At the right end: {}.",
                       is_logarithmic_ ? "a logarithmic" : "a linear", charts::join_words(ends));
  }

 private:
  template <typename... Values>
  void add(fmt::format_string<Values...> pattern, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), pattern, std::forward<Values>(values)...);
  }

  void draw_line(const Series& series) {
    add("<g class=\"series level {}\"><path class=\"line\" d=\"M{:.1f} {:.1f}H{:.1f}\"/></g>\n", series.style,
        frame_.left(), frame_.y(series.points.back().error), frame_.right());
  }

  void draw_curve(const Series& series) {
    std::string path;
    std::string bars;
    std::string markers;
    for (const CurvePoint& point : series.points) {
      const double x = frame_.x(static_cast<double>(point.terms));
      const double y = frame_.y(point.error);
      fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, y);
      markers += marker(series.style, x, y);
      if (!point.standard_error) continue;
      const double high = frame_.y(point.error + *point.standard_error);
      const double low = frame_.y(point.error - *point.standard_error);
      fmt::format_to(std::back_inserter(bars),
                     R"(<path class="bar" d="M{:.1f} {:.1f}V{:.1f}M{:.1f} {:.1f}h8M{:.1f} {:.1f}h8"/>)", x,
                     high, low, x - 4, high, x - 4, low);
    }
    add("<g class=\"series curve {}\"><path class=\"line\" d=\"{}\"/>{}{}</g>\n", series.style, path, bars,
        markers);
  }

  void draw_labels() {
    std::vector<double> wanted;
    for (const Series& series : all_) wanted.push_back(frame_.y(series.points.back().error));
    const std::vector<double> placed = charts::spread(wanted, kLabelHeight, frame_.top(), frame_.bottom());
    const double x = frame_.right() + kLabelGap;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const Series& series = all_[i];
      double end = frame_.right();
      if (!series.horizontal) end = frame_.x(static_cast<double>(series.points.back().terms)) + 6;
      // Only where the eye would not find the way by itself.
      if (std::abs(placed[i] - wanted[i]) > 2 || end < frame_.right() - 8) {
        add("<path class=\"leader {}\" d=\"M{:.1f} {:.1f}H{:.1f}L{:.1f} {:.1f}\"/>", series.style, end,
            wanted[i], frame_.right(), x - 3, placed[i]);
      }
      add("<text class=\"label {}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", series.style, x, placed[i] + 4,
          charts::escape_html(label_text(series.label)));
    }
  }

  std::vector<Series> all_;
  bool is_logarithmic_;
  charts::Frame frame_;
  std::string out_;
};

}  // namespace

std::string chart_svg(const DatasetResult& dataset, std::string_view id) {
  Panel panel(dataset);
  const std::string description = panel.description();
  return charts::svg_element(
      {std::string(id), dataset.title + ": test error against the number of terms", description}, kWidth,
      kHeight, panel.draw());
}

}  // namespace mfga::repro
