// The kinds of charts that pages have, each as an <svg> element.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "charts/frame.hpp"
#include "mfga/views.hpp"

namespace mfga::charts {

// A curve; its style is a class of the page's style sheet, such as blue or orange.
struct Curve {
  std::string label = {};  // at its right end; empty: none
  std::string style = "blue";
  std::vector<Point> points = {};
  std::vector<Point> band = {};  // the lowest and the highest value at each point, as x and y; or nothing
  bool has_markers = false;
  bool is_dashed = false;
};

// A part of the values across, and how high the bar over it is.
struct Bin {
  double from = 0, to = 0, height = 0;
};

struct LineChart {
  ChartTexts texts;
  std::string across_title;
  Axis across = Axis::linear(0, 1, false);
  Axis up = Axis::linear(0, 1, false);
  std::vector<Curve> curves;
  std::vector<Bin> density = {};   // how many rows there are, along the foot
  std::optional<Point> mark = {};  // a point to look at, on a line that is upright
  std::string mark_label = {};
  std::vector<Point> reference = {};  // a dotted line
  double height = 250;
};
[[nodiscard]] std::string line_chart(const LineChart& chart);

struct Histogram {
  ChartTexts texts;
  std::string across_title;
  Axis across = Axis::linear(0, 1, false);
  std::vector<Bin> bins;
};
[[nodiscard]] std::string histogram(const Histogram& chart);

// A dot for each of a few names, with a note at the right, such as how many rows there are.
struct Dot {
  std::string name;
  double value = 0;
  std::string note = {};
};
struct DotChart {
  ChartTexts texts;
  std::string across_title;
  Axis across = Axis::linear(0, 1, false);
  std::vector<Dot> dots;
  std::optional<double> reference = {};  // a dotted line
};
[[nodiscard]] std::string dot_chart(const DotChart& chart);

// A side of a heat map: numbers on an axis, or names.
struct Side {
  std::string title;
  std::optional<Axis> axis = {};
  std::vector<std::string> names = {};
  bool is_upward = false;  // names: the first one at the foot
};

// Cells [up x across], the first row at the foot where `up` is an axis and at the top where it has names.
// NaN: an empty cell. A cell is the more orange the more it is below `middle`, and the more blue the more it
// is above.
struct HeatMap {
  ChartTexts texts;
  Side across, up;
  Matrix values;
  double middle = 0;
  double reach = 1;           // the distance from the middle that has the full colour
  bool shows_values = false;  // in the cells, as percentages
  bool has_diagonal = false;  // a dotted line from corner to corner
};
[[nodiscard]] std::string heat_map(const HeatMap& map);

}  // namespace mfga::charts
