#include "charts/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "charts/text.hpp"

namespace mfga::charts {
namespace {

constexpr double kLabelGap = 8;
constexpr double kLabelHeight = 15;
constexpr std::size_t kLongestLabel = 14;
// Of the height of a chart, for the density of the rows.
constexpr double kDensityPart = 0.16;

double width_of_label(const Curve& curve) {
  return kLetterWidth * static_cast<double>(std::min(letters_of(curve.label), kLongestLabel));
}

double room_for_labels(const std::vector<Curve>& curves) {
  double width = 0;
  for (const Curve& curve : curves) width = std::max(width, width_of_label(curve));
  return width == 0 ? 14 : kLabelGap + 6 + width;  // labels are bold
}

// The labels of how many ticks stand side by side without touching: 1: all; 2: those of every other one.
std::size_t labels_apart(const Axis& axis) {
  const std::vector<double>& ticks = axis.ticks();
  if (ticks.size() < 2) return 1;
  std::size_t letters = 1;
  for (const double tick : ticks) letters = std::max(letters, letters_of(tick_text(tick)));
  const double room = axis.position(ticks[1]) - axis.position(ticks[0]);
  return static_cast<std::size_t>(
      std::ceil((kLabelGap + kLetterWidth * static_cast<double>(letters)) / room));
}

class LinePlot {
 public:
  explicit LinePlot(const LineChart& chart)
      : chart_(chart),
        frame_(chart.across, chart.up, chart.across_title,
               {.height = chart.height, .right = room_for_labels(chart.curves)}) {}

  std::string draw() {
    draw_density();
    out_ += frame_.axes();
    if (!chart_.reference.empty())
      add("<path class=\"line reference\" d=\"{}\"/>\n", frame_.path(chart_.reference));
    for (const Curve& curve : chart_.curves) draw_band(curve);
    // Backwards, so that what is listed first lies on top.
    for (auto curve = chart_.curves.rbegin(); curve != chart_.curves.rend(); ++curve) draw_curve(*curve);
    draw_mark();
    draw_labels();
    return std::move(out_);
  }

 private:
  template <typename... Values>
  void add(fmt::format_string<Values...> pattern, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), pattern, std::forward<Values>(values)...);
  }

  void draw_density() {
    double highest = 0;
    for (const Bin& bin : chart_.density) highest = std::max(highest, bin.height);
    if (!(highest > 0)) return;
    std::string bars;
    for (const Bin& bin : chart_.density) {
      const double height = kDensityPart * (frame_.bottom() - frame_.top()) * bin.height / highest;
      if (height < 0.05) continue;
      const double from = frame_.x(bin.from);
      fmt::format_to(std::back_inserter(bars), "M{:.1f} {:.1f}v{:.1f}h{:.1f}v{:.1f}z", from, frame_.bottom(),
                     -height, std::max(1.0, frame_.x(bin.to) - from - 0.6), height);
    }
    add("<path class=\"density\" d=\"{}\"/>\n", bars);
  }

  void draw_band(const Curve& curve) {
    if (curve.band.empty()) return;
    std::vector<Point> outline;
    for (std::size_t i = 0; i < curve.band.size(); ++i)
      outline.push_back({curve.points[i].x, curve.band[i].y});
    for (std::size_t i = curve.band.size(); i-- > 0;) outline.push_back({curve.points[i].x, curve.band[i].x});
    add("<path class=\"band {}\" d=\"{}z\"/>\n", curve.style, frame_.path(outline));
  }

  void draw_curve(const Curve& curve) {
    add("<g class=\"curve {}{}\"><path class=\"line\" d=\"{}\"/>", curve.style,
        curve.is_dashed ? " dashed" : "", frame_.path(curve.points));
    for (const Point& point : curve.points) {
      if (!curve.has_markers) break;
      add(R"(<circle class="marker" cx="{:.1f}" cy="{:.1f}" r="3.2"/>)", frame_.x(point.x),
          frame_.y(point.y));
    }
    add("</g>\n");
  }

  void draw_mark() {
    if (!chart_.mark) return;
    const double x = frame_.x(chart_.mark->x);
    add("<path class=\"line reference\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", x, frame_.bottom(), frame_.top());
    add(R"(<circle class="chosen" cx="{:.1f}" cy="{:.1f}" r="5.5"/>)", x, frame_.y(chart_.mark->y));
    const bool is_left = x > (frame_.left() + frame_.right()) / 2;
    add("<text class=\"label\" text-anchor=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        is_left ? "end" : "start", x + (is_left ? -7 : 7), frame_.top() + 10, escape_html(chart_.mark_label));
  }

  void draw_labels() {
    std::vector<const Curve*> labelled;
    std::vector<double> wanted;
    for (const Curve& curve : chart_.curves) {
      if (curve.label.empty() || curve.points.empty()) continue;
      // A curve that ends early has its label there, if there is room.
      const double end = frame_.x(curve.points.back().x) + kLabelGap;
      if (end + width_of_label(curve) < frame_.right()) {
        draw_label(curve, end, frame_.y(curve.points.back().y));
        continue;
      }
      labelled.push_back(&curve);
      wanted.push_back(frame_.y(curve.points.back().y));
    }
    const std::vector<double> placed = spread(wanted, kLabelHeight, frame_.top() + 4, frame_.bottom() - 4);
    for (std::size_t i = 0; i < labelled.size(); ++i)
      draw_label(*labelled[i], frame_.right() + kLabelGap, placed[i]);
  }

  void draw_label(const Curve& curve, double x, double y) {
    add("<text class=\"label {}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", curve.style, x, y + 4,
        escape_html(shortened(curve.label, kLongestLabel)));
  }

  const LineChart& chart_;
  Frame frame_;
  std::string out_;
};

// The cells of a heat map and what stands at its sides.
class Map {
 public:
  explicit Map(const HeatMap& map) : map_(map) {
    left_ = room_at_left();
    if (map.across.axis) {
      across_ = *map.across.axis;
      across_->place(left_, kWidth - kRight);
    }
    if (map.up.axis) {
      up_ = *map.up.axis;
      up_->place(bottom(), kTop);
    }
  }

