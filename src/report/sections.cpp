#include "report/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "charts/frame.hpp"
#include "charts/text.hpp"
#include "losses/loss.hpp"

namespace mfga::report {

std::string section_html(std::string_view id, std::string_view title, std::string_view body) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-heading\">\n<h2 "
      "id=\"{0}-heading\">{1}</h2>\n{2}</section>\n",
      id, charts::escape_html(title), body);
}

std::string short_text(std::string_view text) {
  constexpr std::size_t kMostLetters = 60;
  return charts::shortened(text, kMostLetters);
}

std::string shown_text(std::string_view text) { return charts::escape_html(short_text(text)); }

std::string counted(std::size_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string bar_html(double part) {
  return fmt::format(
      "<span class=\"bar-track\"><span class=\"bar-fill{}\" style=\"width:{:.1f}%\"></span></span>",
      part < 0 ? " orange" : "", 100 * std::clamp(std::abs(part), 0.0, 1.0));
}

std::string floating_bar_html(double left, double right, std::string_view style) {
  return fmt::format(
      "<span class=\"bar-track\"><span class=\"bar-fill floating {}\" style=\"left:{:.1f}%;width:{:.1f}%\">"
      "</span></span>",
      style, 100 * std::clamp(left, 0.0, 1.0), 100 * std::clamp(right - left, 0.0, 1.0));
}

double ShownLosses::value(double loss) const { return are_roots ? std::sqrt(std::max(0.0, loss)) : loss; }

double ShownLosses::standard_error(double loss, double error) const {
  if (!are_roots) return error;
  const double root = value(loss);
  return root > 0 ? error / (2 * root) : 0;
}

std::string ShownLosses::text(double loss) const { return charts::number_text(value(loss)); }

std::string ValueText::operator()(double value) const {
  if (is_probability_) {
    constexpr double kSmallest = 0.0001;
    if (value > 0 && value < kSmallest) return "<0.0001";
    if (value < 1 && value > 1 - kSmallest) return ">0.9999";
    return fmt::format("{:.4f}", value);
  }
  // Three digits of the range.
  if (range_ > 0) return charts::fixed_text(value, charts::decimals_of(10 * range_));
  return charts::number_text(value);
}

ShownLosses shown_losses(const Model& model) {
  const std::string name = !model.loss.empty() ? std::string(find_loss(model.loss)->measure())
                           : model.task == Task::kClassification ? "log_loss"
                                                                 : "mse";
  if (name == "log_loss") return {"log-loss"};
  if (name != "mse") return {name};
  return model.has_one_output() ? ShownLosses{"RMSE", true} : ShownLosses{"mean squared error"};
}

}  // namespace mfga::report
