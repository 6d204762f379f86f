// Axes, labels and texts of pages; charts as text.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "charts/axis.hpp"
#include "charts/page.hpp"
#include "charts/plots.hpp"
#include "charts/text.hpp"

namespace mfga::charts {
namespace {

TEST(Charts, AxesHaveRoundTicks) {
  EXPECT_EQ(Axis::linear(0, 400, true).ticks(), (std::vector<double>{0, 100, 200, 300, 400}));
  const Axis axis = Axis::logarithmic(0.068, 4.6);
  std::string ticks;
  for (const double tick : axis.ticks()) ticks += tick_text(tick) + ' ';
  EXPECT_EQ(ticks, "0.1 0.2 0.5 1 2 5 ");
}

TEST(Charts, LabelsAreMovedApartAndNoFurther) {
  EXPECT_EQ(spread({50, 10, 90}, 10, 0, 100), (std::vector<double>{50, 10, 90}));
  EXPECT_EQ(spread({52, 50}, 10, 0, 100), (std::vector<double>{56, 46}));
  EXPECT_EQ(spread({99, 98}, 10, 0, 100), (std::vector<double>{100, 90}));
  EXPECT_EQ(spread({1, 2, 3}, 100, 0, 100), (std::vector<double>{0, 50, 100}));
}

TEST(PageText, NumbersAreRoundedAndAligned) {
  EXPECT_EQ(short_number(0.0123), "0.012");
  EXPECT_EQ(short_number(9.996), "10.0");
  EXPECT_EQ(short_number(139.52), "140");
  EXPECT_EQ(with_thousands(46371), "46,371");
  EXPECT_EQ(with_thousands(-100), "-100");
  EXPECT_EQ(pad_decimals("5.7", 2), "5.7\u2007");
  EXPECT_EQ(pad_decimals("24", 1), "24\u2008\u2007");
}

TEST(PageText, NumbersForReaders) {
  EXPECT_EQ(number_text(0.0123456), "0.01235");
  EXPECT_EQ(number_text(1998.4), "1998") << "it may be a year";
  EXPECT_EQ(number_text(-12345.6), "\u221212,346");
  EXPECT_EQ(tick_text(-0.5), "\u22120.5");
  EXPECT_EQ(number_text(1e-17), "0");
  EXPECT_EQ(number_text(3e9), "3e+09");
  EXPECT_EQ(signed_text(2.5), "+2.5");
  EXPECT_EQ(percent_text(0.1234), "12.3 %");
  EXPECT_EQ(percent_text(1), "100 %");
  EXPECT_EQ(percent_text(-0.0001), "0.0 %");
  EXPECT_EQ(duration(83), "1 min 23 s");
}

TEST(PageText, NumbersThatStandTogetherHaveTheSameDecimals) {
  EXPECT_EQ(decimals_of(48.93), 2);
  EXPECT_EQ(decimals_of(-0.71), 4);
  EXPECT_EQ(decimals_of(123456), 0);
  EXPECT_EQ(decimals_of(0), 0);
  EXPECT_EQ(fixed_text(1998.4, 2), "1998.40");
  EXPECT_EQ(fixed_text(12345.6, 0), "12,346");
  EXPECT_EQ(fixed_text(-0.0001, 3), "0.000");
  EXPECT_EQ(fixed_text(1e300, 3), "1e+300");
  EXPECT_EQ(signed_fixed_text(3, 2), "+3.00");
  EXPECT_EQ(signed_fixed_text(-3, 2), "\u22123.00");
}

TEST(PageText, LongNamesAreCutBetweenLetters) {
  EXPECT_EQ(shortened("short", 8), "short");
  EXPECT_EQ(shortened("workclass", 6), "workc\u2026");
  EXPECT_EQ(shortened("\u00e9\u00e9\u00e9\u00e9", 3), "\u00e9\u00e9\u2026");
}

TEST(Charts, AnExactAxisEndsWhereTheValuesEnd) {
  Axis axis = Axis::exact(0.13, 0.97);
  axis.place(0, 100);
  EXPECT_DOUBLE_EQ(axis.position(0.13), 0);
  EXPECT_DOUBLE_EQ(axis.position(0.97), 100);
  for (const double tick : axis.ticks()) {
    EXPECT_GE(tick, 0.13);
    EXPECT_LE(tick, 0.97);
  }
  EXPECT_FALSE(axis.ticks().empty());
}

// Where the text that holds a word stands, across.
double place_of(const std::string& svg, std::string_view word) {
  const std::size_t end = svg.find(fmt::format(">{}</text>", word));
  if (end == std::string::npos) return NAN;
  return std::atof(svg.c_str() + svg.rfind(" x=\"", end) + 4);
}

TEST(Charts, ACurveThatEndsEarlyHasItsLabelThere) {
  LineChart chart{.texts = {"id", "a title", "words"}, .across_title = "x", .curves = {}};
  chart.curves = {{.label = "long", .points = {{0, 0.2}, {1, 0.3}}},
                  {.label = "short", .points = {{0, 0.8}, {0.3, 0.6}}},
                  {.label = "nearly", .points = {{0, 0.9}, {0.95, 0.9}}}};
  const std::string svg = line_chart(chart);
  EXPECT_LT(place_of(svg, "short"), 200);
  EXPECT_GT(place_of(svg, "long"), 280);
  EXPECT_EQ(place_of(svg, "nearly"), place_of(svg, "long")) << "there is no room at its end";
}

TEST(Charts, LabelsOfTicksDoNotTouch) {
  DotChart chart{.texts = {"id", "a title", "words"}, .across_title = "x", .dots = {}};
  chart.across = Axis::linear(0, 0.5, false);
  for (const auto& [name, labels] : {std::pair{"a", 6}, {"a name of twenty let", 3}}) {
    chart.dots = {{name, 0.1, "100 %"}, {name, 0.4, "100 %"}};
    const std::string svg = dot_chart(chart);
    int found = 0;
    for (std::size_t at = svg.find("\">0"); at != std::string::npos; at = svg.find("\">0", at + 1)) ++found;
    EXPECT_EQ(found, labels) << name;
  }
}

TEST(Charts, EmptyCellsOfAHeatMapAreNotDrawn) {
  HeatMap map{.texts = {"id", "a title", "words"},
              .across = {.title = "x", .names = {"a", "b"}},
              .up = {.title = "y", .names = {"<c>", "d"}},
              .values = Matrix(2, 2)};
  map.values(0, 0) = 0.5;
  map.values(1, 1) = NAN;
  const std::string svg = heat_map(map);
  std::size_t cells = 0;
  for (std::size_t at = svg.find("<rect"); at != std::string::npos; at = svg.find("<rect", at + 1)) ++cells;
  EXPECT_EQ(cells, 3U);
  EXPECT_NE(svg.find("&lt;c&gt;"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Charts, TablesAndDetailsAreEscaped) {
  const std::string html = figure_html({.heading = "<b>",
                                        .note = "a & b",
                                        .drawing = "<svg></svg>",
                                        .numbers = {.head = {"<i>"}, .rows = {{"\"x\"", "<td>"}}}});
  for (const std::string_view text : {"&lt;b&gt;", "a &amp; b", "&lt;i&gt;", "&quot;x&quot;", "&lt;td&gt;"})
    EXPECT_NE(html.find(text), std::string::npos) << text;
  EXPECT_EQ(html.find("<i>"), std::string::npos);
}

}  // namespace
}  // namespace mfga::charts