  [[nodiscard]] static double width() { return kWidth; }
  [[nodiscard]] double height() const { return bottom() + below(); }

  std::string draw() {
    for (Index i = 0; i < map_.values.rows; ++i) {
      for (Index j = 0; j < map_.values.cols; ++j) draw_cell(i, j);
    }
    if (map_.has_diagonal)
      add("<path class=\"line reference\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", left_, bottom(),
          kWidth - kRight, kTop);
    draw_sides();
    return std::move(out_);
  }

 private:
  static constexpr double kWidth = 380;
  static constexpr double kTop = 24;
  static constexpr double kRight = 14;
  static constexpr double kPlain = 240;  // height of the cells
  static constexpr double kLeastCell = 12;
  static constexpr std::size_t kLongestName = 14;
  // Names across stand on their side where they would not fit.
  static constexpr double kPerLetter = 7.2;

  template <typename... Values>
  void add(fmt::format_string<Values...> pattern, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), pattern, std::forward<Values>(values)...);
  }

  [[nodiscard]] static std::size_t longest(const std::vector<std::string>& names) {
    std::size_t letters = 1;
    for (const std::string& name : names)
      letters = std::max(letters, std::min(letters_of(name), kLongestName));
    return letters;
  }
  [[nodiscard]] double room_at_left() const {
    std::size_t letters = longest(map_.up.names);
    if (map_.up.axis) {
      for (const double tick : map_.up.axis->ticks())
        letters = std::max(letters, letters_of(tick_text(tick)));
    }
    return 12 + kLetterWidth * static_cast<double>(letters);
  }
  [[nodiscard]] double bottom() const {
    return kTop + std::max(kPlain, map_.up.axis ? 0 : kLeastCell * static_cast<double>(map_.values.rows));
  }
  [[nodiscard]] double cell_width() const {
    return (kWidth - kRight - left_) / static_cast<double>(map_.values.cols);
  }
  [[nodiscard]] double cell_height() const {
    return (bottom() - kTop) / static_cast<double>(map_.values.rows);
  }
  [[nodiscard]] bool are_names_upright() const {
    return kPerLetter * static_cast<double>(longest(map_.across.names)) <= cell_width();
  }
  [[nodiscard]] double below() const {
    if (map_.across.axis || are_names_upright()) return 46;
    return 32 + kPerLetter * static_cast<double>(longest(map_.across.names));
  }

  [[nodiscard]] double top_of(Index row) const {
    const Index from_top = map_.up.axis || map_.up.is_upward ? map_.values.rows - 1 - row : row;
    return kTop + cell_height() * static_cast<double>(from_top);
  }

  void draw_cell(Index i, Index j) {
    const double value = map_.values(i, j);
    if (std::isnan(value)) return;
    const double part = map_.reach > 0 ? std::clamp((value - map_.middle) / map_.reach, -1.0, 1.0) : 0;
    const double x = left_ + cell_width() * static_cast<double>(j);
    const double y = top_of(i);
    // What is nearly the middle has a tint, so that it is not taken for an empty cell.
    const double least = map_.shows_values ? 0.04 : 0.1;
    const double opacity = least + (1 - least) * std::abs(part);
    const bool is_zero = map_.shows_values && value == 0;
    if (!is_zero) {
      add("<rect class=\"cell {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
          "fill-opacity=\"{:.2f}\"/>",
          part < 0 ? "orange" : "blue", x, y, cell_width() - 0.4, cell_height() - 0.4, opacity);
    }
    constexpr double kLeastForText = 24;
    if (map_.shows_values && cell_width() >= kLeastForText && cell_height() >= kLabelHeight) {
      add("<text class=\"{}\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
          opacity > 0.55 ? "on-dark" : "on-light", x + cell_width() / 2, y + cell_height() / 2 + 4,
          value >= 0.995 || value < 0.0005 ? fmt::format("{:.0f} %", 100 * value)
                                           : fmt::format("{:.1f} %", 100 * value));
    }
    add("\n");
  }

  void tick(std::string_view anchor, double x, double y, std::string_view text, std::string_view more = "") {
    add("<text class=\"tick\" text-anchor=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", anchor, x, y, more,
        escape_html(text));
  }

  void draw_sides() {
    if (up_) {
      for (const double at : up_->ticks()) tick("end", left_ - 6, up_->position(at) + 4, tick_text(at));
    }
    for (std::size_t i = 0; i < map_.up.names.size(); ++i) {
      tick("end", left_ - 6, top_of(static_cast<Index>(i)) + cell_height() / 2 + 4,
           shortened(map_.up.names[i], kLongestName));
    }
    tick("start", 2, kTop - 10, map_.up.title);
    if (across_) {
      for (const double at : across_->ticks())
        tick("middle", across_->position(at), bottom() + 16, tick_text(at));
    }
    for (std::size_t j = 0; j < map_.across.names.size(); ++j) {
      const double x = left_ + cell_width() * (static_cast<double>(j) + 0.5);
      const std::string name = shortened(map_.across.names[j], kLongestName);
      if (are_names_upright()) {
        tick("middle", x, bottom() + 16, name);
      } else {
        tick("end", x + 4, bottom() + 8, name,
             fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", x + 4, bottom() + 8));
      }
    }
    tick("middle", (left_ + kWidth - kRight) / 2, height() - 8, map_.across.title);
  }

  const HeatMap& map_;
  double left_ = 0;
  std::optional<Axis> across_, up_;
  std::string out_;
};

}  // namespace

