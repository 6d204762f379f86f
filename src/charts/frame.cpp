#include "charts/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "charts/text.hpp"

namespace mfga::charts {
namespace {

bool begins_letter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }

}  // namespace

Frame::Frame(Axis across, Axis up, std::string across_title, const FrameShape& shape)
    : across_(std::move(across)), up_(std::move(up)), across_title_(std::move(across_title)), shape_(shape) {
  std::size_t letters = 1;
  for (const double tick : up_.ticks()) letters = std::max(letters, letters_of(tick_text(tick)));
  left_ = 10 + kLetterWidth * static_cast<double>(letters);
  up_.place(bottom(), top());
  across_.place(left_ + shape_.inset, right() - shape_.inset);
}

std::string Frame::axes() const {
  std::string out;
  const auto add = std::back_inserter(out);
  for (const double tick : up_.ticks()) {
    const double at = y(tick);
    fmt::format_to(add, "<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", left_, at, right());
    fmt::format_to(add, "<text class=\"tick\" text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                   left_ - 6, at + 4, tick_text(tick));
  }
  fmt::format_to(add, "<path class=\"axis\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", left_, bottom(), right());
  for (const double tick : across_.ticks()) {
    const double at = x(tick);
    fmt::format_to(add, "<path class=\"axis\" d=\"M{:.1f} {:.1f}v4\"/>", at, bottom());
    fmt::format_to(add, "<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                   at, bottom() + 18, tick_text(tick));
  }
  fmt::format_to(add, "<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                 (left_ + right()) / 2, bottom() + 38, escape_html(across_title_));
  return out;
}

std::string Frame::path(std::span<const Point> points) const {
  std::string out;
  for (const Point& point : points)
    fmt::format_to(std::back_inserter(out), "{}{:.1f} {:.1f}", out.empty() ? "M" : "L", x(point.x),
                   y(point.y));
  return out;
}

std::string svg_element(const ChartTexts& texts, double width, double height, std::string_view content) {
  return fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" role=\"img\" aria-labelledby=\"{2}-title {2}-desc\">\n"
      "<title id=\"{2}-title\">{3}</title>\n<desc id=\"{2}-desc\">{4}</desc>\n{5}</svg>\n",
      width, height, escape_html(texts.id), escape_html(texts.title), escape_html(texts.description),
      content);
}

std::size_t letters_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_letter));
}

std::string shortened(std::string_view label, std::size_t most_letters) {
  if (letters_of(label) <= most_letters) return std::string(label);
  std::size_t letters = 0;
  std::size_t length = 0;
  // Up to the first byte of the letter that is one too many.
  while (length < label.size()) {
    if (begins_letter(label[length]) && ++letters == most_letters) break;
    ++length;
  }
  return std::string(label.substr(0, length)) + "\u2026";
}

}  // namespace mfga::charts
