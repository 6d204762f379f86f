// What charts are made of: a frame of two axes with their marks, lines, and the <svg> element around it all.
// Lengths are in units of the view box; colours come from the page's style sheet.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "charts/axis.hpp"

namespace mfga::charts {

struct Point {
  double x = 0, y = 0;
};

// Wide enough for the larger letters of small screens.
inline constexpr double kLetterWidth = 8.2;

struct FrameShape {
  double width = 380;
  double height = 250;
  double above = 12;  // room at the edges
  double below = 46;
  double right = 14;
  double inset = 6;  // of the values across
};

class Frame {
 public:
  Frame(Axis across, Axis up, std::string across_title, const FrameShape& shape);

  [[nodiscard]] double x(double value) const { return across_.position(value); }
  [[nodiscard]] double y(double value) const { return up_.position(value); }
  [[nodiscard]] double left() const { return left_; }
  [[nodiscard]] double right() const { return shape_.width - shape_.right; }
  [[nodiscard]] double top() const { return shape_.above; }
  [[nodiscard]] double bottom() const { return shape_.height - shape_.below; }
  // Both axes, with lines behind what is drawn.
  [[nodiscard]] std::string axes() const;
  // `M1 2L3 4...` through these values.
  [[nodiscard]] std::string path(std::span<const Point> points) const;

 private:
  Axis across_, up_;
  std::string across_title_;
  FrameShape shape_;
  double left_ = 0;
};

// What a reader sees and hears of a chart. The id must be unique in the page.
struct ChartTexts {
  std::string id;
  std::string title;
  std::string description;
};
[[nodiscard]] std::string svg_element(const ChartTexts& texts, double width, double height,
                                      std::string_view content);

// At most so many letters, with an ellipsis where some are left out.
[[nodiscard]] std::string shortened(std::string_view label, std::size_t most_letters);
// Letters, not bytes.
[[nodiscard]] std::size_t letters_of(std::string_view text);

}  // namespace mfga::charts