std::string line_chart(const LineChart& chart) {
  return svg_element(chart.texts, FrameShape().width, chart.height, LinePlot(chart).draw());
}

std::string histogram(const Histogram& chart) {
  double highest = 0;
  for (const Bin& bin : chart.bins) highest = std::max(highest, bin.height);
  const Frame frame(chart.across, Axis::linear(0, highest, true), chart.across_title, {});
  std::string bars;
  for (const Bin& bin : chart.bins) {
    const double from = frame.x(bin.from);
    fmt::format_to(std::back_inserter(bars), "M{:.1f} {:.1f}V{:.1f}H{:.1f}V{:.1f}z", from, frame.bottom(),
                   frame.y(bin.height), std::max(from + 1, frame.x(bin.to) - 0.6), frame.bottom());
  }
  return svg_element(chart.texts, FrameShape().width, FrameShape().height,
                     frame.axes() + fmt::format("<path class=\"bars blue\" d=\"{}\"/>\n", bars));
}

std::string dot_chart(const DotChart& chart) {
  constexpr double kWidth = 380;
  constexpr double kTop = 6;
  constexpr double kRow = 19;
  constexpr std::size_t kLongestName = 20;
  std::size_t letters = 1;
  std::size_t note_letters = 0;
  for (const Dot& dot : chart.dots) {
    letters = std::max(letters, std::min(letters_of(dot.name), kLongestName));
    note_letters = std::max(note_letters, letters_of(dot.note));
  }
  const double left = 10 + kLetterWidth * static_cast<double>(letters);
  const double right = kWidth - 10 - kLetterWidth * static_cast<double>(note_letters);
  const double bottom = kTop + kRow * static_cast<double>(chart.dots.size());
  Axis axis = chart.across;
  axis.place(left + 8, right - 8);
  std::string out;
  const auto add = std::back_inserter(out);
  const std::size_t apart = labels_apart(axis);
  for (std::size_t i = 0; i < axis.ticks().size(); ++i) {
    const double tick = axis.ticks()[i];
    fmt::format_to(add, "<path class=\"grid\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/>", axis.position(tick), kTop,
                   bottom);
    if (i % apart != 0) continue;
    fmt::format_to(add, "<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                   axis.position(tick), bottom + 18, tick_text(tick));
  }
  fmt::format_to(add, "<path class=\"axis\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", left, bottom, right);
  if (chart.reference)
    fmt::format_to(add, "<path class=\"line reference\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n",
                   axis.position(*chart.reference), kTop, bottom);
  for (std::size_t i = 0; i < chart.dots.size(); ++i) {
    const Dot& dot = chart.dots[i];
    const double y = kTop + kRow * (static_cast<double>(i) + 0.5);
    fmt::format_to(add, "<text text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", left - 6, y + 4,
                   escape_html(shortened(dot.name, kLongestName)));
    if (chart.reference)
      fmt::format_to(add, "<path class=\"stem blue\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>",
                     axis.position(*chart.reference), y, axis.position(dot.value));
    fmt::format_to(add, "<circle class=\"marker blue\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\"/>",
                   axis.position(dot.value), y);
    fmt::format_to(add, "<text class=\"tick\" text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                   kWidth - 2, y + 4, escape_html(dot.note));
  }
  fmt::format_to(add, "<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                 (left + right) / 2, bottom + 38, escape_html(chart.across_title));
  return svg_element(chart.texts, kWidth, bottom + 46, out);
}

std::string heat_map(const HeatMap& map) {
  Map drawing(map);
  const double height = drawing.height();
  return svg_element(map.texts, Map::width(), height, drawing.draw());
}

}  // namespace mfga::charts
