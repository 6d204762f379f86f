#include "report/sections.hpp"

#include <fmt/format.h>

#include <algorithm>

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

std::string loss_name(const Model& model) {
  if (model.loss.empty()) return model.task == Task::kRegression ? "mean squared error" : "log-loss";
  const std::string name(find_loss(model.loss)->measure());
  return name == "log_loss" ? "log-loss" : name == "mse" ? "mean squared error" : name;
}

}  // namespace mfga::report
