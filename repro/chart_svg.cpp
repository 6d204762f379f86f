#include "repro/chart_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "repro/chart_axis.hpp"
#include "repro/page_text.hpp"

namespace mfga::repro {
namespace {

// In units of the view box; the page scales the panel to its column.
constexpr double kWidth = 470;
constexpr double kHeight = 330;
constexpr double kTop = 12;
constexpr double kBottom = kHeight - 46;
constexpr double kLabelHeight = 17;
// Wide enough for the larger letters of small screens.
constexpr double kLetterWidth = 8.2;
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

Axis make_error_axis(const std::vector<Series>& all) {
  double lowest = INFINITY;
  double highest = -INFINITY;
  for (const Series& series : all) {
    for (const CurvePoint& point : series.points) {
      // The ends of error bars count only upwards: downwards they may leave the logarithm's domain.
      lowest = std::min(lowest, point.error);
      highest = std::max(highest, point.error + point.standard_error.value_or(0));
    }
  }
  if (lowest > 0 && highest / lowest > kLogRatio) return Axis::logarithmic(lowest, highest);
  constexpr double kNearZero = 0.35;
  return Axis::linear(lowest, highest, lowest >= 0 && lowest < kNearZero * highest);
}

Axis make_terms_axis(const std::vector<Series>& all) {
  double lowest = INFINITY;
  double highest = 0;
  for (const Series& series : all) {
    for (const CurvePoint& point : series.points) {
      if (point.terms <= 0) continue;
      lowest = std::min(lowest, static_cast<double>(point.terms));
      highest = std::max(highest, static_cast<double>(point.terms));
    }
  }
  if (highest == 0) return Axis::linear(0, 1, true);
  constexpr double kGeometricRatio = 25;
  if (highest / lowest > kGeometricRatio) return Axis::logarithmic(lowest, highest);
  return Axis::linear(0, highest, true);
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
  if (label.size() <= kLongest) return label;
  std::size_t length = kLongest - 1;
  // Not in the middle of a UTF-8 character.
  while (length > 0 && (static_cast<unsigned char>(label[length]) & 0xc0U) == 0x80U) --length;
  return label.substr(0, length) + "\u2026";
}

class Panel {
 public:
  explicit Panel(const DatasetResult& dataset)
      : all_(collect_series(dataset)), errors_(make_error_axis(all_)), terms_(make_terms_axis(all_)) {
    std::size_t tick_letters = 1;
    for (const double tick : errors_.ticks()) tick_letters = std::max(tick_letters, tick_text(tick).size());
    std::size_t label_letters = 1;
    for (const Series& series : all_)
      label_letters = std::max(label_letters, label_text(series.label).size());
    left_ = 10 + kLetterWidth * static_cast<double>(tick_letters);
    right_ = kWidth - kLabelGap - 2 - kLabelLetterWidth * static_cast<double>(label_letters);
    errors_.place(kBottom, kTop);
    terms_.place(left_ + 6, right_ - 6);
  }

  std::string draw() {
    if (all_.empty()) return {};
    draw_axes();
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
      ends.push_back(series.horizontal ? fmt::format("{} {}", series.label, short_number(last.error))
                                       : fmt::format("{} {} with {} terms", series.label,
                                                     short_number(last.error), last.terms));
    }
    return fmt::format("Test error on {} scale against the number of terms. At the right end: {}.",
                       errors_.is_logarithmic() ? "a logarithmic" : "a linear", join_words(ends));
  }

 private:
  template <typename... Values>
  void add(fmt::format_string<Values...> pattern, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), pattern, std::forward<Values>(values)...);
  }

  void draw_axes() {
    for (const double tick : errors_.ticks()) {
      const double y = errors_.position(tick);
      add("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", left_, y, right_);
      add("<text class=\"tick\" text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left_ - 6, y + 4,
          tick_text(tick));
    }
    add("<path class=\"axis\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", left_, kBottom, right_);
    for (const double tick : terms_.ticks()) {
      const double x = terms_.position(tick);
      add("<path class=\"axis\" d=\"M{:.1f} {:.1f}v4\"/>", x, kBottom);
      add("<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x,
          kBottom + 18, tick_text(tick));
    }
    add("<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">number of terms M</text>\n",
        (left_ + right_) / 2, kBottom + 38);
  }

  void draw_line(const Series& series) {
    add("<g class=\"series level {}\"><path class=\"line\" d=\"M{:.1f} {:.1f}H{:.1f}\"/></g>\n", series.style,
        left_, errors_.position(series.points.back().error), right_);
  }

  void draw_curve(const Series& series) {
    std::string path;
    std::string bars;
    std::string markers;
    for (const CurvePoint& point : series.points) {
      const double x = terms_.position(static_cast<double>(point.terms));
      const double y = errors_.position(point.error);
      fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, y);
      markers += marker(series.style, x, y);
      if (!point.standard_error) continue;
      const double high = errors_.position(point.error + *point.standard_error);
      const double low = errors_.position(point.error - *point.standard_error);
      fmt::format_to(std::back_inserter(bars),
                     R"(<path class="bar" d="M{:.1f} {:.1f}V{:.1f}M{:.1f} {:.1f}h8M{:.1f} {:.1f}h8"/>)", x,
                     high, low, x - 4, high, x - 4, low);
    }
    add("<g class=\"series curve {}\"><path class=\"line\" d=\"{}\"/>{}{}</g>\n", series.style, path, bars,
        markers);
  }

  void draw_labels() {
    std::vector<double> wanted;
    for (const Series& series : all_) wanted.push_back(errors_.position(series.points.back().error));
    const std::vector<double> placed = spread(wanted, kLabelHeight, kTop, kBottom);
    const double x = right_ + kLabelGap;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const Series& series = all_[i];
      double end = right_;
      if (!series.horizontal) end = terms_.position(static_cast<double>(series.points.back().terms)) + 6;
      // Only where the eye would not find the way by itself.
      if (std::abs(placed[i] - wanted[i]) > 2 || end < right_ - 8) {
        add("<path class=\"leader {}\" d=\"M{:.1f} {:.1f}H{:.1f}L{:.1f} {:.1f}\"/>", series.style, end,
            wanted[i], right_, x - 3, placed[i]);
      }
      add("<text class=\"label {}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", series.style, x, placed[i] + 4,
          escape_html(label_text(series.label)));
    }
  }

  std::vector<Series> all_;
  Axis errors_;
  Axis terms_;
  double left_ = 0, right_ = kWidth;
  std::string out_;
};

}  // namespace

std::string chart_svg(const DatasetResult& dataset, std::string_view id) {
  Panel panel(dataset);
  const std::string description = panel.description();
  return fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" role=\"img\" aria-labelledby=\"{2}-title {2}-desc\">\n"
      "<title id=\"{2}-title\">{3}: test error against the number of terms</title>\n"
      "<desc id=\"{2}-desc\">{4}</desc>\n{5}</svg>\n",
      kWidth, kHeight, escape_html(id), escape_html(dataset.title), escape_html(description), panel.draw());
}

}  // namespace mfga::repro
